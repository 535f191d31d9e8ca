// SPDX-License-Identifier: MIT
// NPZ, the archive of arrays that NumPy reads: a zip of .npy files, version 1.0, stored without compression, dated 1980
// so that the same input gives the same bytes. Source: numpy.lib.format, "NPY format".
#include "writers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

// ---- a cli_output as libzip's archive file, so that one set of rules governs all outputs

typedef struct zip_target {
    cli_output *output;
    zip_error_t error;
} zip_target;

static zip_int64_t set_error(zip_target *target, int code)
{
    zip_error_set(&target->error, code, errno);
    return -1;
}

// Seeking writes what the stream still holds, so a full disk may show here first; the output then tells of it.
static zip_int64_t seek_failed(zip_target *target)
{
    if (!target->output->failed) {
        target->output->failed = true;
        target->output->error = errno;
    }
    return set_error(target, ZIP_ER_SEEK);
}

static zip_int64_t describe(void *data, zip_uint64_t size)
{
    if (size < sizeof(zip_stat_t)) {
        return -1;
    }
    zip_stat_t *stat = data;
    zip_stat_init(stat);
    stat->valid = ZIP_STAT_SIZE;
    stat->size = 0;
    return (zip_int64_t)sizeof *stat;
}

static zip_int64_t seek_write(zip_target *target, void *data, zip_uint64_t size)
{
    FILE *file = target->output->file;
    off_t position = ftello(file);
    off_t end = position;
    if (position < 0 || fseeko(file, 0, SEEK_END) != 0 || (end = ftello(file)) < 0) {
        return seek_failed(target);
    }
    zip_int64_t offset =
        zip_source_seek_compute_offset((zip_uint64_t)position, (zip_uint64_t)end, data, size, &target->error);
    if (offset < 0) {
        return -1;
    }
    return fseeko(file, (off_t)offset, SEEK_SET) == 0 ? 0 : seek_failed(target);
}

static zip_int64_t target_callback(void *user, void *data, zip_uint64_t size, zip_source_cmd_t command)
{
    zip_target *target = user;
    switch (command) {
    case ZIP_SOURCE_STAT:
        return describe(data, size);
    case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&target->error, data, size);
    case ZIP_SOURCE_WRITE:
        return cli_output_write(target->output, data, (size_t)size) ? (zip_int64_t)size
                                                                    : set_error(target, ZIP_ER_WRITE);
    case ZIP_SOURCE_SEEK_WRITE:
        return seek_write(target, data, size);
    case ZIP_SOURCE_TELL_WRITE:
        return (zip_int64_t)ftello(target->output->file);
    case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_WRITABLE;
    case ZIP_SOURCE_OPEN:
    case ZIP_SOURCE_READ: // an empty file: there is nothing to read
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_SEEK:
    case ZIP_SOURCE_TELL:
    case ZIP_SOURCE_BEGIN_WRITE:
    case ZIP_SOURCE_COMMIT_WRITE:
    case ZIP_SOURCE_ROLLBACK_WRITE:
    case ZIP_SOURCE_REMOVE:
    case ZIP_SOURCE_FREE:
        return 0;
    default:
        return set_error(target, ZIP_ER_OPNOTSUPP);
    }
}

// ---- members

enum {
    NPY_HEADER_SIZE = 128 // a multiple of 64 that holds every header made here
};

typedef struct npz_member {
    char name[48];
    char header[NPY_HEADER_SIZE];
    zip_buffer_fragment_t parts[2]; // the header, then the array itself, which is not copied
} npz_member;

typedef struct npz_build {
    const pose_export *e;
    topology_list *lists;
    npz_member *members;
    size_t member_count;
} npz_build;

static bool is_little_endian(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

// kind: 'f' or 'u', of four bytes. columns 0: an array of one dimension.
static void add_member(npz_build *build, const char *what, uint32_t k, char kind, uint64_t rows, uint32_t columns,
                       const void *data)
{
    npz_member *member = &build->members[build->member_count++];
    char shape[48];
    if (columns) {
        snprintf(shape, sizeof shape, "%llu, %u", (unsigned long long)rows, (unsigned)columns);
    } else {
        snprintf(shape, sizeof shape, "%llu,", (unsigned long long)rows);
    }
    snprintf(member->name, sizeof member->name, "%s_%u.npy", what, (unsigned)k);
    const char magic[10] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, NPY_HEADER_SIZE - 10, 0};
    memset(member->header, ' ', sizeof member->header);
    memcpy(member->header, magic, sizeof magic);
    int length = snprintf(member->header + 10, sizeof member->header - 10,
                          "{'descr': '%c%c4', 'fortran_order': False, 'shape': (%s), }", is_little_endian() ? '<' : '>',
                          kind, shape);
    member->header[10 + length] = ' ';
    member->header[NPY_HEADER_SIZE - 1] = '\n';
    member->parts[0] = (zip_buffer_fragment_t){(zip_uint8_t *)member->header, sizeof member->header};
    // libzip reads fragments only, though its type is not const.
    member->parts[1] = (zip_buffer_fragment_t){(zip_uint8_t *)(uintptr_t)data, rows * (columns ? columns : 1) * 4};
}

static bool collect_members(npz_build *build)
{
    const scene *s = build->e->scene;
    build->lists = calloc(s->primitive_count ? s->primitive_count : 1, sizeof *build->lists);
    build->members = calloc(s->primitive_count ? 5 * (size_t)s->primitive_count : 1, sizeof *build->members);
    if (!build->lists || !build->members) {
        return false;
    }
    for (uint32_t k = 0; k < s->primitive_count; k++) {
        const scene_primitive *p = &s->primitives[k];
        uint32_t n = p->source->vertex_count;
        if (!topology_build(p->source, p->mirrored, &build->lists[k])) {
            return false;
        }
        add_member(build, "positions", k, 'f', n, 3, p->positions);
        if (p->normals) {
            add_member(build, "normals", k, 'f', n, 3, p->normals);
        }
        if (p->tangents) {
            add_member(build, "tangents", k, 'f', n, 4, p->tangents);
        }
        add_member(build, "indices", k, 'u', build->lists[k].count, 0, build->lists[k].indices);
        add_member(build, "box", k, 'f', 2, 3, &p->box);
    }
    return true;
}

static bool add_to_archive(zip_t *archive, const npz_member *member)
{
    zip_uint64_t part_count = member->parts[1].length ? 2 : 1;
    zip_source_t *source = zip_source_buffer_fragment(archive, member->parts, part_count, 0);
    if (!source) {
        return false;
    }
    zip_int64_t index = zip_file_add(archive, member->name, source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        zip_source_free(source);
        return false;
    }
    const zip_uint16_t first_of_january_1980 = (1 << 5) | 1;
    return zip_set_file_compression(archive, (zip_uint64_t)index, ZIP_CM_STORE, 0) == 0 &&
           zip_file_set_dostime(archive, (zip_uint64_t)index, 0, first_of_january_1980, 0) == 0;
}

// A failed write is told by the output, which knows its cause. libzip 1.7 forgets some of its own failed allocations
// and then says that there was no error.
static int archive_failure(const pose_export *e, cli_output *output, zip_error_t *error)
{
    if (output->failed) {
        return cli_output_commit(output);
    }
    int code = zip_error_code_zip(error);
    if (code == ZIP_ER_MEMORY || code == ZIP_ER_OK) {
        return export_out_of_memory(e);
    }
    return cli_fail(e->context, CLI_IO, e->path, NULL, NULL, "cannot be written: %s", zip_error_strerror(error));
}

// libzip drops an archive without members; NumPy reads one, which is its end record alone.
static int write_empty(cli_output *output)
{
    const uint8_t end[22] = {'P', 'K', 5, 6};
    cli_output_write(output, end, sizeof end);
    return CLI_DONE;
}

static int write_archive(const npz_build *build, cli_output *output)
{
    const pose_export *e = build->e;
    zip_target target = {.output = output};
    zip_error_t error;
    zip_error_init(&target.error);
    zip_error_init(&error);
    int code = CLI_DONE;
    zip_t *archive = NULL;
    zip_source_t *source = zip_source_function_create(target_callback, &target, &error);
    if (source) {
        archive = zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &error);
        if (!archive) {
            zip_source_free(source);
        }
    }
    if (!archive) {
        code = archive_failure(e, output, &error);
    } else {
        bool ok = true;
        for (size_t i = 0; ok && i < build->member_count; i++) {
            ok = add_to_archive(archive, &build->members[i]);
        }
        if (!ok || zip_close(archive) != 0) {
            code = archive_failure(e, output, zip_get_error(archive));
            zip_discard(archive);
        }
    }
    zip_error_fini(&target.error);
    zip_error_fini(&error);
    return code;
}

int write_npz(const pose_export *e)
{
    npz_build build = {.e = e};
    cli_output output = {0};
    int code = cli_output_open(e->context, e->path, &output);
    if (code != CLI_DONE) {
        return code;
    }
    if (!collect_members(&build)) {
        code = export_out_of_memory(e);
    } else {
        code = build.member_count ? write_archive(&build, &output) : write_empty(&output);
    }
    if (code == CLI_DONE) {
        code = cli_output_commit(&output);
    }
    cli_output_abort(&output);
    for (uint32_t k = 0; build.lists && k < e->scene->primitive_count; k++) {
        topology_release(&build.lists[k]);
    }
    free(build.lists);
    free(build.members);
    return code;
}
