// SPDX-License-Identifier: MIT
// Random primitives for the packing steps, and an order of runs that is as plain as can be.
#include "peltt_packed.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void *take(cook_arena *arena, uint64_t count, size_t size)
{
    void *memory = pelti_cook_allocate(arena, count, size);
    if (!memory) {
        fprintf(stderr, "peltt_packed: out of memory\n");
        abort();
    }
    return memory;
}

static float *random_floats(cook_arena *arena, uint64_t count, float size, peltt_random *random)
{
    float *values = take(arena, count, sizeof *values);
    for (uint64_t i = 0; i < count; i++) {
        values[i] = peltt_random_float(random, -size, size);
    }
    return values;
}

// Distinct joints, weights that sum to one, the used ones first.
static void random_vertex(const peltt_packed_shape *shape, uint16_t *joints, float *weights, peltt_random *random)
{
    uint32_t most = shape->influence_count < shape->joint_count ? shape->influence_count : shape->joint_count;
    uint32_t used = 1 + peltt_random_below(random, most);
    uint32_t kind = peltt_random_below(random, 4);
    uint32_t first = peltt_random_below(random, shape->joint_count);
    double sum = 0.0;
    for (uint32_t i = 0; i < used; i++) {
        double w = kind == 0   ? 1.0
                   : kind == 1 ? exp(-12.0 * peltt_random_unit(random))
                               : 1e-6 + peltt_random_unit(random);
        joints[i] = (uint16_t)((first + i * (1 + (shape->joint_count % 2 == 1 && shape->joint_count > 2 ? 1U : 0U))) %
                               shape->joint_count);
        weights[i] = (float)w;
        sum += (double)weights[i];
    }
    for (uint32_t i = 0; i < used; i++) {
        weights[i] = (float)((double)weights[i] / sum);
    }
}

static void fill_influences(peltt_packed *packed, peltt_random *random)
{
    const peltt_packed_shape *shape = &packed->shape;
    uint64_t count = (uint64_t)shape->vertex_count * shape->influence_count;
    uint16_t *joints = take(&packed->inputs, count, sizeof *joints);
    float *weights = take(&packed->inputs, count, sizeof *weights);
    for (uint32_t v = 0; shape->influence_count > 0 && v < shape->vertex_count; v++) {
        uint64_t at = (uint64_t)v * shape->influence_count;
        random_vertex(shape, joints + at, weights + at, random);
    }
    packed->source.influence_count = shape->influence_count;
    packed->source.joints = shape->influence_count > 0 ? joints : NULL;
    packed->source.weights = shape->influence_count > 0 ? weights : NULL;
}

static float *random_displacements(peltt_packed *packed, double share, peltt_random *random)
{
    const peltt_packed_shape *shape = &packed->shape;
    float *values = take(&packed->inputs, (uint64_t)shape->vertex_count * 3, sizeof *values);
    for (uint32_t v = 0; v < shape->vertex_count; v++) {
        for (uint64_t c = 0; c < 3 && peltt_random_chance(random, share); c++) {
            values[(uint64_t)v * 3 + c] = peltt_random_float(random, -0.1F, 0.1F) * shape->size;
        }
    }
    return values;
}

static void fill_targets(peltt_packed *packed, peltt_random *random)
{
    packed->targets = take(&packed->inputs, packed->shape.target_count, sizeof *packed->targets);
    for (uint32_t t = 0; t < packed->shape.target_count; t++) {
        double share = t % 3 == 0 ? 1.0 : t % 3 == 1 ? 0.05 : 0.6;
        pelt_morph_target *target = &packed->targets[t];
        target->positions = t % 5 == 3 ? NULL : random_displacements(packed, t % 5 == 4 ? 0.0 : share, random);
        target->normals = t % 2 == 0 ? NULL : random_displacements(packed, share, random);
        target->tangents = t % 7 == 1 ? random_displacements(packed, share, random) : NULL;
    }
    packed->source.targets = packed->targets;
}

static void fill_attributes(peltt_packed *packed, peltt_random *random)
{
    static const struct {
        const char *name;
        pelt_component component;
        uint32_t components;
    } kinds[3] = {
        {"TEXCOORD_0", PELT_COMPONENT_F32, 2}, {"COLOR_0", PELT_COMPONENT_U8, 4}, {"_ID", PELT_COMPONENT_U16, 3}};
    pelt_attribute *attributes = take(&packed->inputs, 3, sizeof *attributes);
    for (int i = 0; i < 3; i++) {
        uint32_t stride = kinds[i].components * pelt_component_size(kinds[i].component);
        uint64_t size = (uint64_t)packed->shape.vertex_count * stride;
        unsigned char *data = take(&packed->inputs, size, 1);
        for (uint64_t k = 0; k < size; k++) {
            data[k] = (unsigned char)peltt_random_next(random);
        }
        attributes[i] = (pelt_attribute){.name = kinds[i].name,
                                         .component = kinds[i].component,
                                         .component_count = kinds[i].components,
                                         .stride = stride,
                                         .data = data};
    }
    packed->source.attribute_count = 3;
    packed->source.attributes = attributes;
}

static bool is_dropped(const peltt_packed_shape *shape, uint32_t vertex)
{
    return shape->drop && vertex % 3 == 1;
}

static void fill_indices(peltt_packed *packed, peltt_random *random)
{
    const peltt_packed_shape *shape = &packed->shape;
    uint32_t *indices = take(&packed->inputs, (uint64_t)shape->vertex_count * 2, sizeof *indices);
    uint32_t count = 0;
    for (uint32_t v = 0; v < shape->vertex_count; v++) {
        uint32_t other = peltt_random_below(random, shape->vertex_count);
        indices[count] = v;
        count += is_dropped(shape, v) ? 0 : 1;
        indices[count] = other;
        count += is_dropped(shape, other) ? 0 : 1;
    }
    packed->source.indices = shape->has_indices ? indices : NULL;
    packed->source.index_count = shape->has_indices ? count : shape->vertex_count;
}

void peltt_packed_init(peltt_packed *packed, const peltt_packed_shape *shape, peltt_random *random)
{
    uint64_t count = shape->vertex_count;
    memset(packed, 0, sizeof *packed);
    packed->shape = *shape;
    packed->source.topology = PELT_TOPOLOGY_POINTS;
    packed->source.material = PELT_NONE;
    packed->source.vertex_count = shape->vertex_count;
    packed->source.positions = random_floats(&packed->inputs, count * 3, shape->size, random);
    packed->source.normals = random_floats(&packed->inputs, count * 3, 1.0F, random);
    float *tangents = random_floats(&packed->inputs, count * 4, 1.0F, random);
    for (uint64_t v = 0; v < count; v++) {
        tangents[v * 4 + 3] = tangents[v * 4 + 3] < 0.0F ? -1.0F : 1.0F;
    }
    packed->source.tangents = tangents;
    fill_influences(packed, random);
    fill_targets(packed, random);
    fill_attributes(packed, random);
    fill_indices(packed, random);
}

void peltt_packed_free(peltt_packed *packed)
{
    pelti_cook_release_arena(&packed->inputs);
    pelti_cook_release_arena(&packed->arena);
}

// --- order

static void sort_run(const peltt_packed *packed, uint32_t *vertices, uint32_t count)
{
    const cook_vertex *cooked = packed->p.vertices;
    for (uint32_t i = 1; i < count; i++) { // at most 64
        uint32_t moved = vertices[i];
        uint32_t at = i;
        for (; at > 0 && cooked[vertices[at - 1]].class_index > cooked[moved].class_index; at--) {
            vertices[at] = vertices[at - 1];
        }
        vertices[at] = moved;
    }
}

static void make_list(const peltt_packed *packed, pelt_run *run, uint16_t *list, uint32_t *used)
{
    uint32_t count = 0;
    for (uint32_t joint = 0; joint < packed->shape.joint_count; joint++) {
        bool found = false;
        for (uint32_t v = 0; v < run->vertex_count && !found; v++) {
            const uint16_t *joints = packed->p.vertices[packed->p.out.source_vertices[run->first_vertex + v]].joints;
            found = joints[0] == joint || joints[1] == joint || joints[2] == joint || joints[3] == joint;
        }
        if (found && count++ < PELT_RUN_JOINTS) {
            list[*used + count - 1] = (uint16_t)joint;
        }
    }
    if (count <= PELT_RUN_JOINTS) {
        run->layout = PELT_JOINTS_RUN;
        run->first_joint = *used;
        run->joint_count = (uint16_t)count;
        *used += count;
    }
}

static void make_runs(peltt_packed *packed, uint32_t *vertices)
{
    pelt_cooked_primitive *out = &packed->p.out;
    uint32_t count = (out->vertex_count + PELT_RUN_STEP - 1) / PELT_RUN_STEP;
    pelt_run *runs = take(&packed->arena, count, sizeof *runs);
    uint16_t *list = take(&packed->arena, (uint64_t)count * PELT_RUN_JOINTS, sizeof *list);
    for (uint32_t r = 0; r < count; r++) {
        pelt_run *run = &runs[r];
        run->first_vertex = r * PELT_RUN_STEP;
        run->vertex_count = out->vertex_count - run->first_vertex < PELT_RUN_STEP
                                ? out->vertex_count - run->first_vertex
                                : PELT_RUN_STEP;
        if (packed->shape.sort_classes) {
            sort_run(packed, vertices + run->first_vertex, run->vertex_count);
        }
        for (uint32_t v = 0; v < run->vertex_count; v++) {
            uint32_t class_index = packed->p.vertices[vertices[run->first_vertex + v]].class_index;
            run->class_counts[class_index]++;
            run->influence_count =
                class_index >= run->influence_count ? (uint8_t)(class_index + 1) : run->influence_count;
        }
        run->layout = packed->shape.joint_count <= 256 && r % 5 == 4 ? PELT_JOINTS_DIRECT8 : PELT_JOINTS_DIRECT16;
        if (packed->shape.list_joints && r % 5 < 3) {
            make_list(packed, run, list, &out->run_joint_count);
        }
    }
    out->ordered = packed->shape.sort_classes;
    out->run_count = count;
    out->runs = runs;
    out->run_joints = list;
}

static void make_order(peltt_packed *packed, uint64_t seed)
{
    peltt_random random = {seed};
    const peltt_packed_shape *shape = &packed->shape;
    pelt_cooked_primitive *out = &packed->p.out;
    uint32_t *vertices = take(&packed->arena, shape->vertex_count, sizeof *vertices);
    for (uint32_t v = 0; v < shape->vertex_count; v++) {
        if (!is_dropped(shape, v)) {
            vertices[out->vertex_count++] = v;
        }
    }
    for (uint32_t v = out->vertex_count; shape->shuffle && v-- > 1;) {
        uint32_t other = peltt_random_below(&random, v + 1);
        uint32_t moved = vertices[v];
        vertices[v] = vertices[other];
        vertices[other] = moved;
    }
    out->source_vertices = vertices;
    if (packed->p.vertices) {
        make_runs(packed, vertices);
    }
}

pelt_result peltt_packed_cook(peltt_packed *packed, peltt_alloc *state, uint64_t order_seed, pelt_error *error)
{
    pelti_cook_release_arena(&packed->arena);
    packed->arena = (cook_arena){0};
    if (packed->options.morph_weight_min == 0.0F && packed->options.morph_weight_max == 0.0F) {
        packed->options.morph_weight_max = 1.0F;
    }
    cook_primitive *p = &packed->p;
    memset(p, 0, sizeof *p);
    p->source = &packed->source;
    p->options = &packed->options;
    p->arena = &packed->arena;
    p->out.encoding = packed->options.weights;
    p->out.target_count = packed->shape.target_count;
    p->out.source_vertex_count = packed->source.vertex_count;
    if (state) {
        packed->arena.allocator = peltt_alloc_make(state);
    }
    pelt_result result = pelti_cook_pack_vertices(p, error);
    if (result != PELT_OK) {
        return result;
    }
    uint64_t fail_at = state ? state->fail_at : 0; // only the module's own allocations fail
    if (state) {
        state->fail_at = 0;
    }
    uint64_t calls = state ? state->call_count : 0;
    make_order(packed, order_seed);
    if (state) {
        state->fail_at = fail_at == 0 ? 0 : fail_at + (state->call_count - calls);
    }
    result = pelti_cook_pack_streams(p, error);
    return result == PELT_OK ? pelti_cook_targets(p, error) : result;
}

const peltt_packed_shape peltt_packed_shapes[PELTT_PACKED_SHAPES] = {
    {.vertex_count = 1000,
     .influence_count = 4,
     .joint_count = 20,
     .target_count = 8,
     .size = 1,
     .has_indices = true,
     .drop = true,
     .shuffle = true,
     .sort_classes = true,
     .list_joints = true},
    {.vertex_count = 777,
     .influence_count = 9,
     .joint_count = 31,
     .target_count = 3,
     .size = 100,
     .has_indices = true,
     .shuffle = true,
     .sort_classes = true,
     .list_joints = true},
    {.vertex_count = 500,
     .influence_count = 9,
     .joint_count = 300,
     .target_count = 2,
     .size = 0.01F,
     .has_indices = true,
     .list_joints = true},
    {.vertex_count = 321, .influence_count = 3, .joint_count = 5, .target_count = 6, .size = 10, .list_joints = true},
    {.vertex_count = 130, .influence_count = 1, .joint_count = 200, .size = 1, .shuffle = true, .sort_classes = true},
    {.vertex_count = 64, .influence_count = 70, .joint_count = 400, .size = 1, .has_indices = true},
    {.vertex_count = 200,
     .influence_count = 0,
     .joint_count = 1,
     .target_count = 4,
     .size = 1,
     .has_indices = true,
     .drop = true,
     .shuffle = true},
    {.vertex_count = 0, .influence_count = 4, .joint_count = 3, .target_count = 2, .size = 1},
};

void peltt_packed_each(uint64_t seed, void (*check)(const peltt_packed *packed))
{
    for (size_t i = 0; i < PELTT_PACKED_SHAPES; i++) {
        for (int variant = 0; variant < 4; variant++) {
            peltt_random random = {seed + i};
            peltt_packed packed;
            peltt_packed_init(&packed, &peltt_packed_shapes[i], &random);
            packed.options.weights = variant % 2 == 0 ? PELT_WEIGHTS_SORTED : PELT_WEIGHTS_PLAIN;
            packed.options.morph_16bit = variant >= 2;
            assert_int_equal(peltt_packed_cook(&packed, NULL, seed, NULL), PELT_OK);
            check(&packed);
            peltt_packed_free(&packed);
        }
    }
}
