// SPDX-License-Identifier: MIT
// The skin pass for what most vertices are: items of joint runs, or of one matrix, at most four influences in the
// sorted encoding, no morphs; positions and directions are what skin.comp makes of them. docs/vulkan.md says why it is
// made as it is.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_spirv_intrinsics : require
#extension GL_KHR_shader_subgroup_arithmetic : require

#include "gpu_layout.h"

layout(local_size_x = GPU_SKIN_THREADS, local_size_x_id = 0) in;

// Every instance has normals and tangents: nothing asks for each vertex whether it does.
layout(constant_id = 1) const bool WITH_DIRECTIONS = false;
// Two vertices of each thread are on their way at any time, else one. Two are best where threads have many vertices,
// one is where all items run at once.
layout(constant_id = 2) const bool IN_PAIRS = true;
// The list says all of an item, so that no record is read.
layout(constant_id = 3) const bool FROM_FULL_ITEMS = false;
// Several workgroups may share an item.
layout(constant_id = 4) const bool IN_PARTS = false;

#include "box.glsl"
#include "directions.glsl"
#include "influences.glsl"
#include "octahedral_fast.glsl"

layout(push_constant, scalar) uniform push_block
{
    gpu_skin_push push;
};

#include "records.glsl"

MEMORY(readonly, uvec4s, uvec4, 16)
MEMORY(, own_uvec3s, uvec3, 4)

// Minimum and maximum that are NaN only where both are.
spirv_instruction(set = "GLSL.std.450", id = 79) float number_min(float a, float b);
spirv_instruction(set = "GLSL.std.450", id = 80) float number_max(float a, float b);

const uint SMALLEST_NORMAL = 0x00800000u; // bits of the smallest float that is not subnormal

shared uint subgroup_sizes[gl_WorkGroupSize.x / 4];

// What all vertices of an item share.
struct work {
    uvec2 positions;
    uvec2 vertices;
    uvec2 out_positions;
    uvec2 out_normals;
    uvec2 out_tangents;
    uint first;
    uint count; // at least 1
    bool has_normals;
    bool has_tangents;
    bool has_box;
    uint joint_mask; // of the four indices of a vertex
    uint weight_mask;
    float sure_normal; // directions whose sum of sizes is larger are good
    float sure_tangent;
};

// Of one thread, which takes the vertices with its own index, that plus the number of threads, and so on.
struct state {
    vec3 low;
    vec3 high;
    uint unsure; // bit i: directions of its vertex i have to be mended
    uint bit;    // of the next one
};

struct vertex {
    vec3 position;
    uvec4 rest; // normal, tangent, weights, joints
};

mat3x4 run_matrix(uint index)
{
    uint at = index * 3;
    return mat3x4(run_rows[at], run_rows[at + 1], run_rows[at + 2]);
}

// Weights fall from the first to the third, so none is left behind one of zero. The code of a lone influence is 0, its
// weight the implied one: exactly 1.
mat3x4 blend_sorted(uint joints, uint code)
{
    float x = 0.0;
    float y = 0.0;
    float z = 0.0;
    float implied = 1.0;
    if (code != 0u) {
        uint a = code & 2047u;
        uint c = code >> 22;
        x = place((a + ((a + 1u) >> 11)) << 11);
        y = place(code & 0x3FF800u);
        z = place((c + ((c + 1u) >> 10)) << 11);
        precise float rest = 1.0 - ((x + y) + z);
        implied = rest;
    }
    mat3x4 m = implied * run_matrix(joints >> 24);
    if (code != 0u) {
        m += x * run_matrix(joints & 0xFFu);
        if (code >= 0x800u) {
            m += y * run_matrix(joints >> 8 & 0xFFu);
            if (code >= 0x400000u) {
                m += z * run_matrix(joints >> 16 & 0xFFu);
            }
        }
    }
    return m;
}

vertex fetch(work w, uint i)
{
    uint index = w.first + i;
    return vertex(read_position(w.positions, index), uvec4s(w.vertices).at[index]);
}

mat3x4 vertex_matrix(work w, vertex v)
{
    return blend_sorted(v.rest.w & w.joint_mask, v.rest.z & w.weight_mask);
}

// Of three numbers of which some may be NaN.
void add_point(inout state s, vec3 p)
{
    s.low = vec3(number_min(s.low.x, p.x), number_min(s.low.y, p.y), number_min(s.low.z, p.z));
    s.high = vec3(number_max(s.high.x, p.x), number_max(s.high.y, p.y), number_max(s.high.z, p.z));
}

// i: in the item.
void skin_vertex(work w, vertex v, uint i, inout state s)
{
    mat3x4 m = vertex_matrix(w, v);
    vec3 moved;
    moved.x = ((m[0].x * v.position.x + m[0].y * v.position.y) + m[0].z * v.position.z) + m[0].w;
    moved.y = ((m[1].x * v.position.x + m[1].y * v.position.y) + m[1].z * v.position.z) + m[1].w;
    moved.z = ((m[2].x * v.position.x + m[2].y * v.position.y) + m[2].z * v.position.z) + m[2].w;
    moved += push.zero;
    if (w.has_box) {
        add_point(s, moved);
    }
    uint index = w.first + i;
    out_uvec3s(w.out_positions).at[index] = floatBitsToUint(moved);
    bool is_sure = true;
    if (w.has_normals) {
        vec3 from = normal_direction_fast(v.rest.x);
        vec3 a = cross(m[1].xyz, m[2].xyz);
        vec3 b = cross(m[2].xyz, m[0].xyz);
        vec3 c = cross(m[0].xyz, m[1].xyz);
        vec3 n = vec3(dot(a, from), dot(b, from), dot(c, from));
        float size = sum_of_sizes(n);
        is_sure = size > w.sure_normal;
        out_uints(w.out_normals).at[index] = normal_pack_fast(n, size);
    }
    if (w.has_tangents) {
        vec3 from = tangent_direction_fast(v.rest.y);
        vec3 t = vec3(dot(m[0].xyz, from), dot(m[1].xyz, from), dot(m[2].xyz, from));
        float size = sum_of_sizes(t);
        is_sure = is_sure && size > w.sure_tangent;
        out_uints(w.out_tangents).at[index] = tangent_pack_fast(t, size, v.rest.y & TANGENT_SIGN);
    }
    s.unsure |= is_sure ? 0u : s.bit;
    s.bit <<= 1;
}

// Vertices are on their way from memory while others are worked on.
state skin_all(work w, vertex even, vertex odd)
{
    const float infinity = uintBitsToFloat(INFINITY_BITS);
    const uint step = gl_WorkGroupSize.x;
    state s = state(vec3(infinity), vec3(-infinity), 0u, 1u);
    uint i = gl_LocalInvocationIndex;
    while (!IN_PAIRS && i < w.count) {
        vertex v = even;
        even = fetch(w, min(i + step, w.count - 1u));
        skin_vertex(w, v, i, s);
        i += step;
    }
    while (IN_PAIRS && i < w.count) {
        skin_vertex(w, even, i, s);
        if (i + step * 2u < w.count) {
            even = fetch(w, i + step * 2u);
        }
        i += step;
        if (i < w.count) {
            skin_vertex(w, odd, i, s);
            if (i + step * 2u < w.count) {
                odd = fetch(w, i + step * 2u);
            }
        }
        i += step;
    }
    return s;
}

bool is_tiny(float a)
{
    return (floatBitsToUint(a) & MAGNITUDE_BITS) < SMALLEST_NORMAL;
}

// Keys of the box. A device may take subnormal numbers for zeros when it compares floats: where an end of the box is
// so small, it is taken once more, over integers, from the positions as this thread wrote them.
keyed_box exact_box(work w, state s)
{
    bool is_doubtful = is_tiny(s.low.x) || is_tiny(s.low.y) || is_tiny(s.low.z) || is_tiny(s.high.x) ||
                       is_tiny(s.high.y) || is_tiny(s.high.z);
    if (!is_doubtful) {
        return keyed_box(key_of(floatBitsToUint(s.low)), ~key_of(floatBitsToUint(s.high)));
    }
    keyed_box box = box_empty();
    for (uint i = gl_LocalInvocationIndex; i < w.count; i += gl_WorkGroupSize.x) {
        box_add_point(box, own_uvec3s(w.out_positions).at[w.first + i]);
    }
    return box;
}

// The next vertex that unsure has a bit for, which is taken away; false: there is none.
bool next_unsure(work w, inout uint unsure, out uint i)
{
    i = gl_LocalInvocationIndex + gl_WorkGroupSize.x * uint(findLSB(unsure));
    bool is_one = unsure != 0u && i < w.count;
    unsure &= unsure - 1u;
    return is_one;
}

// Directions that are not sure, once more with care. One loop for each kind: together they would need more registers
// than all the rest.
void mend_directions(work w, uint unsure)
{
    uint i;
    uint left = w.has_normals ? unsure : 0u;
    while (next_unsure(w, left, i)) {
        vertex v = fetch(w, i);
        mat3x4 m = vertex_matrix(w, v);
        vec3 n = skin_normal(m, make_frame(m), normal_direction_fast(v.rest.x), push.three);
        out_uints(w.out_normals).at[w.first + i] = normal_pack_fast(n, sum_of_sizes(n));
    }
    left = w.has_tangents ? unsure : 0u;
    while (next_unsure(w, left, i)) {
        vertex v = fetch(w, i);
        mat3x4 m = vertex_matrix(w, v);
        vec3 t = skin_tangent(m, make_frame(m), tangent_direction_fast(v.rest.y), push.three);
        uint code = tangent_pack_fast(t, sum_of_sizes(t), v.rest.y & TANGENT_SIGN);
        out_uints(w.out_tangents).at[w.first + i] = code;
    }
}

// Row i of the run's matrices; zeros past the last of count.
vec4 load_row(gpu_instance instance, gpu_mesh mesh, gpu_item item, uint most, uint count, uint i)
{
    if (i >= count) {
        return vec4(0.0);
    }
    uint slot = min(i / 3u, most);
    uint joint = item.joint_base + slot;
    if (item.joint_base == GPU_NO_BASE) {
        uint entry = item.first_joint + slot;
        joint = uints(mesh.run_joints).at[entry / 2u] >> entry % 2u * 16u & 0xFFFFu;
    }
    return vec4s(instance.palette).at[min(joint, instance.palette_count - 1u) * 3u + i % 3u];
}

// Keeps the row and returns the square of its length, as bits.
uint keep_row(uint i, uint count, vec4 row)
{
    if (i < count) {
        run_rows[i] = row;
    }
    return floatBitsToUint(dot(row.xyz, row.xyz));
}

// count rows into shared memory; returns the largest square of a length. The loads of two come first, so that they wait
// for memory together.
uint load_matrices(gpu_instance instance, gpu_mesh mesh, gpu_item item, uint most, uint count)
{
    uint i = gl_LocalInvocationIndex;
    vec4 first = load_row(instance, mesh, item, most, count, i);
    vec4 second = load_row(instance, mesh, item, most, count, i + gl_WorkGroupSize.x);
    uint size = keep_row(i, count, first);
    size = max(size, keep_row(i + gl_WorkGroupSize.x, count, second));
    for (i += gl_WorkGroupSize.x * 2u; i < count; i += gl_WorkGroupSize.x) {
        size = max(size, keep_row(i, count, load_row(instance, mesh, item, most, count, i)));
    }
    return size;
}

// The same for all threads, which must all call it.
uint group_max(uint value)
{
    value = subgroupMax(value);
    if (gl_NumSubgroups == 1u) {
        barrier(); // for the matrices
        return value;
    }
    if (subgroupElect()) {
        subgroup_sizes[gl_SubgroupID] = value;
    }
    barrier();
    for (uint i = 0u; i < gl_NumSubgroups; i++) {
        value = max(value, subgroup_sizes[i]);
    }
    return value;
}

// Matrices into shared memory, and what they say about directions: no row of a blended matrix is longer than the
// longest of its joints', and bound is at least the sum of the squares of all three. As in is_sure, a direction is good
// that is longer than 2^-5 of what its terms can come to. The sum of sizes is at most sqrt(3) times the length; the
// squared terms of a cofactor come to at most bound * bound / 3.
void prepare_matrices(gpu_instance instance, gpu_mesh mesh, gpu_item item, inout work w)
{
    bool is_rigid = (instance.flags & GPU_INSTANCE_RIGID) != 0u || GPU_ITEM_LAYOUT(item.joints) == GPU_JOINTS_NONE;
    if (is_rigid) {
        item.joint_base = 0u;
    }
    uint most = is_rigid ? 0u : min(GPU_ITEM_JOINT_COUNT(item.joints), RUN_JOINTS) - 1u;
    uint mask = most == 0u ? 0u : (2u << findMSB(most)) - 1u;
    w.joint_mask = mask * 0x01010101u;
    w.weight_mask = is_rigid ? 0u : ~0u;
    uint size = group_max(load_matrices(instance, mesh, item, most, (mask + 1u) * 3u));
    float bound = 3.0 * uintBitsToFloat(size);
    bool in_range = bound > 1e-15 && bound < 1e15;
    w.sure_normal = in_range ? bound * (float(LIMIT_16) / 32.0) : uintBitsToFloat(INFINITY_BITS);
    w.sure_tangent = in_range ? sqrt(3.0 * bound) * (1.0 / 32.0) : uintBitsToFloat(INFINITY_BITS);
}

keyed_box skin_item(gpu_instance instance, gpu_mesh mesh, gpu_item item, uint parity, bool has_box)
{
    work w;
    w.positions = mesh.positions;
    w.vertices = mesh.vertices;
    w.out_positions = parity == 0u ? instance.positions[0] : instance.positions[1];
    w.out_normals = instance.normals;
    w.out_tangents = instance.tangents;
    w.first = item.first_vertex;
    w.count = item.vertex_count;
    w.has_normals = WITH_DIRECTIONS || ((mesh.streams & GPU_STREAM_NORMALS) != 0u && exists(instance.normals));
    w.has_tangents = WITH_DIRECTIONS || ((mesh.streams & GPU_STREAM_TANGENTS) != 0u && exists(instance.tangents));
    w.has_box = has_box;
    uint last = w.count - 1u;
    vertex even = fetch(w, min(gl_LocalInvocationIndex, last));
    vertex odd = even;
    if (IN_PAIRS) {
        odd = fetch(w, min(gl_LocalInvocationIndex + gl_WorkGroupSize.x, last));
    }
    prepare_matrices(instance, mesh, item, w);
    state s = skin_all(w, even, odd);
    mend_directions(w, s.unsure);
    return exact_box(w, s);
}

// Reads what a workgroup far behind begins with, so that its addresses have been translated by then: whoever comes
// first to a page of memory that was not in use lately has to wait. Inputs only, as others write the outputs. push.zero
// keeps compilers from dropping the load.
void touch_ahead(uint group)
{
    uint later = group + push.ahead;
    if (group % GPU_TOUCH_EACH == 0u && later < push.group_count && gl_LocalInvocationIndex < 2u) {
        gpu_full_item item = full_items(push.frame_items).at[later];
        bool is_palette = gl_LocalInvocationIndex == 0u;
        uint value = uints(is_palette ? item.palette : advance(item.mesh, item.mesh_vertices)).at[0];
        if ((value & floatBitsToUint(push.zero)) != 0u) {
            out_uints(push.partials).at[0] = value;
        }
    }
}

// Makes the item what its workgroup number part has of it: a multiple of GPU_PART vertices, the rest, or nothing.
void take_part(uint part, inout gpu_item item)
{
    uint unit = GPU_PART << push.split;
    uint size = (item.vertex_count + unit - 1u) / unit * GPU_PART;
    uint first = min(part * size, item.vertex_count);
    item.first_vertex += first;
    item.vertex_count = min(size, item.vertex_count - first);
}

void main()
{
    uint group = group_index(push.group_columns);
    if (group >= push.group_count) {
        return;
    }
    records r;
    if (FROM_FULL_ITEMS) {
        r = read_full_item(push.frame_items, group);
        touch_ahead(group);
    } else {
        r = read_records(push.frame_items, IN_PARTS ? group >> push.split : group);
    }
    bool is_whole = r.mesh.item_count == 1u;
    uint part = IN_PARTS ? group & ((1u << push.split) - 1u) : 0u;
    if (is_whole && part > 0u) { // its box is not united with others, so that one workgroup has all of it
        return;
    }
    if (IN_PARTS && !is_whole) {
        take_part(part, r.item);
    }
    bool has_box = (r.instance.flags & GPU_INSTANCE_EXACT) != 0u;
    keyed_box box = box_empty();
    if (r.item.vertex_count > 0u) {
        box = skin_item(r.instance, r.mesh, r.item, (r.instance_index ^ push.parity) >> 31, has_box);
    }
    if (has_box) {
        box_store(box, is_whole ? push.boxes : push.partials, is_whole ? r.instance_index & ~GPU_PARITY : group);
    }
}
