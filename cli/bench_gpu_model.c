// SPDX-License-Identifier: MIT
// What a scene on a device consists of: cooked meshes for the library, the same vertices as floats for what it is
// compared with, and a palette for each instance.
#include "bench_gpu.h"

#include "cook.h"

#include <math.h>
#include <string.h>

enum {
    FILE_VERTICES = 20000000, // of all copies, about
    FILE_VERTICES_SOFTWARE = 100000,
    FILE_INSTANCES = 2000, // at most
    FILE_MATRICES = 4000000
};

static void *take(bench_gpu_model *m, uint64_t count, size_t size)
{
    return bench_allocate(&m->memory, count, size);
}

// ---- what both kinds of scenes need

static bool reserve(bench_gpu_model *m, uint32_t mesh_count, uint32_t palette_count, uint32_t instance_count)
{
    m->meshes = take(m, mesh_count, sizeof *m->meshes);
    m->rigid = take(m, instance_count, sizeof *m->rigid);
    m->palette_skins = take(m, palette_count, sizeof *m->palette_skins);
    baseline_vk_mesh *meshes = take(m, mesh_count, sizeof *meshes);
    uint32_t *first_matrices = take(m, (uint64_t)palette_count + 1, sizeof *first_matrices);
    baseline_vk_instance *instances = take(m, instance_count, sizeof *instances);
    m->data = (baseline_vk_scene){.mesh_count = mesh_count,
                                  .meshes = meshes,
                                  .palette_count = palette_count,
                                  .first_matrices = first_matrices,
                                  .instance_count = instance_count,
                                  .instances = instances};
    return m->meshes && m->rigid && m->palette_skins && meshes && first_matrices && instances;
}

// The arrays were allocated here as what can be written.
static baseline_vk_mesh *mesh_at(const bench_gpu_model *m, uint32_t index)
{
    return (baseline_vk_mesh *)(uintptr_t)&m->data.meshes[index];
}

static void set_instance(bench_gpu_model *m, uint32_t index, uint32_t mesh, uint32_t palette, bool rigid)
{
    ((baseline_vk_instance *)(uintptr_t)m->data.instances)[index] = (baseline_vk_instance){mesh, palette};
    m->rigid[index] = rigid;
}

static void set_mesh(bench_gpu_model *m, uint32_t index, uint32_t primitive, uint32_t source, uint32_t joint_count)
{
    const bench_mesh *s = &m->sources[source];
    m->meshes[index] = (bench_gpu_mesh){primitive, source};
    *mesh_at(m, index) = (baseline_vk_mesh){.vertex_count = s->vertex_count,
                                            .joint_count = joint_count,
                                            .positions = s->positions,
                                            .normals = s->normals,
                                            .tangents = s->tangents,
                                            .joints = s->joints,
                                            .weights = s->weights};
}

// Ends of palettes: then matrices and worlds can be taken. Returns how many matrices there are.
static uint32_t lay_palettes(bench_gpu_model *m)
{
    uint32_t *first = (uint32_t *)(uintptr_t)m->data.first_matrices;
    for (uint32_t p = 0; p < m->data.palette_count; p++) {
        first[p + 1] = first[p] + m->skins[m->palette_skins[p]].joint_count;
    }
    return first[m->data.palette_count];
}

static bool fill_source(bench_gpu_model *m, const pelt_primitive *unpacked, uint32_t primitive, bool rigid)
{
    bench_mesh *s = &m->sources[m->source_count];
    if (!bench_mesh_fill(&m->memory, unpacked, rigid, NULL, s)) {
        return false;
    }
    s->packed = pelt_cooked_streams(&m->streams->primitives[primitive]);
    if (rigid) {
        s->packed.weights = NULL;
    }
    s->has_packed = true;
    m->source_count++;
    return true;
}

// What every thread of a workgroup reads before its first vertex: the frame's item, and the records of item, mesh and
// instance, where the first does not say all. As many threads as the library takes for slices of up to 256 vertices, or
// for larger ones.
static double record_bytes(const pelt_cooked_primitive *p)
{
    enum {
        RECORDS = 16 + 32 + 32 + 48,
        FULL_ITEM = 64, // of slices of up to 256 vertices, of a list that was kept
        LARGEST = 1024,
        SMALL = 256
    };
    uint64_t items = 0;
    for (uint32_t r = 0; r < p->run_count; r++) {
        items += (p->runs[r].vertex_count + LARGEST - 1) / LARGEST;
    }
    items = p->run_count > 0 ? items : (p->vertex_count + LARGEST - 1) / LARGEST;
    uint32_t read = p->vertex_count <= SMALL * items ? 32 * FULL_ITEM : 64 * RECORDS;
    return (double)items * (read + sizeof(pelt_box));
}

static void count_bytes(bench_gpu_model *m)
{
    double requested = 0;
    for (uint32_t i = 0; i < m->data.mesh_count; i++) {
        const bench_mesh *s = &m->sources[m->meshes[i].source];
        m->mesh_vertices += s->vertex_count;
        m->streams_read += (double)bench_mesh_bytes(s, BENCH_INPUT_PACKED, 2);
        if (s->slot_count != 4) {
            m->unfit = "it takes four influences at most";
        } else if (!s->normals || !s->tangents) {
            m->unfit = "it takes meshes with normals and tangents";
        }
    }
    cook_layout layout = {0};
    double records = 0;
    uint32_t primitive = PELT_NONE;
    for (uint32_t i = 0; i < m->data.instance_count; i++) {
        const bench_gpu_mesh *mesh = &m->meshes[m->data.instances[i].mesh];
        uint32_t n = m->sources[mesh->source].vertex_count;
        if (mesh->primitive != primitive) {
            primitive = mesh->primitive;
            layout = cook_layout_of(&m->streams->primitives[primitive], NULL);
            records = record_bytes(&m->streams->primitives[primitive]);
        }
        m->vertex_count += n;
        m->streams_written += n * layout.written + sizeof(pelt_box);
        requested += n * (layout.read_after + layout.list_palette + layout.written) + records;
    }
    m->requested = requested / (double)m->vertex_count;
    m->writes = m->streams_written > 2 * m->streams_read;
    // World matrices twice, in mapped memory and beside the skinning matrices.
    m->device_bytes = m->streams_read + m->streams_written +
                      (m->scene->with_previous ? 12.0 : 0) * (double)m->vertex_count +
                      3.0 * sizeof(pelt_mat34) * m->data.first_matrices[m->data.palette_count];
    // Of the largest: floats and 32-bit joints in, 48 bytes out, skinning and normal matrices of 4x4.
    m->baseline_bytes = 76.0 * (double)m->mesh_vertices + 48.0 * (double)m->vertex_count +
                        128.0 * m->data.first_matrices[m->data.palette_count];
}

// ---- meshes that are made here

static bool make_streams(bench_gpu_model *m, uint32_t vertex_count)
{
    const bench_shape shape = {.vertex_count = vertex_count,
                               .joint_count = m->scene->joint_count,
                               .influence_count = 4,
                               .mixed = true,
                               .identity_binds = true};
    const pelt_cooked_options reading = {.skip_hashes = true}; // they were made a moment ago
    pelt_error error;
    pelt_asset *source = bench_asset_create(&shape);
    bool ok = source && pelt_cook(source, NULL, &m->image, &m->image_size, NULL, &error) == PELT_OK &&
              pelt_cooked_open_memory(m->image, m->image_size, &reading, &m->cooked, &error) == PELT_OK &&
              pelt_cooked_import(m->cooked, &m->asset, &error) == PELT_OK;
    pelt_asset_destroy(source);
    m->streams = ok ? pelt_cooked_get(m->cooked) : NULL;
    m->sources = take(m, 1, sizeof *m->sources);
    return ok && m->sources && fill_source(m, &pelt_asset_get(m->asset)->meshes[0].primitives[0], 0, false);
}

// Each instance has turned and stands somewhere else.
static void pose_instance(const pelt_mat34 *base, uint32_t count, uint32_t instance, pelt_mat34 *out)
{
    float c = (float)cos(0.37 * instance);
    float s = (float)sin(0.37 * instance);
    for (uint32_t j = 0; j < count; j++) {
        out[j] = base[j];
        for (int k = 0; k < 4; k++) {
            out[j].m[0][k] = c * base[j].m[0][k] - s * base[j].m[1][k];
            out[j].m[1][k] = s * base[j].m[0][k] + c * base[j].m[1][k];
        }
        out[j].m[0][3] += (float)(instance % 89) * 0.25F;
        out[j].m[2][3] += (float)(instance % 97) * 0.25F;
    }
}

static bool pose_instances(bench_gpu_model *m, uint32_t joint_count)
{
    pelt_mat34 *base = take(m, joint_count, sizeof *base);
    pelt_mat34 *binds = take(m, joint_count, sizeof *binds);
    pelt_mat34 *matrices = take(m, lay_palettes(m), sizeof *matrices);
    if (!base || !binds || !matrices) {
        return false;
    }
    bench_matrices_fill(base, joint_count);
    for (uint32_t j = 0; j < joint_count; j++) {
        binds[j] = pelt_mat34_identity();
    }
    for (uint32_t i = 0; i < m->data.palette_count; i++) {
        pose_instance(base, joint_count, i, matrices + (size_t)i * joint_count);
    }
    m->skins[0].binds = binds;
    m->data.matrices = matrices;
    m->worlds = matrices; // times the identity
    return true;
}

static bool make(cli_context *context, bench_gpu_model *m, bool software)
{
    const bench_gpu_size *size = &m->scene->sizes[software];
    uint32_t vertex_count = context->options.vertices ? context->options.vertices : size->vertices;
    uint32_t joint_count = m->scene->joint_count;
    uint32_t mesh_count = m->scene->one_mesh ? 1 : size->instances;
    m->skins = take(m, 1, sizeof *m->skins);
    if (!m->skins || !make_streams(m, vertex_count) || !reserve(m, mesh_count, size->instances, size->instances)) {
        return false;
    }
    m->skin_count = 1;
    m->skins[0] = (bench_gpu_skin){.joint_count = joint_count};
    for (uint32_t i = 0; i < mesh_count; i++) {
        set_mesh(m, i, 0, 0, joint_count);
    }
    for (uint32_t i = 0; i < size->instances; i++) {
        set_instance(m, i, mesh_count > 1 ? i : 0, i, false);
    }
    return pose_instances(m, joint_count);
}

// ---- the file

static bool take_skins(bench_gpu_model *m, const verify_model *file)
{
    const pelt_asset_data *data = pelt_asset_get(file->asset);
    m->skins = take(m, file->palette_count, sizeof *m->skins);
    pelt_mat34 *identity = take(m, 1, sizeof *identity);
    if (!m->skins || !identity) {
        return false;
    }
    *identity = pelt_mat34_identity();
    m->skin_count = file->palette_count;
    for (uint32_t i = 0; i < file->palette_count; i++) {
        uint32_t skin = file->palettes[i].skin;
        m->skins[i] = skin == PELT_NONE
                          ? (bench_gpu_skin){1, PELT_NONE, identity}
                          : (bench_gpu_skin){data->skins[skin].joint_count, skin, data->skins[skin].inverse_binds};
    }
    return true;
}

// Every copy of the file has palettes of its own, with the same matrices.
static bool take_matrices(bench_gpu_model *m, const verify_model *file)
{
    const pelt_asset_data *data = pelt_asset_get(file->asset);
    for (uint32_t i = 0; i < m->data.palette_count; i++) {
        m->palette_skins[i] = i % file->palette_count;
    }
    uint32_t count = lay_palettes(m);
    pelt_mat34 *matrices = take(m, count, sizeof *matrices);
    m->worlds = take(m, count, sizeof *m->worlds);
    if (!matrices || !m->worlds) {
        return false;
    }
    for (uint32_t i = 0; i < m->data.palette_count; i++) {
        const pelt_palette_item *item = &file->palettes[i % file->palette_count];
        uint32_t first = m->data.first_matrices[i];
        uint32_t joint_count = m->data.first_matrices[i + 1] - first;
        memcpy(matrices + first, item->palette, joint_count * sizeof *matrices);
        for (uint32_t j = 0; j < joint_count; j++) {
            m->worlds[first + j] =
                pelt_pose_world(file->pose, item->skin == PELT_NONE ? item->node : data->skins[item->skin].joints[j]);
        }
    }
    m->data.matrices = matrices;
    return true;
}

// Meshes: the primitives in use, each once, and once more where an instance has it rigid.
static bool take_meshes(bench_gpu_model *m, const verify_model *file, uint32_t *item_meshes)
{
    uint64_t slot_count = 2 * (uint64_t)file->streams->primitive_count;
    uint32_t *meshes = take(m, slot_count, sizeof *meshes);
    m->sources = take(m, file->item_count, sizeof *m->sources);
    if (!meshes || !m->sources) {
        return false;
    }
    memset(meshes, 0xFF, (size_t)slot_count * sizeof *meshes);
    for (uint32_t i = 0; i < file->item_count; i++) {
        const verify_item *item = &file->items[i];
        uint32_t *mesh = &meshes[2 * (size_t)item->cooked + item->rigid];
        if (item->source->vertex_count > 0 && *mesh == PELT_NONE) {
            *mesh = m->source_count;
            if (!fill_source(m, item->source, item->cooked, item->rigid)) {
                return false;
            }
            set_mesh(m, *mesh, item->cooked, *mesh, m->skins[item->palette].joint_count);
        }
        item_meshes[i] = *mesh;
    }
    m->data.mesh_count = m->source_count;
    return true;
}

static bool take_file(bench_gpu_model *m, const verify_model *file, bool software)
{
    uint32_t item_count = 0;
    for (uint32_t i = 0; i < file->item_count; i++) {
        item_count += file->items[i].source->vertex_count > 0;
    }
    uint64_t copies = (software ? FILE_VERTICES_SOFTWARE : FILE_VERTICES) / (file->vertex_count + 1);
    copies = copies * item_count > FILE_INSTANCES ? FILE_INSTANCES / item_count : copies;
    if (!take_skins(m, file)) {
        return false;
    }
    uint64_t matrices = 0;
    for (uint32_t i = 0; i < m->skin_count; i++) {
        matrices += m->skins[i].joint_count;
    }
    copies = copies * matrices > FILE_MATRICES ? FILE_MATRICES / matrices : copies;
    m->file_copies = copies > 0 ? (uint32_t)copies : 1;
    m->streams = file->streams;
    uint32_t *item_meshes = take(m, file->item_count, sizeof *item_meshes);
    if (!item_meshes ||
        !reserve(m, file->item_count, m->file_copies * file->palette_count, m->file_copies * item_count) ||
        !take_meshes(m, file, item_meshes)) {
        return false;
    }
    uint32_t next = 0;
    for (uint32_t copy = 0; copy < m->file_copies; copy++) {
        for (uint32_t i = 0; i < file->item_count; i++) {
            const verify_item *item = &file->items[i];
            if (item_meshes[i] != PELT_NONE) {
                set_instance(m, next++, item_meshes[i], copy * file->palette_count + item->palette, item->rigid);
            }
        }
    }
    return take_matrices(m, file);
}

// ---- set-up

int bench_gpu_model_make(cli_context *context, const bench_gpu_scene *entry, const verify_model *file, bool software,
                         bench_gpu_model *out)
{
    *out = (bench_gpu_model){.scene = entry};
    bool is_file = entry->kind == BENCH_FILE;
    if (is_file && file->vertex_count == 0) {
        return cli_fail(context, CLI_INVALID, context->options.input, NULL, "only the default scene is posed",
                        "the scene has no vertices to skin");
    }
    if (is_file ? !take_file(out, file, software) : !make(context, out, software)) {
        return cli_fail(context, CLI_LIMIT, NULL, NULL, NULL, "out of memory for scene %s", entry->name);
    }
    count_bytes(out);
    return CLI_DONE;
}

void bench_gpu_model_release(bench_gpu_model *m)
{
    pelt_asset_destroy(m->asset);
    pelt_cooked_close(m->cooked);
    pelt_cook_release(NULL, m->image, m->image_size);
    bench_release(&m->memory);
    *m = (bench_gpu_model){0};
}

bool bench_gpu_model_palette(bench_gpu_model *m, uint32_t instance, bench_palette *out)
{
    uint32_t palette = m->data.instances[instance].palette;
    uint32_t first = m->data.first_matrices[palette];
    return bench_palette_fill(&m->memory, m->data.matrices + first, m->data.first_matrices[palette + 1] - first, out);
}
