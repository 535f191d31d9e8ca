// SPDX-License-Identifier: MIT
// JOINTS_n and WEIGHTS_n of a primitive: read into scratch memory, or used in place, and cleaned by the builder.
// Primitives that share all their sets share the result.
#include "import_internal.h"

// ---- Results by the sequence (joint limit, joints accessor 0, weights accessor 0, joints accessor 1, ...). The
// sequences are the paths of a trie whose edges, (state, number) -> state, live in one hash table.

struct gltf_influence_slot {
    uint64_t key;                 // from state << 32 | number
    uint32_t state;               // counted from 1; 0 = the slot is free
    uint32_t used_limit;          // bits in used
    const pelt_primitive *result; // where the sequence that ends here was cleaned first; NULL if none
    uint64_t *used;               // its joints with weight, where that matters; see import_doubts.c
};

// Source: D. Stafford, "Better Bit Mixing", mix 13.
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static gltf_influence_slot *probe(gltf_influence_slot *slots, uint32_t capacity, uint64_t key)
{
    uint32_t at = (uint32_t)mix(key) & (capacity - 1);
    while (slots[at].state != 0 && slots[at].key != key) {
        at = (at + 1) & (capacity - 1);
    }
    return &slots[at];
}

static pelt_result grow(gltf_import *import, gltf_influence_cache *cache, pelt_error *error)
{
    uint32_t capacity = cache->capacity ? cache->capacity * 2 : 64;
    void *memory = NULL;
    if (capacity == 0) {
        return pelti_fail(error, PELT_ERROR_LIMIT, "", "too many sets of joints and weights");
    }
    GLTF_TRY(pelti_gltf_scratch_zeroed(import, capacity, sizeof *cache->slots, &memory, error));
    gltf_influence_slot *slots = memory;
    for (uint32_t i = 0; i < cache->capacity; i++) {
        if (cache->slots[i].state != 0) {
            *probe(slots, capacity, cache->slots[i].key) = cache->slots[i];
        }
    }
    pelti_gltf_scratch_release(import, cache->slots, cache->capacity, sizeof *cache->slots);
    cache->slots = slots;
    cache->capacity = capacity;
    return PELT_OK;
}

// The slot stays where it is until the next step.
static pelt_result step(gltf_import *import, uint32_t state, uint32_t number, gltf_influence_slot **out,
                        pelt_error *error)
{
    gltf_influence_cache *cache = &import->cache->influences;
    if (cache->count >= cache->capacity / 2) {
        GLTF_TRY(grow(import, cache, error));
    }
    uint64_t key = (uint64_t)state << 32 | number;
    *out = probe(cache->slots, cache->capacity, key);
    if ((*out)->state == 0) {
        **out = (gltf_influence_slot){.key = key, .state = ++cache->count};
    }
    return PELT_OK;
}

void pelti_gltf_influence_cache_release(gltf_import *import)
{
    gltf_influence_cache *cache = &import->cache->influences;
    for (uint32_t i = 0; i < cache->capacity; i++) {
        pelti_gltf_scratch_release(import, cache->slots[i].used, pelti_gltf_word_count(cache->slots[i].used_limit),
                                   sizeof(uint64_t));
    }
    pelti_gltf_scratch_release(import, cache->slots, cache->capacity, sizeof *cache->slots);
    *cache = (gltf_influence_cache){0};
}

// ---- Sets

// Accessors of one set, and what was read of them into scratch memory (NULL where the file's bytes serve).
typedef struct set_source {
    gltf_cached_accessor *joints;
    gltf_cached_accessor *weights;
    void *joints_copy;
    void *weights_copy;
} set_source;

bool pelti_gltf_is_set(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0) {
        return false;
    }
    const char *digits = name + length;
    size_t count = strspn(digits, "0123456789");
    return count > 0 && digits[count] == '\0' && (digits[0] != '0' || count == 1);
}

// Sets as far as the attributes name any; whether they are consecutive shows when each is looked up.
static uint32_t count_sets(json_t *attributes)
{
    uint32_t joints_count = 0;
    uint32_t weights_count = 0;
    const char *name;
    json_t *value;
    json_object_foreach(attributes, name, value)
    {
        joints_count += pelti_gltf_is_set(name, "JOINTS_");
        weights_count += pelti_gltf_is_set(name, "WEIGHTS_");
    }
    return joints_count > weights_count ? joints_count : weights_count;
}

static pelt_result find_set(const gltf_primitive *primitive, uint32_t set, set_source *source, pelt_error *error)
{
    char joints_name[32];
    char weights_name[32];
    snprintf(joints_name, sizeof joints_name, "JOINTS_%u", set);
    snprintf(weights_name, sizeof weights_name, "WEIGHTS_%u", set);
    const json_t *joints = json_object_get(primitive->attributes, joints_name);
    const json_t *weights = json_object_get(primitive->attributes, weights_name);
    if (!joints && !weights) {
        return pelti_fail(error, PELT_ERROR_INVALID, primitive->where,
                          "%s and %s are missing, but there are later sets", joints_name, weights_name);
    }
    if (!joints || !weights) {
        return pelti_fail(error, PELT_ERROR_INVALID, primitive->where, "%s without %s",
                          joints ? joints_name : weights_name, joints ? weights_name : joints_name);
    }
    GLTF_TRY(pelti_gltf_attribute(primitive, joints, joints_name, &source->joints, error));
    GLTF_TRY(pelti_gltf_attribute(primitive, weights, weights_name, &source->weights, error));
    const gltf_accessor *j = &source->joints->accessor;
    const gltf_accessor *w = &source->weights->accessor;
    bool is_small = j->component == PELT_COMPONENT_U8 || j->component == PELT_COMPONENT_U16;
    if (!pelti_gltf_is_vector(j, 4) || !is_small || j->normalized) {
        return pelti_fail(error, PELT_ERROR_INVALID, primitive->where,
                          "%s is %s; its componentType must be UNSIGNED_BYTE or UNSIGNED_SHORT, its type VEC4, not "
                          "normalized",
                          joints_name, pelti_gltf_type_text(j).text);
    }
    bool is_share = (w->component == PELT_COMPONENT_U8 || w->component == PELT_COMPONENT_U16) && w->normalized;
    if (!pelti_gltf_is_vector(w, 4) || (w->component != PELT_COMPONENT_F32 && !is_share)) {
        return pelti_fail(
            error, PELT_ERROR_INVALID, primitive->where,
            "%s is %s; its componentType must be FLOAT or normalized UNSIGNED_BYTE or UNSIGNED_SHORT, its "
            "type VEC4",
            weights_name, pelti_gltf_type_text(w).text);
    }
    return PELT_OK;
}

// Whether the file's own bytes are the array that the builder takes.
static bool is_in_place(const gltf_accessor *accessor, pelt_component component)
{
    return accessor->component == component && accessor->data && accessor->sparse_count == 0 &&
           accessor->stride == accessor->component_size * 4 &&
           (uintptr_t)accessor->data % accessor->component_size == 0;
}

static pelt_result read_set(gltf_import *import, set_source *source, pelt_influence_set *set, pelt_error *error)
{
    const gltf_accessor *joints = &source->joints->accessor;
    const gltf_accessor *weights = &source->weights->accessor;
    if (is_in_place(joints, PELT_COMPONENT_U16)) {
        set->joints = (const uint16_t *)(const void *)joints->data;
    } else {
        GLTF_TRY(pelti_gltf_scratch(import, joints->count * 4, sizeof(uint16_t), &source->joints_copy, error));
        pelti_gltf_read_u16(joints, source->joints_copy);
        set->joints = source->joints_copy;
    }
    if (is_in_place(weights, PELT_COMPONENT_F32)) {
        set->weights = (const float *)(const void *)weights->data;
    } else {
        GLTF_TRY(pelti_gltf_scratch(import, weights->count * 4, sizeof(float), &source->weights_copy, error));
        pelti_gltf_read_floats(weights, source->weights_copy);
        set->weights = source->weights_copy;
    }
    return PELT_OK;
}

static pelt_result clean(const gltf_primitive *primitive, uint32_t set_count, set_source *sources,
                         pelt_influence_set *sets, pelt_error *error)
{
    gltf_import *import = primitive->import;
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; i < set_count && result == PELT_OK; i++) {
        result = read_set(import, &sources[i], &sets[i], error);
    }
    if (result == PELT_OK) {
        pelt_influence_job job = {.vertex_count = primitive->out->vertex_count,
                                  .set_count = set_count,
                                  .sets = sets,
                                  .joint_limit = import->mesh_joint_limit[primitive->mesh],
                                  .influence_limit = import->gltf->options.influence_limit,
                                  .mesh = primitive->mesh,
                                  .primitive = primitive->index};
        result = pelt_builder_clean_influences(import->builder, &job, primitive->out, error);
    }
    uint64_t count = (uint64_t)primitive->out->vertex_count * 4;
    for (uint32_t i = 0; i < set_count; i++) {
        pelti_gltf_scratch_release(import, sources[i].joints_copy, count, sizeof(uint16_t));
        pelti_gltf_scratch_release(import, sources[i].weights_copy, count, sizeof(float));
    }
    return result;
}

static pelt_result import_sets(const gltf_primitive *primitive, uint32_t set_count, set_source *sources,
                               pelt_influence_set *sets, pelt_error *error)
{
    gltf_import *import = primitive->import;
    uint32_t joint_limit = import->mesh_joint_limit[primitive->mesh];
    gltf_influence_slot *slot = NULL;
    GLTF_TRY(step(import, 0, joint_limit, &slot, error));
    for (uint32_t i = 0; i < set_count; i++) {
        GLTF_TRY(find_set(primitive, i, &sources[i], error));
        GLTF_TRY(step(import, slot->state, sources[i].joints->accessor.index, &slot, error));
        GLTF_TRY(step(import, slot->state, sources[i].weights->accessor.index, &slot, error));
    }
    pelt_primitive *out = primitive->out;
    if (!slot->result) {
        slot->result = out;
        slot->used_limit = joint_limit;
        GLTF_TRY(clean(primitive, set_count, sources, sets, error));
        GLTF_TRY(pelti_gltf_used_joints(import, out, joint_limit, &slot->used, error));
    }
    out->influence_count = slot->result->influence_count;
    out->joints = slot->result->joints;
    out->weights = slot->result->weights;
    out->joint_bound = slot->result->joint_bound;
    out->influences = slot->result->influences;
    return pelti_gltf_add_used_joints(import, primitive->mesh, slot->used, error);
}

pelt_result pelti_gltf_import_influences(const gltf_primitive *primitive, pelt_error *error)
{
    gltf_import *import = primitive->import;
    uint32_t set_count = count_sets(primitive->attributes);
    if (set_count == 0 || primitive->out->vertex_count == 0) {
        return PELT_OK;
    }
    void *sources = NULL;
    void *sets = NULL;
    pelt_result result = pelti_gltf_scratch_zeroed(import, set_count, sizeof(set_source), &sources, error);
    if (result == PELT_OK) {
        result = pelti_gltf_scratch(import, set_count, sizeof(pelt_influence_set), &sets, error);
    }
    if (result == PELT_OK) {
        result = import_sets(primitive, set_count, sources, sets, error);
    }
    pelti_gltf_scratch_release(import, sources, set_count, sizeof(set_source));
    pelti_gltf_scratch_release(import, sets, set_count, sizeof(pelt_influence_set));
    return result;
}
