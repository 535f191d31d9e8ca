// SPDX-License-Identifier: MIT
// Cuts a GLB into its JSON and BIN chunks (glTF 2.0 specification, section 4.4); any other file is JSON text.
#include "gltf_internal.h"

enum {
    HEADER_SIZE = 12,
    CHUNK_HEADER_SIZE = 8
};
static const uint32_t chunk_json = 0x4E4F534A;
static const uint32_t chunk_bin = 0x004E4942;

static uint32_t read_u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

// The part of the file that header.length announces.
static pelt_result check_header(const pelt_gltf *gltf, uint64_t *out_length, pelt_error *error)
{
    const uint8_t *file = gltf->file.data;
    uint64_t size = gltf->file.size;
    if (size < HEADER_SIZE) {
        return pelti_fail(error, PELT_ERROR_INVALID, "byte 0", "the GLB header is 12 bytes long, the file has %llu",
                          (unsigned long long)size);
    }
    uint32_t version = read_u32(file + 4);
    uint32_t length = read_u32(file + 8);
    if (version != 2) {
        return pelti_fail(error, PELT_ERROR_UNSUPPORTED, "byte 4", "the GLB header has version %u, only 2 can be read",
                          version);
    }
    if (length > size) {
        return pelti_fail(error, PELT_ERROR_INVALID, "byte 8",
                          "the GLB header's length is %u, but the file has %llu bytes", length,
                          (unsigned long long)size);
    }
    if (length < HEADER_SIZE + CHUNK_HEADER_SIZE) {
        return pelti_fail(error, PELT_ERROR_INVALID, "byte 8",
                          "the GLB header's length is %u, too short for a JSON chunk", length);
    }
    if (length < size) {
        pelti_warn(&gltf->options.log, pelti_gltf_path("byte %u", length).text,
                   "%llu bytes after the end of the GLB (length %u) are ignored", (unsigned long long)(size - length),
                   length);
    }
    *out_length = length;
    return PELT_OK;
}

// Where the next chunk starts. Lengths should be multiples of 4; of writers that break the rule some pad the data
// without counting, some do not pad: take the place where a BIN chunk or the end is found, the counted end otherwise.
static uint64_t next_chunk(const uint8_t *file, uint64_t length, uint64_t end)
{
    uint64_t padded = end + (4 - end % 4) % 4;
    bool here = end == length || (length - end >= CHUNK_HEADER_SIZE && read_u32(file + end + 4) == chunk_bin);
    if (here || padded == end) {
        return end;
    }
    bool there = padded >= length || (length - padded >= CHUNK_HEADER_SIZE && read_u32(file + padded + 4) == chunk_bin);
    return !there ? end : padded < length ? padded : length;
}

static pelt_result walk_chunks(pelt_gltf *gltf, uint64_t length, gltf_bytes *out_json, pelt_error *error)
{
    const uint8_t *file = gltf->file.data;
    uint64_t offset = HEADER_SIZE;
    for (uint64_t index = 0; offset < length; index++) {
        gltf_path where = pelti_gltf_path("byte %llu", (unsigned long long)offset);
        if (length - offset < CHUNK_HEADER_SIZE) {
            return pelti_fail(error, PELT_ERROR_INVALID, where.text,
                              "GLB chunk %llu: its header needs 8 bytes, but %llu are left", (unsigned long long)index,
                              (unsigned long long)(length - offset));
        }
        uint32_t chunk_size = read_u32(file + offset);
        uint32_t type = read_u32(file + offset + 4);
        offset += CHUNK_HEADER_SIZE;
        if (chunk_size > length - offset) {
            return pelti_fail(error, PELT_ERROR_INVALID, where.text,
                              "GLB chunk %llu: its length is %u, but %llu bytes are left", (unsigned long long)index,
                              chunk_size, (unsigned long long)(length - offset));
        }
        if (chunk_size % 4 != 0) {
            pelti_warn(&gltf->options.log, where.text, "GLB chunk %llu: its length %u is not a multiple of 4",
                       (unsigned long long)index, chunk_size);
        }
        gltf_bytes chunk = {.data = file + offset, .size = chunk_size, .owner = GLTF_BYTES_BORROWED};
        if (index == 0 && type != chunk_json) {
            return pelti_fail(error, PELT_ERROR_INVALID, where.text,
                              "the first GLB chunk has type 0x%08X, but must be JSON", type);
        }
        if (index == 0) {
            *out_json = chunk;
        } else if (type == chunk_bin && !gltf->bin.data) {
            gltf->bin = chunk;
        }
        offset = next_chunk(file, length, offset + chunk_size);
    }
    return PELT_OK;
}

pelt_result pelti_gltf_container(pelt_gltf *gltf, gltf_bytes *out_json, pelt_error *error)
{
    const gltf_bytes *file = &gltf->file;
    if (file->size == 0) {
        return pelti_fail(error, PELT_ERROR_INVALID, "byte 0", "the file is empty, neither JSON nor GLB");
    }
    if (memcmp(file->data, "glTF", file->size < 4 ? (size_t)file->size : 4) != 0) {
        *out_json = (gltf_bytes){.data = file->data, .size = file->size, .owner = GLTF_BYTES_BORROWED};
        return PELT_OK;
    }
    uint64_t length = 0;
    pelt_result result = check_header(gltf, &length, error);
    if (!result) {
        result = walk_chunks(gltf, length, out_json, error);
    }
    if (result) {
        return result;
    }
    uint64_t text_size = out_json->size;
    while (text_size > 0 && out_json->data[text_size - 1] == 0) {
        text_size--;
    }
    if (text_size < out_json->size) {
        pelti_warn(&gltf->options.log, "byte 12", "the JSON chunk is padded with zeros instead of spaces");
        out_json->size = text_size;
    }
    return PELT_OK;
}
