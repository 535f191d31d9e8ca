// SPDX-License-Identifier: MIT
// Recording: everything that can fail first, then the passes with their barriers (docs/vulkan.md explains each).
//
//     acquire | copies | barrier | palette, items | barrier | skin, joint bounds | barrier | reduce | release
#include "scene.h"

static pelti_vk_pass pass_of(uint32_t kind, uint32_t item_count)
{
    static const pelti_vk_pass passes[PELTI_VK_KIND_COUNT] = {
        PELTI_VK_SKIN_USUAL, PELTI_VK_SKIN_USUAL_SMALL, PELTI_VK_SKIN_RUNS, PELTI_VK_SKIN_RUNS_SMALL, PELTI_VK_SKIN};
    // Few items get more threads each.
    return kind == 0 && item_count < PELTI_VK_FEW_ITEMS ? PELTI_VK_SKIN_USUAL_FEW : passes[kind];
}

// What one record consists of. Spans are mapped memory of this frame.
typedef struct batch {
    pelt_vk_scene *scene;
    VkCommandBuffer cmd;
    pelt_vk_timestamps timestamps;
    uint32_t palette_count;
    uint32_t update_count;
    uint32_t item_count;
    pelti_vk_list_source source;
    uint32_t parity; // of the list
    uint32_t kind_updates[PELTI_VK_KIND_COUNT];
    uint32_t kind_items[PELTI_VK_KIND_COUNT];
    uint32_t reduce_count;
    uint32_t conservative_count;
    pelti_vk_span palettes;     // gpu_palette_update
    pelti_vk_span updates;      // gpu_update, of a list that is made
    pelti_vk_span items;        // gpu_frame_item, of one that is written
    pelti_vk_span reduces;      // gpu_reduce, of one that is written
    pelti_vk_span conservative; // uint32_t, instances
    VkDeviceAddress frame_items;
    VkDeviceAddress partials;
    VkDeviceAddress frame_reduces;
    uint32_t dispatch_count;
    uint32_t barrier_count;
} batch;

// ---- preparing

static pelt_result upload_weights(pelt_vk_scene *scene, uint32_t slot, pelt_error *error)
{
    const pelti_vk_outputs *o = &scene->outputs[slot];
    uint32_t count = 0;
    for (uint32_t t = 0; t < o->weight_count; t++) {
        count += o->weights[t] != 0.0F;
    }
    if (count == 0) {
        return PELT_OK;
    }
    pelti_vk_span span;
    pelt_result result = pelti_vk_upload(scene, &o->morphs, count * sizeof(gpu_morph), &span, error);
    gpu_morph *morphs = result == PELT_OK ? span.data : NULL;
    for (uint32_t t = 0; morphs && t < o->weight_count; t++) {
        if (o->weights[t] != 0.0F) {
            *morphs++ = (gpu_morph){t, o->weights[t]};
        }
    }
    return result;
}

static pelt_result flush_tables(pelt_vk_scene *scene, pelt_error *error)
{
    pelti_vk_table *tables[] = {&scene->palette_table, &scene->instance_table, &scene->boxes,
                                &scene->conservative_boxes};
    pelt_result result = PELT_OK;
    for (size_t i = 0; result == PELT_OK && i < sizeof tables / sizeof tables[0]; i++) {
        result = pelti_vk_table_flush(tables[i], scene->ring, &scene->copies, error);
    }
    return result;
}

// Frame items and partial boxes for all items of this record, and reduces, for which at least two items each are
// needed.
static pelt_result reserve_scratch(pelt_vk_scene *scene, uint64_t item_count, pelt_error *error)
{
    if (item_count <= scene->scratch_items) {
        return PELT_OK;
    }
    uint64_t capacity = scene->scratch_items ? scene->scratch_items : 1024;
    while (capacity < item_count) {
        capacity *= 2;
    }
    if (!pelti_vk_retirement_reserve(&scene->retirement, 1)) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for work items");
    }
    pelti_vk_range grown = {0};
    VkDeviceSize size = capacity * (sizeof(gpu_frame_item) + sizeof(pelt_box)) + capacity / 2 * sizeof(gpu_reduce);
    pelt_result result = pelti_vk_heap_allocate(scene->device, size, &grown, error);
    if (result != PELT_OK) {
        pelti_vk_retirement_unreserve(&scene->retirement, 1);
        return result;
    }
    pelti_vk_discard_range(&scene->retirement, scene->sequence, scene->device, &scene->scratch);
    scene->list.in_scratch = false;
    scene->scratch = grown;
    scene->scratch_items = capacity;
    return PELT_OK;
}

// A list that comes for the first time is written where it is short. One that comes again is made where it can stay.
static void choose_list(batch *b)
{
    const pelt_vk_scene *scene = b->scene;
    bool repeated = pelti_vk_list_repeats(scene, &b->parity);
    if (repeated) {
        memcpy(b->kind_updates, scene->list.kind_updates, sizeof b->kind_updates);
        memcpy(b->kind_items, scene->list.kind_items, sizeof b->kind_items);
    }
    for (uint32_t i = 0; !repeated && i < b->update_count; i++) {
        uint32_t kind = pelti_vk_list_kind(&scene->marked[i]);
        b->kind_updates[kind]++;
        b->kind_items[kind] += scene->marked[i].item_count;
    }
    b->source = b->item_count < PELTI_VK_FEW_ITEMS ? PELTI_VK_LIST_WRITTEN : PELTI_VK_LIST_MADE;
    if (repeated) {
        b->source = scene->list.in_scratch ? PELTI_VK_LIST_KEPT : PELTI_VK_LIST_MADE;
    }
    b->parity = b->source == PELTI_VK_LIST_KEPT ? b->parity : 0;
}

static pelt_result take_lists(batch *b, pelt_error *error)
{
    uint32_t made = b->source == PELTI_VK_LIST_MADE ? b->update_count : 0;
    bool writes = b->source == PELTI_VK_LIST_WRITTEN;
    struct {
        pelti_vk_span *span;
        VkDeviceSize size;
    } lists[] = {{&b->palettes, b->palette_count * sizeof(gpu_palette_update)},
                 {&b->updates, made * sizeof(gpu_update)},
                 {&b->items, writes ? b->item_count * sizeof(gpu_frame_item) : 0},
                 {&b->reduces, writes ? b->reduce_count * sizeof(gpu_reduce) : 0},
                 {&b->conservative, b->conservative_count * sizeof(uint32_t)}};
    pelt_result result = PELT_OK;
    for (size_t i = 0; result == PELT_OK && i < sizeof lists / sizeof lists[0]; i++) {
        if (lists[i].size > 0) {
            result = pelti_vk_ring_take(b->scene->ring, lists[i].size, lists[i].span, error);
        }
    }
    return result;
}

// Everything that can fail. Nothing is lost when it does: marks and dirty records stay, and pelt_vk_record takes copies
// and the ring back to what they were.
static pelt_result prepare(batch *b, pelt_error *error)
{
    pelt_vk_scene *scene = b->scene;
    const uint32_t *limits = scene->context->limits.maxComputeWorkGroupCount;
    // Shaders index with signed numbers.
    if (scene->marked_items > INT32_MAX || scene->marked_items > (uint64_t)limits[0] * limits[1]) {
        return pelti_fail(error, PELT_ERROR_LIMIT, "", "%llu work items in one update are more than the device can do",
                          (unsigned long long)scene->marked_items);
    }
    b->palette_count = scene->written_count;
    b->update_count = scene->marked_count;
    b->item_count = (uint32_t)scene->marked_items;
    choose_list(b);
    b->reduce_count = scene->marked_reduced;
    b->conservative_count = scene->marked_conservative;
    if (!pelti_vk_grow(scene->allocator, &scene->frames, &scene->frame_capacity, scene->frame_count + 1,
                       sizeof *scene->frames)) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for a frame");
    }
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; result == PELT_OK && i < scene->weighted.count; i++) {
        result = upload_weights(scene, scene->weighted.slots[i], error);
    }
    result = result == PELT_OK ? flush_tables(scene, error) : result;
    result = result == PELT_OK ? reserve_scratch(scene, b->item_count, error) : result;
    result = result == PELT_OK ? take_lists(b, error) : result;
    bool writes = b->source == PELTI_VK_LIST_WRITTEN;
    b->frame_items = writes ? b->items.address : scene->scratch.address;
    b->partials = scene->scratch.address + scene->scratch_items * sizeof(gpu_frame_item);
    b->frame_reduces = writes ? b->reduces.address : b->partials + scene->scratch_items * sizeof(pelt_box);
    return result;
}

// ---- lists of this frame

static void write_items(const batch *b, const pelti_vk_update *update, uint32_t first)
{
    uint32_t slot = update->instance & ~GPU_PARITY;
    const gpu_instance *instance = pelti_vk_table_get(&b->scene->instance_table, slot);
    gpu_frame_item *items = (gpu_frame_item *)b->items.data + first;
    for (uint32_t i = 0; i < update->item_count; i++) {
        items[i] = (gpu_frame_item){instance->mesh, update->instance, i};
    }
}

// Work items as such, or the updates that items.comp makes them of. Mapped memory is never read, as it may be uncached.
static void write_work(const batch *b)
{
    const pelt_vk_scene *scene = b->scene;
    bool writes = b->source == PELTI_VK_LIST_WRITTEN;
    gpu_update *updates[PELTI_VK_KIND_COUNT]; // ends of what is written
    uint32_t items[PELTI_VK_KIND_COUNT];
    gpu_update *next = b->updates.data;
    uint32_t next_item = 0;
    for (uint32_t k = 0; k < PELTI_VK_KIND_COUNT; k++) {
        updates[k] = next;
        items[k] = next_item;
        next = next ? next + b->kind_updates[k] : NULL;
        next_item += b->kind_items[k];
    }
    gpu_reduce *reduces = b->reduces.data;
    uint32_t reduce_count = 0;
    for (uint32_t i = 0; i < b->update_count; i++) {
        const pelti_vk_update *update = &scene->marked[i];
        uint32_t kind = pelti_vk_list_kind(update);
        uint32_t reduce = GPU_NO_REDUCE;
        if ((update->flags & PELTI_VK_EXACT) && update->item_count > 1) {
            reduce = reduce_count++;
        }
        if (!writes) {
            *updates[kind]++ = (gpu_update){update->instance, items[kind], reduce};
        } else {
            write_items(b, update, items[kind]);
            if (reduce != GPU_NO_REDUCE) {
                reduces[reduce] = (gpu_reduce){update->instance & ~GPU_PARITY, items[kind], update->item_count};
            }
        }
        items[kind] += update->item_count;
    }
}

static void write_lists(const batch *b)
{
    const pelt_vk_scene *scene = b->scene;
    if (b->palette_count > 0) {
        memcpy(b->palettes.data, scene->written, b->palette_count * sizeof *scene->written);
    }
    uint32_t *conservative = b->conservative.data;
    for (uint32_t i = 0; b->conservative_count > 0 && i < b->update_count; i++) {
        if (scene->marked[i].flags & PELTI_VK_CONSERVATIVE) {
            *conservative++ = scene->marked[i].instance & ~GPU_PARITY;
        }
    }
    if (b->source != PELTI_VK_LIST_KEPT) {
        write_work(b);
    }
}

// ---- commands

static void barrier(batch *b, VkPipelineStageFlags2 source_stages, VkAccessFlags2 source_access,
                    VkPipelineStageFlags2 stages, VkAccessFlags2 access)
{
    VkMemoryBarrier2 memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                               .srcStageMask = source_stages,
                               .srcAccessMask = source_access,
                               .dstStageMask = stages,
                               .dstAccessMask = access};
    VkDependencyInfo dependency = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO, .memoryBarrierCount = 1, .pMemoryBarriers = &memory};
    b->scene->context->vk.vkCmdPipelineBarrier2(b->cmd, &dependency);
    b->barrier_count++;
}

// All commands: in the stage of one pass alone, a pass that has nothing to do would be passed by.
static void timestamp(const batch *b, uint32_t index)
{
    if (b->timestamps.pool && (b->timestamps.left_out >> index & 1U) == 0) {
        b->scene->context->vk.vkCmdWriteTimestamp2(b->cmd, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, b->timestamps.pool,
                                                   b->timestamps.first + index);
    }
}

static const VkAccessFlags2 compute_access = VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;

static void between_passes(batch *b)
{
    barrier(b, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
            VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_READ_BIT);
}

typedef struct grid {
    uint32_t columns;
    uint32_t rows;
} grid;

// As few groups too many as can be: rows are of equal length.
static grid make_grid(const batch *b, uint32_t group_count)
{
    uint32_t limit = b->scene->context->limits.maxComputeWorkGroupCount[0];
    uint32_t rows = group_count / limit + (group_count % limit != 0);
    return (grid){group_count / rows + (group_count % rows != 0), rows};
}

static void dispatch(batch *b, pelti_vk_pass pass, const void *push, uint32_t push_size, grid g)
{
    const pelt_vk_context *context = b->scene->context;
    context->vk.vkCmdBindPipeline(b->cmd, VK_PIPELINE_BIND_POINT_COMPUTE, context->pipelines[pass]);
    context->vk.vkCmdPushConstants(b->cmd, context->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, push_size, push);
    context->vk.vkCmdDispatch(b->cmd, g.columns, g.rows, 1);
    b->dispatch_count++;
}

static void record_items(batch *b)
{
    grid g = make_grid(b, (b->update_count - 1) / GPU_ITEMS_THREADS + 1);
    gpu_items_push push = {.updates = b->updates.address,
                           .instances = b->scene->instance_table.range.address,
                           .frame_items = b->frame_items,
                           .reduces = b->frame_reduces,
                           .update_count = b->update_count,
                           .item_count = b->item_count,
                           .group_columns = g.columns};
    dispatch(b, PELTI_VK_ITEMS, &push, sizeof push, g);
}

static void record_palettes(batch *b)
{
    grid g = make_grid(b, b->palette_count);
    gpu_palette_push push = {b->palettes.address, b->scene->palette_table.range.address, b->palette_count, g.columns};
    dispatch(b, PELTI_VK_PALETTE, &push, sizeof push, g);
}

static void record_skin(batch *b)
{
    pelt_vk_scene *scene = b->scene;
    uint32_t first = 0;
    for (uint32_t k = 0; k < PELTI_VK_KIND_COUNT; k++) {
        if (b->kind_items[k] > 0) {
            grid g = make_grid(b, b->kind_items[k]);
            gpu_skin_push push = {.frame_items = b->frame_items + first * sizeof(gpu_frame_item),
                                  .instances = scene->instance_table.range.address,
                                  .partials = b->partials + first * sizeof(pelt_box),
                                  .boxes = scene->boxes.range.address,
                                  .item_count = b->kind_items[k],
                                  .group_columns = g.columns,
                                  .zero = 0.0F,
                                  .three = 3,
                                  .parity = b->parity};
            dispatch(b, pass_of(k, b->kind_items[k]), &push, sizeof push, g);
            first += b->kind_items[k];
        }
    }
    if (b->conservative_count > 0) {
        grid g = make_grid(b, b->conservative_count);
        gpu_bounds_push bounds = {b->conservative.address, scene->instance_table.range.address,
                                  scene->conservative_boxes.range.address, b->conservative_count, g.columns};
        dispatch(b, PELTI_VK_JOINT_BOUNDS, &bounds, sizeof bounds, g);
    }
}

static void record_reduce(batch *b)
{
    grid g = make_grid(b, b->reduce_count);
    gpu_reduce_push push = {b->frame_reduces, b->partials, b->scene->boxes.range.address, b->reduce_count, g.columns};
    dispatch(b, PELTI_VK_REDUCE, &push, sizeof push, g);
}

static void record_commands(batch *b)
{
    pelt_vk_scene *scene = b->scene;
    const pelt_vk_scene_options *o = &scene->options;
    bool copies = scene->copies.count > 0;
    timestamp(b, PELT_VK_TIMESTAMP_BEGIN);
    if (!copies && b->palette_count == 0 && b->update_count == 0) {
        for (uint32_t i = PELT_VK_TIMESTAMP_UPLOADS; i < PELT_VK_TIMESTAMP_COUNT; i++) {
            timestamp(b, i);
        }
        return;
    }
    const VkPipelineStageFlags2 compute = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
    const VkPipelineStageFlags2 transfer = VK_PIPELINE_STAGE_2_COPY_BIT;
    const VkAccessFlags2 writes = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT;
    // Acquire: readers of the last update are done before it is written over, and earlier records can be seen.
    barrier(b, o->consumer_stages | compute | transfer, writes, compute | (copies ? transfer : 0),
            compute_access | (copies ? VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT : 0));
    if (copies) {
        pelti_vk_copies_record(&scene->copies, scene->context, b->cmd);
    }
    if (copies && (b->palette_count > 0 || b->update_count > 0)) {
        barrier(b, transfer, VK_ACCESS_2_TRANSFER_WRITE_BIT, compute, compute_access);
    }
    timestamp(b, PELT_VK_TIMESTAMP_UPLOADS);
    if (b->palette_count > 0) {
        record_palettes(b);
    }
    timestamp(b, PELT_VK_TIMESTAMP_PALETTES);
    bool makes_list = b->update_count > 0 && b->source == PELTI_VK_LIST_MADE;
    if (makes_list) {
        record_items(b);
    }
    timestamp(b, PELT_VK_TIMESTAMP_ITEMS);
    if (makes_list || b->palette_count > 0) {
        between_passes(b);
    }
    if (b->update_count > 0) {
        record_skin(b);
    }
    timestamp(b, PELT_VK_TIMESTAMP_SKIN);
    if (b->reduce_count > 0) {
        between_passes(b);
        record_reduce(b);
    }
    barrier(b, compute | (copies ? transfer : 0), copies ? writes : VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
            o->consumer_stages, o->consumer_access);
    timestamp(b, PELT_VK_TIMESTAMP_REDUCE);
}

// ---- the call

static uint64_t copied_bytes(const pelti_vk_copies *copies)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < copies->count; i++) {
        total += copies->items[i].region.size;
    }
    return total;
}

static pelt_vk_statistics count(const pelt_vk_scene *scene, const batch *b)
{
    return (pelt_vk_statistics){
        .palette_count = b->palette_count,
        .joint_count = scene->written_joints,
        .instance_count = b->update_count,
        .item_count = b->item_count,
        .vertex_count = scene->marked_vertices,
        .reduced_count = b->reduce_count,
        .conservative_count = b->conservative_count,
        .written_bytes = pelti_vk_ring_taken(scene->ring),
        .copied_bytes = copied_bytes(&scene->copies),
    };
}

// Marks, copies and mapped memory start anew for the next record.
static void finish(batch *b, uint64_t frame)
{
    pelt_vk_scene *scene = b->scene;
    if (b->update_count > 0 && b->source != PELTI_VK_LIST_KEPT) {
        memcpy(scene->list.kind_updates, b->kind_updates, sizeof b->kind_updates);
        memcpy(scene->list.kind_items, b->kind_items, sizeof b->kind_items);
        pelti_vk_list_replace(scene, b->source == PELTI_VK_LIST_MADE);
    }
    uint64_t sequence = scene->sequence;
    for (uint32_t i = 0; i < scene->weighted.count; i++) {
        scene->instances[scene->weighted.slots[i]].weight_mark = PELT_NONE;
    }
    scene->weighted.count = 0;
    scene->written_count = 0;
    scene->written_joints = 0;
    scene->marked_count = 0;
    scene->marked_items = 0;
    scene->marked_vertices = 0;
    scene->marked_reduced = 0;
    scene->marked_conservative = 0;
    scene->copies.count = 0;
    pelti_vk_table_flushed(&scene->palette_table, &scene->retirement, sequence);
    pelti_vk_table_flushed(&scene->instance_table, &scene->retirement, sequence);
    pelti_vk_table_flushed(&scene->boxes, &scene->retirement, sequence);
    pelti_vk_table_flushed(&scene->conservative_boxes, &scene->retirement, sequence);
    pelti_vk_ring_close(scene->ring, sequence);
    scene->frames[scene->frame_count++] = (pelti_vk_frame){frame, sequence};
    scene->boxes_recorded = scene->instance_slots.count;
    scene->sequence++; // nothing is marked or written any more
    scene->recorded = true;
    scene->last_frame = frame;
}

pelt_result pelt_vk_record(pelt_vk_scene *scene, VkCommandBuffer cmd, uint64_t frame, pelt_vk_statistics *statistics,
                           pelt_error *error)
{
    return pelt_vk_record_timed(scene, cmd, frame, NULL, statistics, error);
}

pelt_result pelt_vk_record_timed(pelt_vk_scene *scene, VkCommandBuffer cmd, uint64_t frame,
                                 const pelt_vk_timestamps *timestamps, pelt_vk_statistics *statistics,
                                 pelt_error *error)
{
    if (statistics) {
        *statistics = (pelt_vk_statistics){0};
    }
    pelti_error_clear(error);
    if (!scene || !cmd) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "scene or command buffer is NULL");
    }
    if (scene->recorded && frame <= scene->last_frame) {
        return pelti_fail(error, PELT_ERROR_ARGUMENT, "", "frame %llu does not come after frame %llu",
                          (unsigned long long)frame, (unsigned long long)scene->last_frame);
    }
    batch b = {.scene = scene, .cmd = cmd, .timestamps = timestamps ? *timestamps : (pelt_vk_timestamps){0}};
    // Adding may merge a copy with the one before: to go back, that one must be kept too.
    uint32_t copy_count = scene->copies.count;
    pelti_vk_copy last = copy_count ? scene->copies.items[copy_count - 1] : (pelti_vk_copy){0};
    pelti_vk_ring_mark mark = pelti_vk_ring_here(scene->ring);
    pelt_result result = prepare(&b, error);
    if (result != PELT_OK) {
        scene->copies.count = copy_count;
        if (copy_count) {
            scene->copies.items[copy_count - 1] = last;
        }
        pelti_vk_ring_rewind(scene->ring, &mark);
        return result;
    }
    pelt_vk_statistics counted = statistics ? count(scene, &b) : (pelt_vk_statistics){0};
    write_lists(&b);
    record_commands(&b);
    finish(&b, frame);
    if (statistics) {
        counted.dispatch_count = b.dispatch_count;
        counted.barrier_count = b.barrier_count;
        *statistics = counted;
    }
    return PELT_OK;
}
