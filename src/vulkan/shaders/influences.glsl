// SPDX-License-Identifier: MIT
// The blended matrix of a vertex from packed weights and joints. Include after the workgroup's size is declared.
#ifndef INFLUENCES_GLSL
#define INFLUENCES_GLSL

#include "memory.glsl"

const uint RUN_JOINTS = 32;    // most joints of a run's list
const uint EXTRA_STEPS = 65535; // of an extra influence's weight of one
const uint WIDE = 5;           // GPU_ITEM_INFLUENCES of more than four

shared vec4 run_rows[RUN_JOINTS * 3]; // the run's matrices

// Loads the matrices of the item's list, of which indices beyond the palette are its last matrix. All threads must call
// it, and wait for each other after it.
void load_run(gpu_instance instance, gpu_mesh mesh, gpu_item item)
{
    uint count = min(GPU_ITEM_JOINT_COUNT(item.joints), RUN_JOINTS) * 3;
    for (uint i = gl_LocalInvocationIndex; i < count; i += gl_WorkGroupSize.x) {
        uint entry = item.first_joint + i / 3;
        uint joint = uints(mesh.run_joints).at[entry / 2] >> entry % 2 * 16 & 0xFFFFu;
        run_rows[i] = vec4s(instance.palette).at[min(joint, instance.palette_count - 1) * 3 + i % 3];
    }
}

// The fraction of a float in [1, 2), that is bits * 2^-23, without a conversion.
float place(uint bits)
{
    precise float fraction = uintBitsToFloat(bits | 0x3F800000u) - 1.0;
    return fraction;
}

// As pelt_weights_decode, bit for bit: the implied weight is w.
vec4 decode_weights(uint encoding, uint code)
{
    uint a = code & 2047u;
    uint b = code >> 11 & 2047u;
    uint c = code >> 22;
    vec3 w;
    if (encoding == GPU_WEIGHTS_PLAIN) {
        w = vec3(place(a << 12), place(b << 12), place(c << 13));
    } else {
        w = vec3(place((a + ((a + 1) >> 11)) << 11), place(b << 11), place((c + ((c + 1) >> 10)) << 11));
    }
    precise float implied = 1.0 - ((w.x + w.y) + w.z);
    return vec4(w, implied);
}

// Fractions of 65535 without a division, which Vulkan rounds loosely: 1 / 65535 = 2^-16 + 2^-32 + 2^-48 + ... For x of
// up to 28 bits the sum is rounded once, but for 2^-15 of a spacing.
float divide_by_65535(uint x)
{
    const float step = 1.0 / 65536.0;
    float high = float(x & ~0xFFFu);
    float low = float(x & 0xFFFu);
    precise float whole = high + low;
    precise float error = low - (whole - high);
    precise float tail = (high * step + low * step * (1.0 + step)) + (high * step * step + error);
    precise float quotient = (whole + tail) * step;
    return quotient;
}

// A weight, a multiple of 2^-12, times share / 65535.
float scale_weight(float weight, uint share)
{
    precise float scaled = divide_by_65535(uint(weight * 4096.0) * share) * (1.0 / 4096.0);
    return scaled;
}

uvec4 read_joints(gpu_mesh mesh, gpu_item item, uint local)
{
    if (GPU_ITEM_LAYOUT(item.joints) == GPU_JOINTS_DIRECT16) {
        uint at = item.first_joint_word + local * 2;
        uvec2 words = uvec2(uints(mesh.joints).at[at], uints(mesh.joints).at[at + 1]);
        return uvec4(words & 0xFFFFu, words >> 16).xzyw;
    }
    uint word = uints(mesh.joints).at[(item.first_joint_word + local) * mesh.stride];
    return uvec4(word & 0xFFu, word >> 8 & 0xFFu, word >> 16 & 0xFFu, word >> 24);
}

mat3x4 palette_matrix(gpu_instance instance, uint joint)
{
    return matrices(instance.palette).at[min(joint, instance.palette_count - 1)];
}

mat3x4 joint_matrix(gpu_instance instance, gpu_item item, uint joint)
{
    if (GPU_ITEM_LAYOUT(item.joints) == GPU_JOINTS_RUN) {
        uint at = min(joint, min(GPU_ITEM_JOINT_COUNT(item.joints), RUN_JOINTS) - 1) * 3;
        return mat3x4(run_rows[at], run_rows[at + 1], run_rows[at + 2]);
    }
    return palette_matrix(instance, joint);
}

// Sum of weight times matrix; those of weight zero are never read, as a joint that nothing follows may hold anything.
// local counts from the item's first vertex. A lone influence is the implied weight, which is then one in both
// encodings: its matrix is taken as it is.
mat3x4 blend(gpu_instance instance, gpu_mesh mesh, gpu_item item, uint local)
{
    uvec4 joints = read_joints(mesh, item, local);
    if (GPU_ITEM_INFLUENCES(item.joints) == 1) {
        return joint_matrix(instance, item, joints.w);
    }
    vec4 weights = decode_weights(mesh.encoding, uints(mesh.weights).at[(item.first_vertex + local) * mesh.stride]);
    uvec2 extras = uvec2(0);
    if (GPU_ITEM_INFLUENCES(item.joints) >= WIDE && local >= item.wide_start) {
        uint entry = item.first_wide + (local - item.wide_start);
        extras = uvec2(uints(mesh.extra_offsets).at[entry], uints(mesh.extra_offsets).at[entry + 1]);
    }
    if (extras.x < extras.y) {
        uint sum = 0;
        for (uint i = extras.x; i < extras.y; i++) {
            sum += uints(mesh.extras).at[i] >> 16;
        }
        uint share = EXTRA_STEPS - min(sum, EXTRA_STEPS);
        for (int i = 0; i < 4; i++) {
            weights[i] = scale_weight(weights[i], share);
        }
    }
    mat3x4 m = mat3x4(0.0);
    if (weights.w != 0.0) {
        m = weights.w * joint_matrix(instance, item, joints.w);
    }
    if (weights.x != 0.0) {
        m += weights.x * joint_matrix(instance, item, joints.x);
    }
    if (weights.y != 0.0) {
        m += weights.y * joint_matrix(instance, item, joints.y);
    }
    if (weights.z != 0.0) {
        m += weights.z * joint_matrix(instance, item, joints.z);
    }
    for (uint i = extras.x; i < extras.y; i++) {
        uint extra = uints(mesh.extras).at[i];
        m += divide_by_65535(extra >> 16) * palette_matrix(instance, extra & 0xFFFFu);
    }
    return m;
}

#endif
