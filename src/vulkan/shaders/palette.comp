// SPDX-License-Identifier: MIT
// Skinning matrices: world_from_joint times joint_from_bind, rounded once or nearly so. A thread a row, for as
// many palettes in a workgroup as keep all of its threads busy.
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

// One row of the product (Dot2 of compensated.glsl's source): within one float spacing of the exact one and 2^-44 of
// its terms. Where those leave the range of floats, or a factor is as large as 2^128 - 2^115, it is their plain sum,
// which may be infinite or not a number.
vec4 multiply_row(vec4 row, mat3x4 bind)
{
    vec4 products[3];
    vec4 product_errors[3];
    two_product(vec4(row.x), bind[0], products[0], product_errors[0]);
    two_product(vec4(row.y), bind[1], products[1], product_errors[1]);
    two_product(vec4(row.z), bind[2], products[2], product_errors[2]);
    vec4 sum;
    vec4 errors[3];
    two_sum(products[0], products[1], sum, errors[0]);
    two_sum(sum, products[2], sum, errors[1]);
    two_sum(sum, vec4(0.0, 0.0, 0.0, row.w), sum, errors[2]);
    precise vec4 product_error = (product_errors[0] + product_errors[1]) + product_errors[2];
    precise vec4 error = product_error + ((errors[0] + errors[1]) + errors[2]);
    precise vec4 mended = sum + error;
    const uvec4 exponent = uvec4(0x7F800000u);
    return mix(mended, sum, equal(floatBitsToUint(error) & exponent, exponent));
}

void main()
{
    uint number = group_index(push.group_columns) * (gl_WorkGroupSize.x / push.threads);
    number += gl_LocalInvocationIndex / push.threads;
    if (number >= push.update_count) {
        return;
    }
    gpu_palette_update update = palette_updates(push.updates).at[number];
    for (uint i = gl_LocalInvocationIndex % push.threads; i < update.joint_count * 3u; i += push.threads) {
        vec4 world = vec4s(update.worlds).at[i];
        out_vec4s(update.matrices).at[i] = multiply_row(world, matrices(update.binds).at[i / 3u]);
        if (exists(update.kept_worlds)) {
            out_vec4s(update.kept_worlds).at[i] = world;
        }
    }
}
