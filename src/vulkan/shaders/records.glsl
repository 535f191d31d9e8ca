// SPDX-License-Identifier: MIT
// What a workgroup of skin_runs.comp has to know of its item, from the records that a list names or from the list
// alone. Include after the push constants, which have the instances.
#ifndef RECORDS_GLSL
#define RECORDS_GLSL

#include "memory.glsl"

MEMORY(readonly, frame_items, gpu_frame_item, 16)
MEMORY(readonly, full_items, gpu_full_item, 16)

// All that is read of the records of one item.
struct records {
    uint instance_index; // with GPU_PARITY
    gpu_instance instance;
    gpu_mesh mesh;
    gpu_item item;
};

records read_records(uvec2 list, uint group)
{
    records r;
    gpu_frame_item frame_item = frame_items(list).at[group];
    r.instance_index = frame_item.instance;
    r.instance = instances(push.instances).at[frame_item.instance & ~GPU_PARITY];
    r.mesh = meshes(frame_item.mesh).mesh;
    r.item = meshes(frame_item.mesh).items[frame_item.item];
    return r;
}

// Units of 64 bytes, with a sign, further.
uvec2 advance(uvec2 address, uint units)
{
    uint carry;
    uint low = uaddCarry(address.x, units << GPU_UNIT_SHIFT, carry);
    return uvec2(low, address.y + uint(int(units) >> int(32u - GPU_UNIT_SHIFT)) + carry);
}

// The same from a full item. Only where the run's joints are not consecutive, its list has to be found.
records read_full_item(uvec2 list, uint group)
{
    records r;
    gpu_full_item full = full_items(list).at[group];
    r.instance_index = full.instance;
    r.instance.palette = full.palette;
    r.instance.palette_count = (full.joints >> 16) + 1u;
    r.instance.flags = full.counts >> 16;
    r.instance.positions[0] = full.outputs;
    r.instance.positions[1] = advance(full.outputs, full.positions);
    r.instance.normals = advance(full.outputs, full.normals);
    r.instance.tangents = advance(full.outputs, full.tangents);
    r.mesh.positions = advance(full.mesh, full.mesh_positions);
    r.mesh.vertices = advance(full.mesh, full.mesh_vertices);
    r.mesh.item_count = (r.instance.flags & GPU_INSTANCE_WHOLE) != 0u ? 1u : 2u;
    r.mesh.streams = (full.normals != 0u ? GPU_STREAM_NORMALS : 0u) | (full.tangents != 0u ? GPU_STREAM_TANGENTS : 0u);
    r.item.first_vertex = full.first_vertex;
    r.item.vertex_count = full.counts & 0xFFFFu;
    r.item.joints = GPU_ITEM_JOINTS(full.joints & 0xFFFFu, GPU_JOINTS_RUN, 0u);
    r.item.joint_base = full.joint_base;
    if ((full.joint_base & GPU_LISTED) != 0u) {
        r.item.joint_base = GPU_NO_BASE;
        r.item.first_joint = meshes(full.mesh).items[full.joint_base & ~GPU_LISTED].first_joint;
        r.mesh.run_joints = meshes(full.mesh).mesh.run_joints;
    }
    return r;
}

#endif
