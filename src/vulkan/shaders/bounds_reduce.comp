// SPDX-License-Identifier: MIT
// Unites the partial boxes of one instance, whose mesh has more than one item. One workgroup an instance.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_KHR_shader_subgroup_arithmetic : require

#include "gpu_layout.h"

layout(local_size_x = GPU_REDUCE_THREADS, local_size_x_id = 0) in;

#include "box.glsl"

layout(push_constant, scalar) uniform push_block
{
    gpu_reduce_push push;
};

MEMORY(readonly, reduces, gpu_reduce, 4)

struct partial_box {
    uvec3 low;
    uvec3 high;
};

MEMORY(readonly, partials, partial_box, 4)

// From items to their partial boxes. All items of an instance are shared, or none is.
gpu_reduce partials_of(gpu_reduce items)
{
    uint before = min(max(items.first_item, push.shared_first) - push.shared_first, push.shared_count);
    bool is_shared = items.first_item >= push.shared_first && before < push.shared_count;
    items.first_item += (before << push.split) - before;
    items.item_count <<= is_shared ? push.split : 0u;
    return items;
}

void main()
{
    uint group = group_index(push.group_columns);
    if (group >= push.reduce_count) {
        return;
    }
    gpu_reduce reduce = partials_of(reduces(push.reduces).at[group]);
    keyed_box box = box_empty();
    // Four at a time, so that their loads wait for memory together; the last one may be taken more than once.
    uint last = reduce.first_item + reduce.item_count - 1u;
    for (uint i = gl_LocalInvocationIndex; i < reduce.item_count; i += gl_WorkGroupSize.x * 4u) {
        uint at = reduce.first_item + i;
        partial_box a = partials(push.partials).at[at];
        partial_box b = partials(push.partials).at[min(at + gl_WorkGroupSize.x, last)];
        partial_box c = partials(push.partials).at[min(at + gl_WorkGroupSize.x * 2u, last)];
        partial_box d = partials(push.partials).at[min(at + gl_WorkGroupSize.x * 3u, last)];
        box_add_box(box, a.low, a.high);
        box_add_box(box, b.low, b.high);
        box_add_box(box, c.low, c.high);
        box_add_box(box, d.low, d.high);
    }
    box_store(box, push.boxes, reduce.instance);
}
