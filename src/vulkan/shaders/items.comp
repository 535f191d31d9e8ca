// SPDX-License-Identifier: MIT
// Lists what each workgroup of the skin pass does: every item of every updated instance, the first of them in full.
// A workgroup takes as many instances as it has threads, and its threads share all their items, however unevenly these
// are spread.
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
MEMORY(writeonly, out_full_items, gpu_full_item, 16)
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

// How far an address lies from another, in units of 64 bytes, with a sign; 0 where there is none.
uint units_between(uvec2 from, uvec2 address)
{
    if (!exists(address)) {
        return 0u;
    }
    uint borrow;
    uint low = usubBorrow(address.x, from.x, borrow);
    return low >> GPU_UNIT_SHIFT | (address.y - from.y - borrow) << (32u - GPU_UNIT_SHIFT);
}

// instance_index: with GPU_PARITY. number: of the mesh's items.
gpu_full_item full_item(uint instance_index, uint number)
{
    gpu_instance instance = instances(push.instances).at[instance_index & ~GPU_PARITY];
    gpu_mesh mesh = meshes(instance.mesh).mesh;
    gpu_item item = meshes(instance.mesh).items[number];
    bool is_rigid = (instance.flags & GPU_INSTANCE_RIGID) != 0u || GPU_ITEM_LAYOUT(item.joints) == GPU_JOINTS_NONE;
    uint flags = (instance.flags & GPU_INSTANCE_EXACT) | (is_rigid ? GPU_INSTANCE_RIGID : 0u) |
                 (mesh.item_count == 1u ? GPU_INSTANCE_WHOLE : 0u);
    bool has_normals = (mesh.streams & GPU_STREAM_NORMALS) != 0u;
    bool has_tangents = (mesh.streams & GPU_STREAM_TANGENTS) != 0u;
    gpu_full_item full;
    full.palette = instance.palette;
    full.mesh = instance.mesh;
    full.outputs = instance.positions[0];
    full.mesh_positions = units_between(instance.mesh, mesh.positions);
    full.mesh_vertices = units_between(instance.mesh, mesh.vertices);
    full.positions = units_between(instance.positions[0], instance.positions[1]);
    full.normals = has_normals ? units_between(instance.positions[0], instance.normals) : 0u;
    full.tangents = has_tangents ? units_between(instance.positions[0], instance.tangents) : 0u;
    full.instance = instance_index;
    full.first_vertex = item.first_vertex;
    full.counts = item.vertex_count | flags << 16;
    full.joints = GPU_ITEM_JOINT_COUNT(item.joints) | (instance.palette_count - 1u) << 16;
    full.joint_base = item.joint_base == GPU_NO_BASE ? number | GPU_LISTED : item.joint_base;
    return full;
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
        uint number = item - update.first_item;
        if (item < push.full_count) {
            out_full_items(push.full_items).at[item] = full_item(update.instance, number);
        } else {
            out_frame_items(push.frame_items).at[item] = gpu_frame_item(group_meshes[found], update.instance, number);
        }
    }
}
