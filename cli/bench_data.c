// SPDX-License-Identifier: MIT
// Meshes of scenes: made here, or those of the file.
#include "bench_skin.h"

#include "verify.h"

#include <stdlib.h>

uint64_t bench_output_bytes(const bench_mesh *mesh, uint32_t directions, bool packed)
{
    uint64_t n = mesh->vertex_count;
    uint64_t normals = directions > 0 && mesh->normals ? n : 0;
    uint64_t tangents = directions > 1 && mesh->tangents ? n : 0;
    return 12 * n + (packed ? 4 : 12) * normals + (packed ? 4 : 16) * tangents;
}

static bool make_packed(bench_skin_data *d, const pelt_asset *source)
{
    const pelt_cook_options options = {.keep_order = false};
    const pelt_cooked_options reading = {.skip_hashes = true}; // they were made a moment ago
    pelt_error error;
    return pelt_cook(source, &options, &d->image, &d->image_size, NULL, &error) == PELT_OK &&
           pelt_cooked_open_memory(d->image, d->image_size, &reading, &d->cooked, &error) == PELT_OK &&
           pelt_cooked_import(d->cooked, &d->asset, &error) == PELT_OK;
}

static bool add_forms(bench_setup *setup, bench_mesh *mesh)
{
    switch (setup->scene->input) {
    case BENCH_INPUT_RUNS:
        return bench_mesh_add_runs(&setup->memory, mesh);
    case BENCH_INPUT_INTERLEAVED:
        return bench_mesh_interleave(&setup->memory, mesh);
    default:
        return true;
    }
}

static bool make_mesh(bench_setup *setup, bench_skin_data *d)
{
    bench_shape shape = setup->scene->shape;
    uint32_t wanted = setup->context->options.vertices;
    shape.vertex_count = wanted ? wanted : shape.vertex_count;
    d->meshes = bench_allocate(&setup->memory, 1, sizeof *d->meshes);
    bench_palette *palette = bench_allocate(&setup->memory, 1, sizeof *palette);
    pelt_mat34 *matrices = bench_allocate(&setup->memory, shape.joint_count, sizeof *matrices);
    pelt_asset *asset = bench_asset_create(&shape);
    bool ok = d->meshes && palette && matrices && asset;
    if (ok) {
        bench_matrices_fill(matrices, shape.joint_count);
        ok = bench_palette_fill(&setup->memory, matrices, shape.joint_count, palette);
    }
    bool packed = setup->scene->input == BENCH_INPUT_PACKED;
    ok = ok && (!packed || make_packed(d, asset));
    if (ok) {
        const pelt_primitive *source = &pelt_asset_get(packed ? d->asset : asset)->meshes[0].primitives[0];
        ok = bench_mesh_fill(&setup->memory, source, false, palette, d->meshes) && add_forms(setup, d->meshes);
    }
    if (ok && packed) {
        d->meshes->packed = pelt_cooked_streams(&pelt_cooked_get(d->cooked)->primitives[0]);
        d->meshes->has_packed = true;
    }
    pelt_asset_destroy(asset);
    d->mesh_count = 1;
    return ok;
}

// ---- the file

// A primitive's streams are shared by all instances that have it. first: index of the mesh that has them already, by
// cooked primitive and by whether it is rigid.
static bool add_item(bench_setup *setup, bench_skin_data *d, const verify_item *item, const bench_palette *palette,
                     uint32_t *first)
{
    bench_mesh *mesh = &d->meshes[d->mesh_count];
    if (*first != PELT_NONE) {
        *mesh = d->meshes[*first];
        mesh->palette = palette;
    } else {
        if (!bench_mesh_fill(&setup->memory, item->source, item->rigid, palette, mesh) || !add_forms(setup, mesh)) {
            return false;
        }
        mesh->packed = pelt_cooked_streams(&setup->model->streams->primitives[item->cooked]);
        if (item->rigid) {
            mesh->packed.weights = NULL;
        }
        mesh->has_packed = true;
        *first = d->mesh_count;
    }
    d->mesh_count++;
    return true;
}

static bool fill_palettes(bench_setup *setup, bench_palette *palettes)
{
    const verify_model *m = setup->model;
    const pelt_asset_data *data = pelt_asset_get(m->asset);
    for (uint32_t i = 0; i < m->palette_count; i++) {
        uint32_t skin = m->palettes[i].skin;
        uint32_t count = skin == PELT_NONE ? 1 : data->skins[skin].joint_count;
        if (!bench_palette_fill(&setup->memory, m->palettes[i].palette, count, &palettes[i])) {
            return false;
        }
    }
    return true;
}

static bool take_file(bench_setup *setup, bench_skin_data *d)
{
    const verify_model *m = setup->model;
    uint64_t slot_count = 2 * (uint64_t)m->streams->primitive_count;
    uint32_t *firsts = bench_allocate(&setup->memory, slot_count, sizeof *firsts);
    bench_palette *palettes = bench_allocate(&setup->memory, m->palette_count, sizeof *palettes);
    d->meshes = bench_allocate(&setup->memory, m->item_count, sizeof *d->meshes);
    if (!firsts || !palettes || !d->meshes || !fill_palettes(setup, palettes)) {
        return false;
    }
    for (uint64_t i = 0; i < slot_count; i++) {
        firsts[i] = PELT_NONE;
    }
    for (uint32_t i = 0; i < m->item_count; i++) {
        const verify_item *item = &m->items[i];
        uint32_t *first = &firsts[2 * (size_t)item->cooked + item->rigid];
        if (item->source->vertex_count > 0 && !add_item(setup, d, item, &palettes[item->palette], first)) {
            return false;
        }
    }
    return true;
}

// ---- set-up

static void count(bench_setup *setup, const bench_skin_data *d)
{
    const bench_scene *scene = setup->scene;
    setup->element = "vertex";
    setup->mesh_count = d->mesh_count;
    for (uint32_t i = 0; i < d->mesh_count; i++) {
        const bench_mesh *mesh = &d->meshes[i];
        setup->element_count += mesh->vertex_count;
        setup->bytes_read += bench_mesh_bytes(mesh, scene->input, scene->directions);
        setup->bytes_written += bench_output_bytes(mesh, scene->directions, scene->packed_output);
        setup->joint_count = mesh->palette->count > setup->joint_count ? mesh->palette->count : setup->joint_count;
    }
}

int bench_skin_setup(bench_setup *setup)
{
    bench_skin_data *d = bench_allocate(&setup->memory, 1, sizeof *d);
    setup->data = d;
    bool ok = d && (setup->scene->kind == BENCH_FILE ? take_file(setup, d) : make_mesh(setup, d));
    if (!ok) {
        return bench_out_of_memory(setup);
    }
    if (d->mesh_count == 0) {
        return cli_fail(setup->context, CLI_INVALID, setup->context->options.input, NULL,
                        "only the default scene is posed", "the scene has no vertices to skin");
    }
    count(setup, d);
    return bench_add_skinners(setup) ? CLI_DONE : bench_out_of_memory(setup);
}

void bench_skin_release(bench_setup *setup)
{
    bench_skin_data *d = setup->data;
    if (d) {
        pelt_asset_destroy(d->asset);
        pelt_cooked_close(d->cooked);
        pelt_cook_release(NULL, d->image, d->image_size);
    }
}
