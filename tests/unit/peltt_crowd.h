// SPDX-License-Identifier: MIT
// Instances of one random asset for tests of skeletons: local transforms of their own, palettes beside guard pages.
#ifndef PELTT_CROWD_H
#define PELTT_CROWD_H

#include "peltt_asset.h"

#include <pelt/palette.h>

typedef struct peltt_crowd {
    const pelt_asset *asset;
    pelt_skeleton *skeleton;
    uint32_t instance_count;
    uint32_t matrix_count;
    bool at_end;  // what is read and written touches a page that cannot be, behind or before
    size_t shift; // floats that palettes lie off a multiple of 64 bytes, by turns: in 4x4 only those at 0 are streamed
    pelt_locals *locals;
    float **palettes; // matrix_count x 16 floats each
    pelt_skeleton_instance *instances;
    pelt_palette_format format;
} peltt_crowd;

typedef struct peltt_crowd_shape {
    uint32_t instance_count;
    double flag_share;   // of instances that say which nodes use a matrix
    double matrix_share; // of their nodes, any of which may
    bool at_end;
} peltt_crowd_shape;

// Every array of transforms, flags and matrices is of exactly the size that palette.h states, alone in its pages.
void peltt_crowd_init(peltt_crowd *crowd, const pelt_asset *asset, const pelt_skeleton_options *options,
                      const peltt_crowd_shape *shape, peltt_random *random);
void peltt_crowd_destroy(peltt_crowd *crowd);
// Palettes of that format; fills them with a pattern.
void peltt_crowd_clear(peltt_crowd *crowd, pelt_palette_format format);
// The test fails unless that works.
void peltt_crowd_evaluate(peltt_crowd *crowd, pelt_precision precision, pelt_isa isa, uint32_t disabled_isas);
// The bytes of one palette.
size_t peltt_crowd_palette_size(const peltt_crowd *crowd);

#endif
