// SPDX-License-Identifier: MIT
// What C and GLSL share: records in buffers, push constants and constants. Scalar layout; addresses first, so that both
// languages agree. An address is 0 where the stream does not exist.
#ifndef PELT_GPU_LAYOUT_H
#define PELT_GPU_LAYOUT_H

#ifdef GL_core_profile
#define GPU_ADDRESS uvec2
#define GPU_UINT uint
#define GPU_STRUCT(name) struct name
#define GPU_END(name) ;
#else
#include <assert.h>
#include <stdint.h>
#define GPU_ADDRESS uint64_t
#define GPU_UINT uint32_t
#define GPU_STRUCT(name) typedef struct name
#define GPU_END(name) name;
#endif

// Threads of a workgroup, set by specialisation constant 0 where the device asks for another number.
#define GPU_SKIN_THREADS 128
#define GPU_SKIN_RUNS_THREADS 64
#define GPU_SKIN_SMALL_THREADS 32
#define GPU_SKIN_FEW_THREADS 128
#define GPU_PALETTE_THREADS 64
#define GPU_ITEMS_THREADS 64
#define GPU_REDUCE_THREADS 128
#define GPU_BOUNDS_THREADS 64

#define GPU_BLOCK 64u // vertices
#define GPU_TOUCH_EACH                                                                                                 \
    256u             // workgroups of small items, which read some 8 KiB each, so that hardly a page of 2 MiB is missed
#define GPU_PART 32u // vertices; parts of an item that workgroups share are multiples of it

// gpu_mesh.encoding
#define GPU_WEIGHTS_SORTED 0u
#define GPU_WEIGHTS_PLAIN 1u

// GPU_ITEM_LAYOUT: pelt_joint_layout, and
#define GPU_JOINTS_RUN 0u
#define GPU_JOINTS_DIRECT8 1u
#define GPU_JOINTS_DIRECT16 2u
#define GPU_JOINTS_NONE 3u // every vertex follows the palette's first matrix

#define GPU_NO_BASE 0xFFFFFFFFu   // gpu_item.joint_base
#define GPU_LISTED 0x80000000u    // gpu_full_item.joint_base
#define GPU_NO_REDUCE 0xFFFFFFFFu // gpu_update.reduce

// gpu_item.joints: how many joints the run's list has, 0 with other layouts; GPU_JOINTS_*; and the most influences of
// one vertex: 1 to 4, 5 for more than four.
#define GPU_ITEM_JOINTS(count, layout, influences) ((count) | (layout) << 16 | (influences) << 24)
#define GPU_ITEM_JOINT_COUNT(joints) ((joints)&0xFFFFu)
#define GPU_ITEM_LAYOUT(joints) ((joints) >> 16 & 0xFFu)
#define GPU_ITEM_INFLUENCES(joints) ((joints) >> 24)

// gpu_mesh.streams
#define GPU_STREAM_NORMALS 1u
#define GPU_STREAM_TANGENTS 2u

// gpu_target.format
#define GPU_TARGET_16BIT 2u

// gpu_instance.flags
#define GPU_INSTANCE_RIGID 1u // whatever the items say
#define GPU_INSTANCE_EXACT 2u // wants the exact box
#define GPU_INSTANCE_WHOLE 4u // in gpu_full_item.counts alone: its mesh has no other item

#define GPU_UNIT_SHIFT 6u // ranges and streams start at multiples of 64 bytes

#define GPU_PARITY 0x80000000u // in gpu_frame_item.instance and gpu_update.instance: positions[1] are written

// A slice of a run, worked through by one workgroup, or by several where there are few; the same for all instances of a
// mesh. 32 bytes.
GPU_STRUCT(gpu_item)
{
    GPU_UINT first_vertex;
    GPU_UINT vertex_count;
    GPU_UINT first_joint;      // of the run's list in run_joints
    GPU_UINT joint_base;       // the list's first joint where its joints are consecutive, else GPU_NO_BASE
    GPU_UINT joints;           // GPU_ITEM_JOINTS
    GPU_UINT first_joint_word; // in the joints stream, 4 bytes a word, of first_vertex
    GPU_UINT wide_start;       // first_vertex + wide_start is the first vertex with an entry in extra_offsets
    GPU_UINT first_wide;       // that entry
}
GPU_END(gpu_item)

// A range of a sparse target's list.
GPU_STRUCT(gpu_range)
{
    GPU_UINT first;
    GPU_UINT count;
}
GPU_END(gpu_range)

// 56 bytes.
GPU_STRUCT(gpu_target)
{
    GPU_ADDRESS vertices;  // uint, strictly increasing; 0 = one entry for each vertex
    GPU_ADDRESS ranges;    // gpu_range, one for each item of the mesh; 0 unless sparse
    GPU_ADDRESS positions; // float x 3, or snorm16 x 3; 0 = unchanged, as for the next two
    GPU_ADDRESS normals;
    GPU_ADDRESS tangents;
    GPU_UINT format;
    float position_scale; // times snorm16 / 32767; 1 for floats
    float normal_scale;
    float tangent_scale;
}
GPU_END(gpu_target)

// A target with a weight that is not zero, of one instance.
GPU_STRUCT(gpu_morph)
{
    GPU_UINT target;
    float weight;
}
GPU_END(gpu_morph)

// 96 bytes, and right behind it the mesh's items, so that neither has to be read to find the other. skin_runs.comp
// reads the first 32 bytes alone.
GPU_STRUCT(gpu_mesh)
{
    GPU_ADDRESS positions;  // blocks of GPU_BLOCK vertices, the last one filled up: all x, all y, all z
    GPU_ADDRESS vertices;   // normal, tangent, weights and joints of each vertex in 16 bytes, or 0
    GPU_ADDRESS run_joints; // uint16, two in a word
    GPU_UINT item_count;
    GPU_UINT streams;          // GPU_STREAM_*: which of the next two there are
    GPU_ADDRESS normals;       // octahedral, or 0
    GPU_ADDRESS tangents;      // octahedral, or 0
    GPU_ADDRESS weights;       // 11 + 11 + 10 bits, or 0 where rigid
    GPU_ADDRESS joints;        // or 0 where rigid
    GPU_ADDRESS extra_offsets; // uint
    GPU_ADDRESS extras;        // uint: joint in the low half, unorm16 weight in the high one
    GPU_ADDRESS targets;       // gpu_target
    GPU_UINT encoding;         // GPU_WEIGHTS_*
    GPU_UINT stride;           // words from a vertex to the next: 4 where normals to joints point into vertices, else 1
}
GPU_END(gpu_mesh)

// 128 bytes. skin_runs.comp reads the first 48 alone.
GPU_STRUCT(gpu_instance)
{
    GPU_ADDRESS palette;      // 3x4 matrices
    GPU_ADDRESS positions[2]; // float x 3; the same twice without previous positions
    GPU_ADDRESS normals;      // octahedral, or 0
    GPU_ADDRESS tangents;     // octahedral, or 0
    GPU_UINT palette_count;   // joints are clamped to it
    GPU_UINT flags;           // GPU_INSTANCE_*
    GPU_ADDRESS mesh;         // gpu_mesh
    GPU_ADDRESS morphs;       // gpu_morph, or 0
    GPU_ADDRESS worlds;       // conservative: 3x4 world_from_joint
    GPU_ADDRESS binds;        // conservative: 3x4 joint_from_bind
    GPU_ADDRESS joint_boxes;  // conservative: min xyz, max xyz in joint space, one a joint
    GPU_UINT morph_count;
    GPU_UINT box_count; // of joint_boxes
    // What rounding can add to a conservative box: largest |coordinate| before the skin, morphs included, by axis; and
    // factors of it.
    float reach[3];
    float blend_growth; // 2^-24 times (influences + 12 + 8)
    float morph_growth; // 2^-24 times (morphs + 2), 0 without
    float beyond[3];    // how far morphs can take a vertex, before the skin, that joint_boxes do not know of
}
GPU_END(gpu_instance)

// A palette to compute in this frame, or a part of one, all that is to be known of it: a record in a table would be one
// more load to wait for. 40 bytes, in mapped memory.
GPU_STRUCT(gpu_palette_update)
{
    GPU_ADDRESS worlds;      // 3x4 world_from_joint
    GPU_ADDRESS binds;       // 3x4 joint_from_bind
    GPU_ADDRESS matrices;    // result
    GPU_ADDRESS kept_worlds; // copy of the worlds, or 0
    GPU_UINT joint_count;
    GPU_UINT palette; // the CPU's number of it
}
GPU_END(gpu_palette_update)

// An instance to update in this frame; its items are [first_item, the next one's first_item). 12 bytes, mapped
// memory.
GPU_STRUCT(gpu_update)
{
    GPU_UINT instance; // with GPU_PARITY
    GPU_UINT first_item;
    GPU_UINT reduce; // index of its gpu_reduce, or GPU_NO_REDUCE
}
GPU_END(gpu_update)

// An item of an instance, for the skin pass. 16 bytes, made by items.comp, or by the CPU in mapped memory.
GPU_STRUCT(gpu_frame_item)
{
    GPU_ADDRESS mesh;  // the instance's: its record and the instance's are then read at the same time
    GPU_UINT instance; // with GPU_PARITY
    GPU_UINT item;     // of the mesh
}
GPU_END(gpu_frame_item)

// The same with all that the workgroup has to know before it begins: where records are read, one load has to wait for
// another. 64 bytes, made by items.comp. Distances are in units of 64 bytes, with a sign.
GPU_STRUCT(gpu_full_item)
{
    GPU_ADDRESS palette; // the instance's
    GPU_ADDRESS mesh;
    GPU_ADDRESS outputs;     // the instance's positions[0]
    GPU_UINT mesh_positions; // from mesh
    GPU_UINT mesh_vertices;  // from mesh
    GPU_UINT positions;      // positions[1], from outputs
    GPU_UINT normals;        // from outputs, or 0
    GPU_UINT tangents;       // from outputs, or 0
    GPU_UINT instance;       // with GPU_PARITY
    GPU_UINT first_vertex;
    GPU_UINT counts;     // vertex_count, and GPU_INSTANCE_* << 16
    GPU_UINT joints;     // how many the run's list has, and the palette's last one << 16
    GPU_UINT joint_base; // as the item's; or the item's number with GPU_LISTED
}
GPU_END(gpu_full_item)

// An instance whose partial boxes are to be united. 12 bytes, made with the frame items.
GPU_STRUCT(gpu_reduce)
{
    GPU_UINT instance;
    GPU_UINT first_item;
    GPU_UINT item_count;
}
GPU_END(gpu_reduce)

// Push constants. group_columns: workgroups of a row of the grid; group index = y * group_columns + x, and groups past
// the count return.
GPU_STRUCT(gpu_palette_push)
{
    GPU_ADDRESS updates; // gpu_palette_update
    GPU_UINT update_count;
    GPU_UINT threads; // of one update: a power of two, at most GPU_PALETTE_THREADS
    GPU_UINT group_columns;
}
GPU_END(gpu_palette_push)

GPU_STRUCT(gpu_items_push)
{
    GPU_ADDRESS updates;     // gpu_update
    GPU_ADDRESS instances;   // gpu_instance
    GPU_ADDRESS frame_items; // gpu_frame_item, result
    GPU_ADDRESS reduces;     // gpu_reduce, result
    GPU_ADDRESS full_items;  // gpu_full_item, result: of the first full_count items
    GPU_UINT update_count;
    GPU_UINT item_count; // of all
    GPU_UINT group_columns;
    GPU_UINT full_count; // the others have a gpu_frame_item
}
GPU_END(gpu_items_push)

GPU_STRUCT(gpu_skin_push)
{
    GPU_ADDRESS frame_items; // gpu_frame_item or gpu_full_item, one for 1 << split workgroups
    GPU_ADDRESS instances;   // gpu_instance
    GPU_ADDRESS partials;    // 6 floats a workgroup, result; for instances of more than one item
    GPU_ADDRESS boxes;       // 6 floats an instance, result; for instances of one item
    GPU_UINT group_count;    // the items << split
    GPU_UINT group_columns;
    float zero;      // +0, which no compiler may know: added to -0 it gives +0
    GPU_UINT three;  // 3, which no compiler may know: loops that are not to be unrolled
    GPU_UINT parity; // GPU_PARITY where all frame items mean the other positions, else 0
    GPU_UINT split;  // 1 << split workgroups share an item
    GPU_UINT ahead;  // about so many workgroups run at a time
    GPU_UINT reserved;
}
GPU_END(gpu_skin_push)

GPU_STRUCT(gpu_reduce_push)
{
    GPU_ADDRESS reduces; // gpu_reduce, one a workgroup
    GPU_ADDRESS partials;
    GPU_ADDRESS boxes; // result
    GPU_UINT reduce_count;
    GPU_UINT group_columns;
    GPU_UINT split;        // 1 << split partial boxes each of
    GPU_UINT shared_first; // the items from this one on,
    GPU_UINT shared_count; // so many; one of all others
    GPU_UINT reserved;
}
GPU_END(gpu_reduce_push)

GPU_STRUCT(gpu_bounds_push)
{
    GPU_ADDRESS updates; // uint, instances, one a workgroup
    GPU_ADDRESS instances;
    GPU_ADDRESS boxes; // conservative ones, result
    GPU_UINT update_count;
    GPU_UINT group_columns;
}
GPU_END(gpu_bounds_push)

#ifndef GL_core_profile
static_assert(sizeof(gpu_item) == 32, "gpu_item");
static_assert(sizeof(gpu_range) == 8, "gpu_range");
static_assert(sizeof(gpu_target) == 56, "gpu_target");
static_assert(sizeof(gpu_morph) == 8, "gpu_morph");
static_assert(sizeof(gpu_mesh) == 96, "gpu_mesh");
static_assert(sizeof(gpu_instance) == 128, "gpu_instance");
static_assert(sizeof(gpu_palette_update) == 40, "gpu_palette_update");
static_assert(sizeof(gpu_update) == 12, "gpu_update");
static_assert(sizeof(gpu_frame_item) == 16, "gpu_frame_item");
static_assert(sizeof(gpu_full_item) == 64, "gpu_full_item");
static_assert(sizeof(gpu_reduce) == 12, "gpu_reduce");
static_assert(sizeof(gpu_palette_push) == 24, "gpu_palette_push");
static_assert(sizeof(gpu_items_push) == 56, "gpu_items_push");
static_assert(sizeof(gpu_skin_push) == 64, "gpu_skin_push");
static_assert(sizeof(gpu_reduce_push) == 48, "gpu_reduce_push");
static_assert(sizeof(gpu_bounds_push) == 32, "gpu_bounds_push");
#endif
#endif
