// SPDX-License-Identifier: MIT
// A scene's life, and what frames in flight hold back.
#include "scene.h"

#include <string.h>

enum {
    SMALLEST_ITEM = 64,
    LARGEST_ITEM = PELT_RUN_VERTICES
};

static_assert(LARGEST_ITEM <= 0xFFFF, "gpu_full_item.counts");
static_assert(PELTI_VK_ALIGNMENT == 1 << GPU_UNIT_SHIFT, "distances in gpu_full_item");

static const VkPipelineStageFlags2 usual_stages = VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT |
                                                  VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT |
                                                  VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
static const VkAccessFlags2 usual_access = VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT | VK_ACCESS_2_INDEX_READ_BIT |
                                           VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_TRANSFER_READ_BIT;

static void choose_consumers(const pelt_vk_context *context, pelt_vk_scene_options *o)
{
    if (o->consumer_stages != 0 || o->consumer_access != 0) {
        return;
    }
    o->consumer_stages = usual_stages;
    o->consumer_access = usual_access;
    if (context->options.acceleration_structure) {
        // A build reads its vertices at this stage as a shader would read them, not at a ray-tracing stage.
        o->consumer_stages |= VK_PIPELINE_STAGE_2_ACCELERATION_STRUCTURE_BUILD_BIT_KHR;
        o->consumer_access |= VK_ACCESS_2_SHADER_READ_BIT;
    }
    if (context->options.ray_tracing_pipeline) {
        o->consumer_stages |= VK_PIPELINE_STAGE_2_RAY_TRACING_SHADER_BIT_KHR;
    }
}

// What automatic bounds are without a caller's rules, as `pelt bench --tune` measured it on an H200: from here on exact
// boxes cost over 3 % of the pass more than those of joints (bench/results/h200_vulkan/tune.json).
static const pelt_vk_bounds_rule default_rules[] = {{4095, PELT_VK_BOUNDS_EXACT},
                                                    {UINT32_MAX, PELT_VK_BOUNDS_CONSERVATIVE}};

static pelt_result check_rules(pelt_vk_scene_options *o, pelt_error *error)
{
    if (o->bounds_rule_count == 0) {
        o->bounds_rules = default_rules;
        o->bounds_rule_count = sizeof default_rules / sizeof default_rules[0];
    }
    for (uint32_t i = 0; i < o->bounds_rule_count; i++) {
        const pelt_vk_bounds_rule *rule = o->bounds_rules ? &o->bounds_rules[i] : NULL;
        if (!rule || (rule->bounds != PELT_VK_BOUNDS_EXACT && rule->bounds != PELT_VK_BOUNDS_CONSERVATIVE) ||
            (i > 0 && rule->vertex_count <= rule[-1].vertex_count)) {
            return pelti_fail(error, PELT_ERROR_ARGUMENT, "",
                              "bounds_rules[%u]: rules are exact or conservative, by ascending vertex count",
                              (unsigned)i);
        }
        bool needed = o->bounds == PELT_VK_BOUNDS_AUTO && rule->bounds == PELT_VK_BOUNDS_CONSERVATIVE;
        o->allow_conservative = o->allow_conservative || needed;
    }
    return PELT_OK;
}

static pelt_result check_options(const pelt_vk_context *context, pelt_vk_scene_options *o, pelt_error *error)
{
    o->bounds = o->bounds == PELT_VK_BOUNDS_DEFAULT ? PELT_VK_BOUNDS_EXACT : o->bounds;
    o->item_vertices = o->item_vertices ? o->item_vertices : LARGEST_ITEM;
    if ((unsigned)o->bounds > PELT_VK_BOUNDS_AUTO) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "there is no such kind of bounds");
    }
    if (o->consumer_stages == 0 && o->consumer_access != 0) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "consumer_access needs consumer_stages to belong to");
    }
    if (o->item_vertices < SMALLEST_ITEM || o->item_vertices > LARGEST_ITEM) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "item_vertices is %u, not %d to %d",
                          (unsigned)o->item_vertices, SMALLEST_ITEM, LARGEST_ITEM);
    }
    o->allow_conservative =
        o->allow_conservative || o->bounds == PELT_VK_BOUNDS_CONSERVATIVE || o->bounds == PELT_VK_BOUNDS_BOTH;
    choose_consumers(context, o);
    return check_rules(o, error);
}

// The caller's rules need not stay. false: out of memory.
static bool copy_rules(pelt_vk_scene *scene)
{
    pelt_vk_scene_options *o = &scene->options;
    scene->bounds_rules = pelti_allocate(scene->allocator, o->bounds_rule_count, sizeof *scene->bounds_rules);
    if (scene->bounds_rules) {
        memcpy(scene->bounds_rules, o->bounds_rules, o->bounds_rule_count * sizeof *scene->bounds_rules);
    }
    o->bounds_rules = scene->bounds_rules;
    return scene->bounds_rules != NULL;
}

static void init_parts(pelt_vk_scene *scene)
{
    const pelt_allocator *allocator = scene->allocator;
    scene->sequence = 1;
    scene->retirement.allocator = allocator;
    scene->copies.allocator = allocator;
    pelti_vk_slots_init(&scene->mesh_slots, allocator, GPU_PARITY - 1);
    pelti_vk_slots_init(&scene->skin_slots, allocator, GPU_PARITY - 1);
    pelti_vk_slots_init(&scene->palette_slots, allocator, GPU_PARITY - 1);
    pelti_vk_slots_init(&scene->instance_slots, allocator, GPU_PARITY - 1);
    pelti_vk_table_init(&scene->instance_table, scene->context, scene->device, sizeof(gpu_instance), true);
    pelti_vk_table_init(&scene->boxes, scene->context, scene->device, sizeof(pelt_box), false);
    pelti_vk_table_init(&scene->conservative_boxes, scene->context, scene->device, sizeof(pelt_box), false);
}

pelt_result pelt_vk_scene_create(pelt_vk_context *context, const pelt_vk_scene_options *options,
                                 pelt_vk_scene **out_scene, pelt_error *error)
{
    pelti_error_clear(error);
    if (!context || !out_scene) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "context or scene is NULL");
    }
    *out_scene = NULL;
    pelt_vk_scene_options chosen = options ? *options : (pelt_vk_scene_options){0};
    pelt_result result = check_options(context, &chosen, error);
    if (result != PELT_OK) {
        return result;
    }
    const pelt_allocator *allocator = &context->options.allocator;
    pelt_vk_scene *scene = pelti_allocate(allocator, 1, sizeof *scene);
    if (!scene) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for a scene");
    }
    *scene = (pelt_vk_scene){.context = context, .options = chosen, .allocator = allocator};
    result = copy_rules(scene) ? PELT_OK : pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for a scene");
    result = result == PELT_OK ? pelti_vk_heap_create(context, false, &scene->device, error) : result;
    result = result == PELT_OK ? pelti_vk_heap_create(context, true, &scene->mapped, error) : result;
    result = result == PELT_OK ? pelti_vk_ring_create(allocator, scene->mapped, &scene->ring, error) : result;
    init_parts(scene);
    if (result != PELT_OK) {
        pelt_vk_scene_destroy(scene);
        return result;
    }
    *out_scene = scene;
    return PELT_OK;
}

static void destroy_objects(pelt_vk_scene *scene)
{
    const pelt_allocator *a = scene->allocator;
    for (uint32_t i = 0; i < scene->mesh_slots.count; i++) {
        pelti_vk_mesh *mesh = &scene->meshes[i];
        pelti_release(a, mesh->target_reach, mesh->target_count, sizeof *mesh->target_reach);
        pelti_release(a, mesh->joint_boxes, mesh->joint_boxes_count, sizeof *mesh->joint_boxes);
    }
    for (uint32_t i = 0; i < scene->instance_slots.count; i++) {
        pelti_release(a, scene->outputs[i].weights, scene->outputs[i].weight_count, sizeof(float));
    }
    pelti_release(a, scene->meshes, scene->mesh_capacity, sizeof *scene->meshes);
    pelti_release(a, scene->skins, scene->skin_capacity, sizeof *scene->skins);
    pelti_release(a, scene->palettes, scene->palette_capacity, sizeof *scene->palettes);
    pelti_release(a, scene->instances, scene->instance_capacity, sizeof *scene->instances);
    pelti_release(a, scene->outputs, scene->outputs_capacity, sizeof *scene->outputs);
    pelti_release(a, scene->written, scene->written_capacity, sizeof *scene->written);
    pelti_release(a, scene->marked, scene->marked_capacity, sizeof *scene->marked);
    pelti_release(a, scene->list.updates, scene->list.update_capacity, sizeof *scene->list.updates);
    pelti_release(a, scene->weighted.slots, scene->weighted.capacity, sizeof *scene->weighted.slots);
    pelti_release(a, scene->frames, scene->frame_capacity, sizeof *scene->frames);
    pelti_release(a, scene->bounds_rules, scene->options.bounds_rule_count, sizeof *scene->bounds_rules);
    pelti_vk_slots_destroy(&scene->mesh_slots);
    pelti_vk_slots_destroy(&scene->skin_slots);
    pelti_vk_slots_destroy(&scene->palette_slots);
    pelti_vk_slots_destroy(&scene->instance_slots);
}

void pelt_vk_scene_destroy(pelt_vk_scene *scene)
{
    if (!scene) {
        return;
    }
    destroy_objects(scene);
    pelti_vk_table_destroy(&scene->instance_table);
    pelti_vk_table_destroy(&scene->boxes);
    pelti_vk_table_destroy(&scene->conservative_boxes);
    pelti_release(scene->allocator, scene->copies.items, scene->copies.capacity, sizeof *scene->copies.items);
    pelti_vk_retirement_destroy(&scene->retirement);
    pelti_vk_ring_destroy(scene->ring);
    pelti_vk_heap_destroy(scene->mapped);
    pelti_vk_heap_destroy(scene->device);
    pelti_release(scene->allocator, scene, 1, sizeof *scene);
}

// ---- uploads

pelt_result pelti_vk_upload(pelt_vk_scene *scene, const pelti_vk_range *range, VkDeviceSize size,
                            pelti_vk_span *out_span, pelt_error *error)
{
    pelti_vk_ring_mark mark = pelti_vk_ring_here(scene->ring);
    pelt_result result = pelti_vk_ring_take(scene->ring, size, out_span, error);
    if (result != PELT_OK) {
        return result;
    }
    pelti_vk_copy copy = {out_span->buffer, range->buffer, {out_span->offset, range->offset, size}};
    if (!pelti_vk_copies_add(&scene->copies, &copy)) {
        pelti_vk_ring_rewind(scene->ring, &mark);
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for copies");
    }
    return PELT_OK;
}

// ---- marks

void pelti_vk_marks_remove(pelti_vk_marks *m, uint32_t mark, uint32_t *moved)
{
    m->count--;
    *moved = m->slots[m->count];
    m->slots[mark] = *moved;
}

static void count_marked(pelt_vk_scene *scene, const pelti_vk_instance *instance, bool added)
{
    uint64_t sign = added ? 1 : UINT64_MAX; // minus one, modulo 2^64
    bool reduced = (instance->flags & PELTI_VK_EXACT) && instance->item_count > 1;
    scene->marked_items += sign * instance->item_count;
    scene->marked_vertices += sign * instance->vertex_count;
    scene->marked_reduced += (uint32_t)sign * (uint32_t)reduced;
    scene->marked_conservative += (uint32_t)sign * ((instance->flags & PELTI_VK_CONSERVATIVE) != 0);
}

// The state after one more update.
static uint32_t next_flags(const pelti_vk_instance *instance)
{
    const uint32_t kept = PELTI_VK_EXACT | PELTI_VK_CONSERVATIVE | PELTI_VK_KEEPS_PREVIOUS | PELTI_VK_KIND;
    uint32_t flags = instance->flags;
    uint32_t next = (flags & kept) | (~flags & PELTI_VK_ODD);
    next |= flags & PELTI_VK_PREVIOUS_VALID ? PELTI_VK_PREVIOUS_WAS_VALID : 0U;
    bool valid = (flags & PELTI_VK_KEEPS_PREVIOUS) && instance->update_count > 0;
    return next | (valid ? PELTI_VK_PREVIOUS_VALID : 0U);
}

void pelti_vk_mark(pelt_vk_scene *scene, uint32_t slot)
{
    pelti_vk_instance *instance = &scene->instances[slot];
    if (instance->marked_by == scene->sequence) {
        return;
    }
    instance->marked_before = instance->marked_by;
    instance->marked_by = scene->sequence;
    instance->flags = next_flags(instance);
    instance->update_count++;
    instance->mark = scene->marked_count;
    scene->marked[scene->marked_count++] =
        (pelti_vk_update){.instance = slot | (instance->flags & PELTI_VK_ODD ? GPU_PARITY : 0),
                          .flags = instance->flags & (PELTI_VK_EXACT | PELTI_VK_CONSERVATIVE | PELTI_VK_KIND),
                          .item_count = instance->item_count};
    count_marked(scene, instance, true);
}

void pelti_vk_unmark(pelt_vk_scene *scene, uint32_t slot)
{
    pelti_vk_instance *instance = &scene->instances[slot];
    if (instance->marked_by == scene->sequence) {
        pelti_vk_update last = scene->marked[--scene->marked_count];
        scene->marked[instance->mark] = last;
        scene->instances[last.instance & ~GPU_PARITY].mark = instance->mark;
        instance->marked_by = 0;
        count_marked(scene, instance, false);
    }
}

void pelti_vk_set_kind(pelt_vk_scene *scene, uint32_t slot, uint32_t kind)
{
    pelti_vk_instance *instance = &scene->instances[slot];
    instance->flags = (instance->flags & ~(uint32_t)PELTI_VK_KIND) | kind;
    if (instance->marked_by == scene->sequence) {
        pelti_vk_update *update = &scene->marked[instance->mark];
        update->flags = (update->flags & ~(uint32_t)PELTI_VK_KIND) | kind;
    }
}

// ---- retiring

void pelt_vk_retire(pelt_vk_scene *scene, uint64_t frame)
{
    if (!scene) {
        return;
    }
    uint32_t done = 0;
    while (done < scene->frame_count && scene->frames[done].frame <= frame) {
        done++;
    }
    if (done == 0) {
        return;
    }
    uint64_t sequence = scene->frames[done - 1].sequence;
    scene->frame_count -= done;
    memmove(scene->frames, scene->frames + done, scene->frame_count * sizeof *scene->frames);
    pelti_vk_retirement_run(&scene->retirement, sequence);
    pelti_vk_ring_retire(scene->ring, sequence);
}
