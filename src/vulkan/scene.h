// SPDX-License-Identifier: MIT
// Inside the files that work on a scene: what it holds.
//
// Sequence numbers count the records that succeed: everything that is given up waits for the record that comes next,
// since that one may still copy from or into it, and for the frame of that record to retire.
#ifndef PELTI_VULKAN_SCENE_H
#define PELTI_VULKAN_SCENE_H

#include "vulkan.h"

// ---- slots.c: handles

typedef struct pelti_vk_slot {
    uint32_t generation; // odd: an object lives here, and this is its handle's
    uint32_t next_free;  // or PELT_NONE
} pelti_vk_slot;

// Slots of one kind of object. A slot is free, live, or waiting for frames in flight.
typedef struct pelti_vk_slots {
    const pelt_allocator *allocator;
    pelti_vk_slot *slots;
    uint32_t count; // slots ever used
    uint32_t capacity;
    uint32_t limit;      // most slots
    uint32_t first_free; // or PELT_NONE
} pelti_vk_slots;

void pelti_vk_slots_init(pelti_vk_slots *s, const pelt_allocator *allocator, uint32_t limit);
// Makes sure that the next take succeeds. Errors: LIMIT, MEMORY.
pelt_result pelti_vk_slots_reserve(pelti_vk_slots *s, pelt_error *error);
// Which slot the next take gives.
uint32_t pelti_vk_slots_next(const pelti_vk_slots *s);
uint32_t pelti_vk_slots_take(pelti_vk_slots *s);
// Handles to it are stale from now on; the slot itself waits for pelti_vk_slots_reuse.
void pelti_vk_slots_drop(pelti_vk_slots *s, uint32_t slot);
void pelti_vk_slots_reuse(void *slots, uint32_t slot);
bool pelti_vk_slots_live(const pelti_vk_slots *s, uint32_t index, uint32_t generation);
void pelti_vk_slots_destroy(pelti_vk_slots *s);

// ---- objects

// An instance to update, with all that recording needs: reading the instances once more would cost a cache miss each.
typedef struct pelti_vk_update {
    uint32_t instance; // slot, with GPU_PARITY
    uint32_t flags;    // PELTI_VK_EXACT, PELTI_VK_CONSERVATIVE, and which pipeline
    uint32_t item_count;
} pelti_vk_update;

// A list of slots, each at most once: every member knows its place.
typedef struct pelti_vk_marks {
    uint32_t *slots;
    uint32_t count;
    uint32_t capacity; // as many as there are slots of that kind, so that marking cannot fail
} pelti_vk_marks;

// Joint boxes of one skin in a mesh's range.
typedef struct pelti_vk_joint_boxes {
    uint32_t skin;
    uint32_t joint_count;
    VkDeviceAddress address;
} pelti_vk_joint_boxes;

typedef struct pelti_vk_mesh {
    pelti_vk_range range; // gpu_mesh, then all streams
    uint32_t use_count;   // instances
    uint32_t vertex_count;
    uint32_t item_count;      // at least 1
    uint32_t joint_bound;     // 1 where rigid
    uint32_t influence_count; // the most of one vertex
    uint32_t target_count;
    bool rigid; // no weights
    bool runs;  // items are what skin_runs.comp can do
    bool has_normals;
    bool has_tangents;
    VkDeviceSize indices; // offset in range
    uint32_t index_size;  // 0 = no indices
    uint32_t index_count;
    VkDeviceAddress whole_box; // of the positions, for rigid instances
    float reach[3];            // largest |coordinate| of positions
    float (*target_reach)[3];  // target_count: largest |displacement|
    uint32_t joint_boxes_count;
    pelti_vk_joint_boxes *joint_boxes;
} pelti_vk_mesh;

typedef struct pelti_vk_skin {
    pelti_vk_range binds; // joint_count matrices
    uint32_t joint_count;
    uint32_t use_count; // palettes
} pelti_vk_skin;

// 64 bytes without the ranges: what palette_write and record touch comes first.
typedef struct pelti_vk_palette {
    uint64_t written_by; // sequence of the record that it was last written for
    pelt_mat34 *world;   // mapped memory of that frame
    uint32_t mark;       // index in scene.written, where written for the record to come
    uint32_t joint_count;
    uint32_t first_instance; // list through pelti_vk_instance.next
    uint32_t skin;
    pelti_vk_range matrices;
    pelti_vk_range worlds; // of scenes with conservative boxes
} pelti_vk_palette;

enum { // pelti_vk_instance.flags; those of an update count from the moment it is marked
    PELTI_VK_PREVIOUS_VALID = 1,
    PELTI_VK_PREVIOUS_WAS_VALID = 2, // of the update before
    PELTI_VK_ODD = 4,                // positions[1] are written
    PELTI_VK_EXACT = 8,
    PELTI_VK_CONSERVATIVE = 16,
    PELTI_VK_KEEPS_PREVIOUS = 32,
    PELTI_VK_RUNS = 64,        // which pipeline: items are what skin_runs.comp can do
    PELTI_VK_DIRECTIONS = 128, // with normals and tangents
    PELTI_VK_SMALL = 256,      // of few vertices
    PELTI_VK_KIND = PELTI_VK_RUNS | PELTI_VK_DIRECTIONS | PELTI_VK_SMALL
};

// 64 bytes: what marking and recording touch.
typedef struct pelti_vk_instance {
    uint64_t marked_by;     // sequence of the record that it was last marked for
    uint64_t marked_before; // and of the update before
    uint64_t update_count;  // the one that is marked included
    uint32_t mark;          // index in scene.marked, where marked for the record to come
    uint32_t flags;
    uint32_t item_count;
    uint32_t vertex_count;
    uint32_t next;     // of the same palette, or PELT_NONE
    uint32_t previous; // or PELT_NONE
    uint32_t palette;
    uint32_t mesh;
    uint32_t weight_mark; // index in weighted, or PELT_NONE
} pelti_vk_instance;

#define PELTI_VK_NO_OFFSET UINT64_MAX

// The rest of an instance.
typedef struct pelti_vk_outputs {
    pelti_vk_range range;  // positions, previous positions, normals, tangents
    VkDeviceSize previous; // offsets in range; PELTI_VK_NO_OFFSET = none
    VkDeviceSize normals;
    VkDeviceSize tangents;
    pelti_vk_range morphs; // gpu_morph, target_count
    float *weights;        // target_count
    uint32_t weight_count;
} pelti_vk_outputs;

// ---- work_list.c: what workgroups of the skin pass do

enum {
    // Instances whose items go to one pipeline stand together: one kind for each choice of PELTI_VK_DIRECTIONS and
    // PELTI_VK_SMALL, and one for all that have not PELTI_VK_RUNS.
    PELTI_VK_KIND_USUAL_SMALL = 0,
    PELTI_VK_KIND_RUNS_SMALL,
    PELTI_VK_KIND_USUAL,
    PELTI_VK_KIND_RUNS,
    PELTI_VK_KIND_ANY,
    PELTI_VK_KIND_COUNT,
    PELTI_VK_WRITTEN_ITEMS = 2048, // the CPU writes a new list of fewer
    PELTI_VK_MOST_SPLIT = 3,       // 1 << 3 parts of 128 vertices of an item of 1,024
    PELTI_VK_PART_JOINTS = 32      // most joints of what is a palette's part for the palette pass
};

// Whether several workgroups may share an item of this kind; such kinds stand side by side.
static inline bool pelti_vk_kind_is_shared(uint32_t kind)
{
    return kind == PELTI_VK_KIND_USUAL || kind == PELTI_VK_KIND_RUNS;
}

// Where the list of a record lies.
typedef enum pelti_vk_list_source {
    PELTI_VK_LIST_KEPT = 0, // in scratch, since an earlier record; without updates nowhere, as none is read
    PELTI_VK_LIST_MADE,     // in scratch, by items.comp
    PELTI_VK_LIST_WRITTEN   // in mapped memory, by the CPU
} pelti_vk_list_source;

// The updates of the last record that had any. While they stay the same, so does the list of their items.
typedef struct pelti_vk_work_list {
    pelti_vk_update *updates; // with the parities that the list has
    uint32_t update_capacity; // as that of marked, which updates changes places with
    uint32_t update_count;    // 0: not known
    bool in_scratch;          // the list lies there
    uint32_t full_count;      // of its items, those that are full
    uint32_t kind_updates[PELTI_VK_KIND_COUNT];
    uint32_t kind_items[PELTI_VK_KIND_COUNT];
} pelti_vk_work_list;

// What the workgroups of one record do. Spans are mapped memory of its frame.
typedef struct pelti_vk_work {
    uint32_t update_count;
    uint32_t item_count;
    uint32_t reduce_count;
    pelti_vk_list_source source;
    uint32_t parity;       // of the list
    uint32_t split;        // 1 << split workgroups share each of the items that can be shared,
    uint32_t shared_first; // which are those from this one on,
    uint32_t shared_count; // so many
    uint32_t group_count;  // of all kinds
    uint32_t kind_updates[PELTI_VK_KIND_COUNT];
    uint32_t kind_items[PELTI_VK_KIND_COUNT];
    pelti_vk_span updates; // gpu_update, of a list that is made
    pelti_vk_span items;   // gpu_frame_item, of one that is written
    pelti_vk_span reduces; // gpu_reduce, of one that is written
    uint32_t full_count;   // of the items, which stand first, those that have a gpu_full_item instead
    VkDeviceAddress full_items;
    VkDeviceAddress frame_items; // where that of the first item would be
    VkDeviceAddress partials;
    VkDeviceAddress frame_reduces;
} pelti_vk_work;

// A record that the GPU may still be working on.
typedef struct pelti_vk_frame {
    uint64_t frame;
    uint64_t sequence;
} pelti_vk_frame;

struct pelt_vk_scene {
    pelt_vk_context *context;
    pelt_vk_scene_options options;     // with nothing left to defaults
    pelt_vk_bounds_rule *bounds_rules; // of options, as many as it says
    const pelt_allocator *allocator;
    pelti_vk_heap *device;
    pelti_vk_heap *mapped;
    pelti_vk_ring *ring;
    pelti_vk_retirement retirement;
    pelti_vk_copies copies;

    uint64_t sequence; // of the next record, from 1
    bool recorded;     // last_frame is one
    uint64_t last_frame;
    pelti_vk_frame *frames; // not yet retired, in order
    uint32_t frame_count;
    uint32_t frame_capacity;

    pelti_vk_slots mesh_slots;
    pelti_vk_slots skin_slots;
    pelti_vk_slots palette_slots;
    pelti_vk_slots instance_slots;
    pelti_vk_mesh *meshes; // by slot, each with the capacity below
    pelti_vk_skin *skins;
    pelti_vk_palette *palettes;
    pelti_vk_instance *instances;
    pelti_vk_outputs *outputs;
    uint32_t mesh_capacity;
    uint32_t skin_capacity;
    uint32_t palette_capacity;
    uint32_t instance_capacity;
    uint32_t outputs_capacity;

    // For the record to come. The first two have room for every slot, so that marking cannot fail.
    gpu_palette_update *written; // palettes with new matrices
    pelti_vk_update *marked;     // instances to update
    uint32_t written_count;
    uint32_t written_capacity;
    uint32_t marked_count;
    uint32_t marked_capacity;
    pelti_vk_work_list list;
    pelti_vk_marks weighted; // instances with new morph weights
    uint64_t marked_items;   // sums over marked
    uint64_t marked_vertices;
    uint32_t marked_reduced;
    uint32_t marked_conservative;
    uint64_t written_joints; // sums over written
    uint32_t written_parts;

    pelti_vk_table instance_table;
    pelti_vk_table boxes;
    pelti_vk_table conservative_boxes;
    pelti_vk_range scratch;  // frame items, partial boxes, then gpu_reduce
    uint64_t scratch_items;  // capacity, of items and of workgroups with partial boxes alike
    uint32_t boxes_recorded; // slots that the boxes had room for at the last record
};

// Grows an array of elements to hold at least count; false: out of memory, nothing changed. New elements are zero.
bool pelti_vk_grow(const pelt_allocator *allocator, void *array, uint32_t *capacity, uint32_t count, size_t size);

// Mapped memory for size bytes, to be filled before the next record, which copies them to the start of range. Errors:
// LIMIT, MEMORY, DEVICE; then nothing was taken.
pelt_result pelti_vk_upload(pelt_vk_scene *scene, const pelti_vk_range *range, VkDeviceSize size,
                            pelti_vk_span *out_span, pelt_error *error);

// Marks an instance for an update: positions and previous positions change places. No effect where it is marked.
void pelti_vk_mark(pelt_vk_scene *scene, uint32_t instance);
void pelti_vk_unmark(pelt_vk_scene *scene, uint32_t instance);
// Changes the flags in PELTI_VK_KIND, also where the instance is marked.
void pelti_vk_set_kind(pelt_vk_scene *scene, uint32_t instance, uint32_t kind);
// Takes the entry at mark out of the list; the last one moves to its place: *moved is that slot.
void pelti_vk_marks_remove(pelti_vk_marks *m, uint32_t mark, uint32_t *moved);

// ---- work_list.c

// Chooses where the list of the marked instances comes from, and takes memory for it. Errors: LIMIT, MEMORY, DEVICE;
// what was taken of the ring is the caller's to give back.
pelt_result pelti_vk_work_prepare(pelt_vk_scene *scene, pelti_vk_work *work, pelt_error *error);
// Fills what was taken: work items as such, or the updates that items.comp makes them of.
void pelti_vk_work_write(const pelt_vk_scene *scene, const pelti_vk_work *work);
// Remembers the list for the next record, after which marked is to be emptied.
void pelti_vk_work_finish(pelt_vk_scene *scene, const pelti_vk_work *work);
// For changes that the updates do not tell of.
void pelti_vk_list_forget(pelti_vk_work_list *list);

// ---- mesh_items.c

// Items of a primitive of at most item_vertices each, at least one. items may be NULL: only counts.
uint64_t pelti_vk_items_build(const pelt_cooked_primitive *p, uint32_t item_vertices, gpu_item *items);

#endif
