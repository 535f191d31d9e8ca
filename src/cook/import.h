// SPDX-License-Identifier: MIT
// Between import.c and import_mesh.c.
#ifndef PELTI_COOK_IMPORT_H
#define PELTI_COOK_IMPORT_H

#include "cook/reader.h"

#include <pelt/builder.h>

typedef struct cook_import {
    const pelt_cooked *cooked;
    pelt_builder *builder;
    const char *strings; // STRS as the asset's: names may share text, of which a copy each could fill any memory
} cook_import;

// False when the builder has no memory: its status says why.
bool pelti_cooked_import_meshes(const cook_import *import, pelt_builder_scene *scene);

#endif
