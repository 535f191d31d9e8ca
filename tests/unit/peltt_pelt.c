// SPDX-License-Identifier: MIT
// Header: 48 table offset, 56 section count, 60 entry size, 40 file size. Entry: 0 kind, 4 flags, 8 owner, 12 sub,
// 16 offset, 24 size, 32 count, 40 element size, 48 hash.
#include "peltt_pelt.h"

#include "peltt_system.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    HEADER_SIZE = 128,
    ENTRY_SIZE = 64,
    ALIGNMENT = 64
};

static uint32_t get_u32(const unsigned char *bytes)
{
    uint32_t value = 0;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static uint64_t get_u64(const unsigned char *bytes)
{
    uint64_t value = 0;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static void put_u32(unsigned char *bytes, uint32_t value)
{
    memcpy(bytes, &value, sizeof value);
}

static void put_u64(unsigned char *bytes, uint64_t value)
{
    memcpy(bytes, &value, sizeof value);
}

static peltt_pelt make(uint64_t size)
{
    peltt_pelt file = {NULL, size};
    void *memory = peltt_aligned_allocate((size_t)size);
    assert_non_null(memory);
    memset(memory, 0, (size_t)size);
    file.data = memory;
    return file;
}

peltt_pelt peltt_pelt_copy(const void *data, uint64_t size)
{
    peltt_pelt file = make(size);
    memcpy(file.data, data, (size_t)size);
    return file;
}

peltt_pelt peltt_pelt_cook(const pelt_asset *asset, const pelt_cook_options *options)
{
    void *data = NULL;
    uint64_t size = 0;
    pelt_error error;
    if (pelt_cook(asset, options, &data, &size, NULL, &error) != PELT_OK) {
        fail_msg("pelt_cook: %s", error.message);
    }
    assert_int_equal((uintptr_t)data % ALIGNMENT, 0);
    assert_int_equal(size % ALIGNMENT, 0);
    peltt_pelt file = peltt_pelt_copy(data, size);
    pelt_cook_release(options, data, size);
    return file;
}

peltt_pelt peltt_pelt_model(const peltt_model_shape *shape, uint64_t seed, const peltt_model_change *change,
                            const pelt_cook_options *options)
{
    pelt_asset *asset = peltt_model_make(shape, seed, change);
    peltt_pelt file = peltt_pelt_cook(asset, options);
    pelt_asset_destroy(asset);
    return file;
}

void peltt_pelt_free(peltt_pelt *file)
{
    peltt_aligned_free(file->data);
    file->data = NULL;
}

uint32_t peltt_pelt_count(const peltt_pelt *file)
{
    return get_u32(file->data + 56);
}

static unsigned char *entry_at(const peltt_pelt *file, uint32_t index)
{
    return file->data + get_u64(file->data + 48) + (uint64_t)index * get_u32(file->data + 60);
}

peltt_pelt_section peltt_pelt_get(const peltt_pelt *file, uint32_t index)
{
    const unsigned char *entry = entry_at(file, index);
    peltt_pelt_section section = {.flags = get_u32(entry + 4),
                                  .owner = get_u32(entry + 8),
                                  .sub = get_u32(entry + 12),
                                  .offset = get_u64(entry + 16),
                                  .size = get_u64(entry + 24),
                                  .count = get_u64(entry + 32),
                                  .element_size = get_u32(entry + 40),
                                  .hash = get_u64(entry + 48)};
    memcpy(section.kind, entry, 4);
    return section;
}

void peltt_pelt_set(peltt_pelt *file, uint32_t index, const peltt_pelt_section *section)
{
    unsigned char *entry = entry_at(file, index);
    memcpy(entry, section->kind, 4);
    put_u32(entry + 4, section->flags);
    put_u32(entry + 8, section->owner);
    put_u32(entry + 12, section->sub);
    put_u64(entry + 16, section->offset);
    put_u64(entry + 24, section->size);
    put_u64(entry + 32, section->count);
    put_u32(entry + 40, section->element_size);
    put_u64(entry + 48, section->hash);
}

static uint32_t search(const peltt_pelt *file, const char *kind, uint32_t owner, uint32_t sub)
{
    uint32_t count = peltt_pelt_count(file);
    uint32_t index = 0;
    for (; index < count; index++) {
        peltt_pelt_section section = peltt_pelt_get(file, index);
        if (strcmp(section.kind, kind) == 0 && section.owner == owner && section.sub == sub) {
            break;
        }
    }
    return index;
}

bool peltt_pelt_has(const peltt_pelt *file, const char *kind, uint32_t owner, uint32_t sub)
{
    return search(file, kind, owner, sub) < peltt_pelt_count(file);
}

uint32_t peltt_pelt_find(const peltt_pelt *file, const char *kind, uint32_t owner, uint32_t sub)
{
    uint32_t index = search(file, kind, owner, sub);
    if (index == peltt_pelt_count(file)) {
        fail_msg("the file has no section %s %u %u", kind, owner, sub);
    }
    return index;
}

unsigned char *peltt_pelt_at(const peltt_pelt *file, const char *kind, uint32_t owner, uint32_t sub, uint64_t element,
                             uint64_t byte)
{
    peltt_pelt_section section = peltt_pelt_get(file, peltt_pelt_find(file, kind, owner, sub));
    assert_true(element * section.element_size + byte < section.size);
    return file->data + section.offset + element * section.element_size + byte;
}

static uint64_t aligned(uint64_t offset)
{
    return (offset + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

peltt_pelt peltt_pelt_rebuild(const peltt_pelt *file, uint32_t changed, uint32_t element_size, const char *extra,
                              uint32_t extra_flags)
{
    uint32_t old_count = peltt_pelt_count(file);
    uint32_t count = old_count - (element_size == 0 ? 1 : 0) + (extra ? 1 : 0);
    uint64_t widened = changed < old_count ? peltt_pelt_get(file, changed).count : 0;
    peltt_pelt out = make(2 * file->size + 4096 + widened * 64);
    memcpy(out.data, file->data, HEADER_SIZE);
    put_u32(out.data + 56, count);
    uint64_t offset = HEADER_SIZE + (uint64_t)count * ENTRY_SIZE;
    uint32_t next = 0;
    for (uint32_t i = 0; i < old_count; i++) {
        peltt_pelt_section from = peltt_pelt_get(file, i);
        peltt_pelt_section to = from;
        if (i == changed && element_size == 0) {
            continue;
        }
        to.element_size = i == changed ? element_size : from.element_size;
        to.size = to.count * to.element_size;
        to.offset = aligned(offset);
        for (uint64_t e = 0; e < to.count; e++) {
            unsigned char *element = out.data + to.offset + e * to.element_size;
            memset(element, 0xEE, to.element_size);
            memcpy(element, file->data + from.offset + e * from.element_size, from.element_size);
        }
        offset = to.offset + to.size;
        peltt_pelt_set(&out, next++, &to);
    }
    if (extra) {
        peltt_pelt_section added = {
            .flags = extra_flags, .offset = aligned(offset), .size = 100, .count = 100, .element_size = 1};
        memcpy(added.kind, extra, 4);
        memset(out.data + added.offset, 0xEE, 100);
        offset = added.offset + added.size;
        peltt_pelt_set(&out, next++, &added);
    }
    out.size = aligned(offset);
    put_u64(out.data + 40, out.size);
    return out;
}
