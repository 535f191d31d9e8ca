// SPDX-License-Identifier: MIT
// Skinning matrices: world_from_joint times joint_from_bind, as exact as a float can be. One workgroup a palette, one
// thread a row, so that those of few joints keep their threads busy.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require

#include "compensated.glsl"
#include "memory.glsl"

layout(local_size_x = GPU_PALETTE_THREADS, local_size_x_id = 0) in;

layout(push_constant, scalar) uniform push_block
{
    gpu_palette_push push;
};

MEMORY(readonly, palette_updates, gpu_palette_update, 4)
MEMORY(readonly, palettes, gpu_palette, 4)

// Replaces terms by others of the same sum: the last is the largest part, the rest are its rounding errors. Loops
// are written out, as glslc forgets "precise" where it unrolls one.
void carry(inout vec4 terms[7])
{
    two_sum(terms[1], terms[0], terms[1], terms[0]);
    two_sum(terms[2], terms[1], terms[2], terms[1]);
    two_sum(terms[3], terms[2], terms[3], terms[2]);
    two_sum(terms[4], terms[3], terms[4], terms[3]);
    two_sum(terms[5], terms[4], terms[5], terms[4]);
    two_sum(terms[6], terms[5], terms[6], terms[5]);
}

// The sum within one float spacing of the exact one, unless its terms cancel by more than 2^40 (SumK with K = 3).
vec4 sum_terms(vec4 terms[7])
{
    carry(terms);
    carry(terms);
    precise vec4 rest = ((((terms[0] + terms[1]) + terms[2]) + terms[3]) + terms[4]) + terms[5];
    precise vec4 sum = terms[6] + rest;
    return sum;
}

// One row of the product. Splitting overflows near the end of the floats; there the plain product has to do.
vec4 multiply_row(vec4 row, mat3x4 bind)
{
    vec4 translation = vec4(0.0, 0.0, 0.0, row.w);
    vec4 terms[7];
    two_product(vec4(row.x), bind[0], terms[3], terms[0]);
    two_product(vec4(row.y), bind[1], terms[4], terms[1]);
    two_product(vec4(row.z), bind[2], terms[5], terms[2]);
    terms[6] = translation;
    vec4 exact = sum_terms(terms);
    vec4 plain = ((row.x * bind[0] + row.y * bind[1]) + row.z * bind[2]) + translation;
    const uvec4 exponent = uvec4(0x7F800000u);
    return mix(exact, plain, equal(floatBitsToUint(exact) & exponent, exponent));
}

void main()
{
    uint group = group_index(push.group_columns);
    if (group >= push.update_count) {
        return;
    }
    gpu_palette_update update = palette_updates(push.updates).at[group];
    gpu_palette palette = palettes(push.palettes).at[update.palette];
    for (uint i = gl_LocalInvocationIndex; i < palette.joint_count * 3u; i += gl_WorkGroupSize.x) {
        vec4 world = vec4s(update.worlds).at[i];
        out_vec4s(palette.matrices).at[i] = multiply_row(world, matrices(palette.binds).at[i / 3u]);
        if (exists(palette.worlds)) {
            out_vec4s(palette.worlds).at[i] = world;
        }
    }
}
