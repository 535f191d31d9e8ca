// SPDX-License-Identifier: MIT
// Lists what each workgroup of the skin pass does: every item of every updated instance. A workgroup takes as many
// instances as it has threads, and its threads share all their items, however unevenly these are spread.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require

#include "memory.glsl"

layout(local_size_x = GPU_ITEMS_THREADS, local_size_x_id = 0) in;

layout(push_constant, scalar) uniform push_block
{
    gpu_items_push push;
};

MEMORY(readonly, updates, gpu_update, 4)
MEMORY(writeonly, out_frame_items, gpu_frame_item, 16)
MEMORY(writeonly, out_reduces, gpu_reduce, 4)

shared gpu_update group_updates[gl_WorkGroupSize.x];
shared uvec2 group_meshes[gl_WorkGroupSize.x];

// The last of the workgroup's records that begins at or before item: those without items begin where the next one does.
uint find_update(uint item, uint count)
{
    uint low = 0;
    uint high = count;
    while (high - low > 1) {
        uint middle = (low + high) / 2;
        if (group_updates[middle].first_item <= item) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

void main()
{
    uint first = group_index(push.group_columns) * gl_WorkGroupSize.x;
    if (first >= push.update_count) {
        return;
    }
    uint count = min(push.update_count - first, gl_WorkGroupSize.x);
    uint thread = gl_LocalInvocationIndex;
    if (thread < count) {
        gpu_update update = updates(push.updates).at[first + thread];
        group_updates[thread] = update;
        group_meshes[thread] = instances(push.instances).at[update.instance & ~GPU_PARITY].mesh;
    }
    uint end = push.item_count;
    if (first + count < push.update_count) {
        end = updates(push.updates).at[first + count].first_item;
    }
    barrier();
    if (thread < count && group_updates[thread].reduce != GPU_NO_REDUCE) {
        gpu_update update = group_updates[thread];
        uint next = thread + 1u < count ? group_updates[thread + 1u].first_item : end;
        out_reduces(push.reduces).at[update.reduce] =
            gpu_reduce(update.instance & ~GPU_PARITY, update.first_item, next - update.first_item);
    }
    for (uint item = group_updates[0].first_item + thread; item < end; item += gl_WorkGroupSize.x) {
        uint found = find_update(item, count);
        gpu_update update = group_updates[found];
        out_frame_items(push.frame_items).at[item] =
            gpu_frame_item(group_meshes[found], update.instance, item - update.first_item);
    }
}
