// SPDX-License-Identifier: MIT
// Morph targets, linear blend skinning and exact boxes of any item; skin_runs.comp is faster for most. One workgroup an
// item, whose vertices its threads take in turns. Sums may be fused: that rounds less than the CPU's sums, and stays
// within the tolerance of 1e-6 that the two are compared with.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_KHR_shader_subgroup_arithmetic : require

#include "gpu_layout.h"

layout(local_size_x = GPU_SKIN_THREADS, local_size_x_id = 0) in;

#include "box.glsl"
#include "directions.glsl"
#include "influences.glsl"
#include "morph.glsl"
#include "octahedral.glsl"

layout(push_constant, scalar) uniform push_block
{
    gpu_skin_push push;
};

MEMORY(readonly, frame_items, gpu_frame_item, 16)

struct vertex {
    vec3 position;
    vec3 normal;
    vec3 tangent;
    uint tangent_sign;
};

vertex read_vertex(gpu_instance instance, gpu_mesh mesh, uint item, uint index, wanted_streams wanted)
{
    vertex v;
    v.position = read_position(mesh.positions, index);
    v.normal = vec3(0.0);
    v.tangent = vec3(0.0);
    v.tangent_sign = 0u;
    if (wanted.normals) {
        v.normal = normal_direction(uints(mesh.normals).at[index * mesh.stride]);
    }
    if (wanted.tangents) {
        uint code = uints(mesh.tangents).at[index * mesh.stride];
        v.tangent = tangent_direction(code);
        v.tangent_sign = code & TANGENT_SIGN;
    }
    if (instance.morph_count > 0) { // displacements are those of unit vectors; nothing else minds the length
        v.normal *= wanted.normals ? inversesqrt(dot(v.normal, v.normal)) : 1.0;
        v.tangent *= wanted.tangents ? inversesqrt(dot(v.tangent, v.tangent)) : 1.0;
        add_morphs(instance, mesh, item, index, wanted, v.position, v.normal, v.tangent);
    }
    return v;
}

// The translation comes last: it is mostly the largest term, and what it swallows is then swallowed once. A zero is
// always +0, made so on bits, as adding +0 is what compilers drop: boxes must not depend on the order of vertices.
uvec3 transform_point(mat3x4 m, vec3 p)
{
    vec3 moved;
    for (int i = 0; i < 3; i++) {
        moved[i] = ((m[i].x * p.x + m[i].y * p.y) + m[i].z * p.z) + m[i].w;
    }
    uvec3 bits = floatBitsToUint(moved);
    return mix(bits, uvec3(0), equal(bits, uvec3(0x80000000u)));
}

// number: of the item in the mesh.
keyed_box skin_item(gpu_instance instance, gpu_mesh mesh, gpu_item item, uint number, uint parity)
{
    wanted_streams wanted = wanted_streams(exists(mesh.normals) && exists(instance.normals),
                                           exists(mesh.tangents) && exists(instance.tangents));
    bool has_directions = wanted.normals || wanted.tangents;
    bool is_rigid = (instance.flags & GPU_INSTANCE_RIGID) != 0u || GPU_ITEM_LAYOUT(item.joints) == GPU_JOINTS_NONE;
    mat3x4 m;
    direction_frame frame;
    if (is_rigid) {
        m = palette_matrix(instance, 0);
        frame = make_frame(m);
    } else if (GPU_ITEM_LAYOUT(item.joints) == GPU_JOINTS_RUN) {
        load_run(instance, mesh, item);
        barrier();
    }
    uvec2 positions = parity == 0u ? instance.positions[0] : instance.positions[1];
    keyed_box box = box_empty();
    for (uint i = gl_LocalInvocationIndex; i < item.vertex_count; i += gl_WorkGroupSize.x) {
        uint index = item.first_vertex + i;
        vertex v = read_vertex(instance, mesh, number, index, wanted);
        if (!is_rigid) {
            m = blend(instance, mesh, item, i);
        }
        uvec3 position = transform_point(m, v.position);
        out_uvec3s(positions).at[index] = position;
        box_add_point(box, position);
        if (!is_rigid && has_directions) {
            frame = make_frame(m);
        }
        if (wanted.normals) {
            out_uints(instance.normals).at[index] = normal_pack(skin_normal(m, frame, v.normal, push.three));
        }
        if (wanted.tangents) {
            uint code = tangent_pack(skin_tangent(m, frame, v.tangent, push.three), v.tangent_sign);
            out_uints(instance.tangents).at[index] = code;
        }
    }
    return box;
}

void main()
{
    uint group = group_index(push.group_columns);
    if (group >= push.group_count) {
        return;
    }
    gpu_frame_item frame_item = frame_items(push.frame_items).at[group];
    uint slot = frame_item.instance & ~GPU_PARITY;
    gpu_instance instance = instances(push.instances).at[slot];
    gpu_mesh mesh = meshes(frame_item.mesh).mesh;
    gpu_item item = meshes(frame_item.mesh).items[frame_item.item];
    keyed_box box = skin_item(instance, mesh, item, frame_item.item, (frame_item.instance ^ push.parity) >> 31);
    if ((instance.flags & GPU_INSTANCE_EXACT) != 0u) {
        bool is_whole = mesh.item_count == 1;
        box_store(box, is_whole ? push.boxes : push.partials, is_whole ? slot : group);
    }
}
