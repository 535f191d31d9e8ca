// SPDX-License-Identifier: MIT
// Groups vertices by the joints they use. Joints are ranked along the skeleton, depth first, so that sorted groups
// bring neighbours in the body together.
#include "cook/order.h"

typedef struct sort_entry {
    uint64_t key;
    uint32_t value;
} sort_entry;

// Stable: by the keys' bytes from the lowest up, without those that are the same in all. A comparison sort would be
// slower on long inputs, a hash table would depend on what an input's author chooses.
static sort_entry *sort_entries(sort_entry *entries, sort_entry *spare, uint32_t count)
{
    uint32_t counts[8][256] = {{0}};
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t d = 0; d < 8; d++) {
            counts[d][entries[i].key >> (8 * d) & 0xFF]++;
        }
    }
    for (uint32_t d = 0; d < 8; d++) {
        if (count == 0 || counts[d][entries[0].key >> (8 * d) & 0xFF] == count) {
            continue;
        }
        uint32_t next = 0;
        for (uint32_t b = 0; b < 256; b++) {
            uint32_t size = counts[d][b];
            counts[d][b] = next;
            next += size;
        }
        for (uint32_t i = 0; i < count; i++) {
            spare[counts[d][entries[i].key >> (8 * d) & 0xFF]++] = entries[i];
        }
        sort_entry *sorted = spare;
        spare = entries;
        entries = sorted;
    }
    return entries;
}

// ranks, by joint, receives the place of each used joint in depth-first order: nodes are stored so. Without a skin,
// and past its end, the joint's index has to do.
static bool rank_joints(const cook_primitive *p, const uint32_t *kept, uint32_t count, cook_arena *arena,
                        uint16_t *ranks, uint32_t *out_rank_count)
{
    enum {
        JOINT_COUNT = 65536
    };
    uint8_t *used = pelti_cook_allocate(arena, JOINT_COUNT, 1);
    if (!used) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (int slot = 0; slot < 4; slot++) {
            used[p->vertices[kept[i]].joints[slot]] = 1;
        }
    }
    uint32_t used_count = 0;
    for (uint32_t j = 0; j < JOINT_COUNT; j++) {
        used_count += used[j];
    }
    sort_entry *entries = pelti_cook_allocate(arena, used_count, sizeof *entries);
    sort_entry *spare = pelti_cook_allocate(arena, used_count, sizeof *spare);
    if (!entries || !spare) {
        return false;
    }
    const pelt_skin *skin = p->skin;
    uint32_t next = 0;
    for (uint32_t j = 0; j < JOINT_COUNT; j++) {
        if (used[j]) {
            bool known = skin && j < skin->joint_count;
            entries[next++] = (sort_entry){known ? skin->joints[j] : (uint64_t)UINT32_MAX + 1 + j, j};
        }
    }
    entries = sort_entries(entries, spare, used_count);
    for (uint32_t i = 0; i < used_count; i++) {
        ranks[entries[i].value] = (uint16_t)i;
    }
    *out_rank_count = used_count;
    return true;
}

// The ranks of the vertex's joints, rising, each once, then the last again: sets sort by their first joint, then
// second, and a set stands before those that continue it.
static uint64_t make_key(const cook_vertex *vertex, const uint16_t *ranks)
{
    uint16_t sorted[4] = {ranks[vertex->joints[0]]};
    uint16_t highest = sorted[0];
    uint32_t count = 1;
    for (int slot = 1; slot < 4; slot++) {
        uint16_t rank = ranks[vertex->joints[slot]];
        uint32_t at = 0;
        while (at < count && sorted[at] < rank) {
            at++;
        }
        if (at < count && sorted[at] == rank) {
            continue;
        }
        memmove(sorted + at + 1, sorted + at, sizeof *sorted * (count - at));
        sorted[at] = rank;
        highest = rank > highest ? rank : highest;
        count++;
    }
    uint64_t key = 0;
    for (uint32_t i = 0; i < 4; i++) {
        key = key << 16 | (i < count ? sorted[i] : highest);
    }
    return key;
}

static uint32_t count_ranks(uint64_t key)
{
    uint32_t count = 1;
    for (uint64_t rest = key; count < 4 && (rest >> 48) != (rest >> 32 & 0xFFFF); rest <<= 16) {
        count++;
    }
    return count;
}

// By class, each class in the order of kept.
static void make_entries(const cook_primitive *p, const uint32_t *kept, uint32_t count, const uint16_t *ranks,
                         sort_entry *entries)
{
    uint32_t next[COOK_CLASS_COUNT + 1] = {0};
    for (uint32_t i = 0; i < count; i++) {
        next[p->vertices[kept[i]].class_index + 1]++;
    }
    for (int c = 1; c < COOK_CLASS_COUNT; c++) {
        next[c] += next[c - 1];
    }
    for (uint32_t i = 0; i < count; i++) {
        const cook_vertex *vertex = &p->vertices[kept[i]];
        entries[next[vertex->class_index]++] = (sort_entry){make_key(vertex, ranks), kept[i]};
    }
}

static bool starts_group(const cook_primitive *p, const sort_entry *entries, uint32_t i)
{
    return i == 0 || entries[i].key != entries[i - 1].key ||
           p->vertices[entries[i].value].class_index != p->vertices[entries[i - 1].value].class_index;
}

static bool make_groups(const cook_primitive *p, const sort_entry *entries, uint32_t count, cook_arena *arena,
                        joint_groups *out)
{
    for (uint32_t i = 0; i < count; i++) {
        out->group_count += starts_group(p, entries, i);
    }
    uint32_t *vertices = pelti_cook_allocate(arena, count, sizeof *vertices);
    joint_group *groups = pelti_cook_allocate(arena, out->group_count, sizeof *groups);
    if (!vertices || !groups) {
        return false;
    }
    joint_group *group = groups;
    for (uint32_t i = 0; i < count; i++) {
        vertices[i] = entries[i].value;
        if (starts_group(p, entries, i)) {
            group += i > 0;
            *group = (joint_group){
                .key = entries[i].key,
                .first = i,
                .joint_count = count_ranks(entries[i].key),
                .class_index = p->vertices[entries[i].value].class_index,
            };
        }
        group->count++;
    }
    out->vertices = vertices;
    out->groups = groups;
    return true;
}

bool pelti_group_vertices(const cook_primitive *p, const uint32_t *kept, uint32_t count, cook_arena *arena,
                          joint_groups *out)
{
    *out = (joint_groups){0};
    cook_arena scratch = {.allocator = arena->allocator};
    uint16_t *ranks = pelti_cook_allocate(&scratch, 65536, sizeof *ranks);
    sort_entry *entries = pelti_cook_allocate(&scratch, count, sizeof *entries);
    sort_entry *spare = pelti_cook_allocate(&scratch, count, sizeof *spare);
    bool done = false;
    if (ranks && entries && spare && rank_joints(p, kept, count, &scratch, ranks, &out->rank_count)) {
        make_entries(p, kept, count, ranks, entries);
        done = make_groups(p, sort_entries(entries, spare, count), count, arena, out);
    }
    pelti_cook_release_arena(&scratch);
    return done;
}
