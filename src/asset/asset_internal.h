// SPDX-License-Identifier: MIT
// Inside the asset module: the builder's arena and the state of finish. builder.c owns memory; influences*.c clean
// weights; hierarchy.c, meshes.c, skins.c,
// nodes.c and clips.c each check and freeze their part for finish.c.
#ifndef PELTI_ASSET_INTERNAL_H
#define PELTI_ASSET_INTERNAL_H

#include "base/base.h"
#include "math/math.h"

#include <pelt/builder.h>

typedef struct asset_block asset_block;

struct pelt_builder {
    pelt_allocator allocator;
    pelt_log log;
    uint64_t memory_limit;
    uint64_t memory_used; // bytes handed out, held against the limit
    asset_block *blocks;  // all of them; the first is the one that small allocations come from
    pelt_result status;   // of the first allocation that failed
    uint64_t failed_size; // what it asked for; UINT64_MAX = more than 64 bits can say
    bool finished;        // finish was called: it may be called once
};

struct pelt_asset {
    pelt_allocator allocator;
    asset_block *blocks; // this object lies in one of them
    pelt_asset_data data;
};

// A short text by value, for JSON pointers: pelti_asset_text("/nodes/%u", i).text
typedef struct asset_text {
    char text[192];
} asset_text;
asset_text pelti_asset_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

// A float as people write it: the shortest of %g that reads back, "NaN", "infinity".
typedef struct asset_number {
    char text[32];
} asset_number;
asset_number pelti_asset_number(float value);

// What skinned nodes need to know of a mesh, so that checking one is O(1).
typedef struct asset_mesh_use {
    uint32_t joint_bound;       // the highest of its primitives
    uint32_t bound_primitive;   // which has it
    uint32_t unbound_primitive; // the first with vertices but without influences, or PELT_NONE
} asset_mesh_use;

// What an array was scanned for.
typedef enum asset_scan {
    ASSET_SCAN_FINITE,
    ASSET_SCAN_HANDEDNESS,
    ASSET_SCAN_HIGHEST_INDEX,
    ASSET_SCAN_HIGHEST_JOINT,
    ASSET_SCAN_TIMES,
    ASSET_SCAN_ROTATIONS,
    ASSET_SCAN_CUBIC_ROTATIONS
} asset_scan;

typedef struct asset_seen_entry asset_seen_entry;

typedef struct asset_seen {
    asset_seen_entry *entries;
    uint64_t capacity; // 0 or a power of two
    uint64_t used;
} asset_seen;

// The state of one finish. Arrays marked scratch are released at its end.
typedef struct asset_finish {
    pelt_builder *builder;
    const pelt_builder_scene *scene;
    pelt_node *nodes;
    uint32_t *node_from_file;
    pelt_instance *instances;
    uint32_t instance_count;
    float *rest_weights;
    uint32_t rest_weight_count;
    uint32_t *parent;          // scratch, node_count file indices
    uint32_t *first_child;     // scratch, node_count
    uint32_t *next_sibling;    // scratch, node_count
    asset_mesh_use *mesh_uses; // scratch, mesh_count
    asset_seen seen;           // scratch
} asset_finish;

// The number kept for this array and scan, 0 at first, for the caller to set; *out_is_new where it was not scanned yet.
// NULL when out of memory. memory must not be NULL. Valid until the next call.
uint32_t *pelti_asset_seen(asset_finish *finish, const void *memory, uint64_t count, asset_scan scan, bool *out_is_new);
void pelti_asset_seen_release(asset_finish *finish);

// Each in this order; all fill *error on failure. Out of memory: PELT_ERROR_MEMORY, with the builder's status set
// where it was the builder's memory.
pelt_result pelti_finish_hierarchy(asset_finish *finish, pelt_error *error);
pelt_result pelti_finish_scene(asset_finish *finish, pelt_error *error);
pelt_result pelti_finish_meshes(asset_finish *finish, pelt_error *error);
pelt_result pelti_finish_skins(asset_finish *finish, pelt_error *error);
pelt_result pelti_finish_nodes(asset_finish *finish, pelt_error *error);
pelt_result pelti_finish_instances(asset_finish *finish, pelt_error *error);
pelt_result pelti_finish_skin_scenes(asset_finish *finish, pelt_error *error);
pelt_result pelti_finish_clips(asset_finish *finish, pelt_error *error);

// Checks the keys and values of one sampler of a clip and normalises its rotations: sampler.c, for clips.c.
pelt_result pelti_finish_sampler(asset_finish *finish, uint32_t clip, const pelt_sampler *sampler, bool is_rotation,
                                 pelt_error *error);

// The refusal after a failed scratch allocation.
pelt_result pelti_fail_memory(pelt_error *error);

#endif
