// SPDX-License-Identifier: MIT
// How matrices are written by the vector types of lanes.h.
#ifndef PELTI_MATRIX_STORE_H
#define PELTI_MATRIX_STORE_H

typedef enum pelti_matrix_store {
    PELTI_STORE_3X4,
    PELTI_STORE_4X4,
    PELTI_STORE_4X4_STREAMED // past the caches, where the type "streams"; aligned to 64
} pelti_matrix_store;

#endif
