// SPDX-License-Identifier: MIT
// Values of packed morph targets, for what packs them, what unpacks them and what bounds them.
#ifndef PELTI_COOK_PACKED_H
#define PELTI_COOK_PACKED_H

#include <pelt/cook.h>

enum {
    TARGET_STEPS = 32767 // codes of a 16-bit displacement of one scale
};

// A 16-bit displacement; the product of code and scale is exact in double.
static inline float pelti_target_value(int16_t code, float scale)
{
    return (float)((double)code * (double)scale / (double)TARGET_STEPS);
}

static inline const void *pelti_target_stream(const pelt_cooked_target *target, uint32_t stream)
{
    return stream == 0 ? target->positions : stream == 1 ? target->normals : target->tangents;
}

// Row of a stream that is not NULL.
static inline void pelti_target_row(const pelt_cooked_target *target, uint32_t stream, uint32_t row, float out[3])
{
    const void *data = pelti_target_stream(target, stream);
    if (target->format & PELT_TARGET_16BIT) {
        const int16_t *codes = (const int16_t *)data + (uint64_t)row * 3;
        for (int c = 0; c < 3; c++) {
            out[c] = pelti_target_value(codes[c], target->scale[stream]);
        }
        return;
    }
    const float *values = (const float *)data + (uint64_t)row * 3;
    for (int c = 0; c < 3; c++) {
        out[c] = values[c];
    }
}

#endif
