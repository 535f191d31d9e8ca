// SPDX-License-Identifier: MIT
// A mesh posed and skinned by the library and what `pelt verify` finds of it, for outputs that tests put faults into.
#ifndef PELTT_VERIFY_H
#define PELTT_VERIFY_H

#include "peltt_vk_model.h"

#include "verify.h"

enum {
    PELTT_VERIFY_VERTICES = 200,
    PELTT_VERIFY_JOINTS = 6
};

typedef struct peltt_verify {
    peltt_vk_model *packed;
    cli_context context;
    verify_model model;
    verify_item item;
    pelt_palette_item palette;
    pelt_mat34 matrices[PELTT_VERIFY_JOINTS];
    verify_reach reach;
    verify_output reference;
    verify_output output; // the reference's, until a test changes it
    float positions[2][PELTT_VERIFY_VERTICES * 3];
    float normals[2][PELTT_VERIFY_VERTICES * 3];
    float tangents[2][PELTT_VERIFY_VERTICES * 4];
    uint32_t packed_normals[PELTT_VERIFY_VERTICES];
    uint32_t packed_tangents[PELTT_VERIFY_VERTICES];
    uint64_t hashes[1][2];
    verify_figures figures;
    verify_track track;
    double scale; // of the posed primitive, as docs/accuracy.md defines it
} peltt_verify;

// Equal outputs, as after the first update of a device.
peltt_verify *peltt_verify_make_seeded(uint64_t seed);
peltt_verify *peltt_verify_make(void);
void peltt_verify_destroy(peltt_verify *b);
// Fills figures.
void peltt_verify_compare(peltt_verify *b);
// How many of a check failed.
uint64_t peltt_verify_failed(const peltt_verify *b, verify_check check);
// Fails the test unless that check alone failed, so many times; with VERIFY_CHECKS and 0, none.
void peltt_verify_only(const peltt_verify *b, verify_check check, uint64_t count);

// What verify_model_in_range says; true after each make.
extern bool peltt_verify_in_range;

#endif
