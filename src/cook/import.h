// SPDX-License-Identifier: MIT
// Between import.c and import_mesh.c.
#ifndef PELTI_COOK_IMPORT_H
#define PELTI_COOK_IMPORT_H

#include "cook/reader.h"

#include <pelt/builder.h>

// node_count indices each, to be filled.
typedef struct import_places {
    uint32_t *children;
    uint32_t *roots;
} import_places;

typedef struct cook_import {
    const pelt_cooked *cooked;
    pelt_builder *builder;
    import_places *places;
} cook_import;

// False when the builder has no memory: its status says why.
bool pelti_cooked_import_meshes(const cook_import *import, pelt_builder_scene *scene);

#endif
