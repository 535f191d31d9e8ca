// SPDX-License-Identifier: MIT
// Recording: everything that can fail first, then the passes with their barriers (docs/vulkan.md explains each).
//
//     acquire | copies | barrier | palette, items | barrier | skin, joint bounds | barrier | reduce | release
#include "scene.h"

// What one record consists of. Spans are mapped memory of this frame.
typedef struct batch {
    pelt_vk_scene *scene;
    VkCommandBuffer cmd;
    pelt_vk_timestamps timestamps;
    pelti_vk_work work;
    uint32_t palette_count;
    uint32_t conservative_count;
    pelti_vk_span palettes;     // gpu_palette_update, of each part
    pelti_vk_span conservative; // uint32_t, instances
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
    pelti_vk_table *tables[] = {&scene->instance_table, &scene->boxes, &scene->conservative_boxes};
    pelt_result result = PELT_OK;
    for (size_t i = 0; result == PELT_OK && i < sizeof tables / sizeof tables[0]; i++) {
        result = pelti_vk_table_flush(tables[i], scene->ring, &scene->copies, error);
    }
    return result;
}

static pelt_result take(pelti_vk_ring *ring, VkDeviceSize size, pelti_vk_span *out_span, pelt_error *error)
{
    return size > 0 ? pelti_vk_ring_take(ring, size, out_span, error) : PELT_OK;
}

// Everything that can fail. Nothing is lost when it does: marks and dirty records stay, and pelt_vk_record takes copies
// and the ring back to what they were.
static pelt_result prepare(batch *b, pelt_error *error)
{
    pelt_vk_scene *scene = b->scene;
    b->palette_count = scene->written_count;
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
    result = result == PELT_OK ? pelti_vk_work_prepare(scene, &b->work, error) : result;
    VkDeviceSize palettes_size = scene->written_parts * sizeof(gpu_palette_update);
    VkDeviceSize conservative_size = b->conservative_count * sizeof(uint32_t);
    result = result == PELT_OK ? take(scene->ring, palettes_size, &b->palettes, error) : result;
    return result == PELT_OK ? take(scene->ring, conservative_size, &b->conservative, error) : result;
}

// Palettes in parts of few joints, so that one of many does not keep a few threads at work while others are done.
static void write_palettes(const batch *b)
{
    gpu_palette_update *parts = b->palettes.data;
    for (uint32_t i = 0; i < b->palette_count; i++) {
        gpu_palette_update rest = b->scene->written[i];
        while (rest.joint_count > PELTI_VK_PART_JOINTS) {
            const uint64_t size = PELTI_VK_PART_JOINTS * sizeof(pelt_mat34);
            gpu_palette_update part = rest;
            part.joint_count = PELTI_VK_PART_JOINTS;
            *parts++ = part;
            rest.worlds += size;
            rest.binds += size;
            rest.matrices += size;
            rest.kept_worlds += rest.kept_worlds ? size : 0;
            rest.joint_count -= PELTI_VK_PART_JOINTS;
        }
        *parts++ = rest;
    }
}

static void write_lists(const batch *b)
{
    const pelt_vk_scene *scene = b->scene;
    write_palettes(b);
    uint32_t *conservative = b->conservative.data;
    for (uint32_t i = 0; b->conservative_count > 0 && i < scene->marked_count; i++) {
        if (scene->marked[i].flags & PELTI_VK_CONSERVATIVE) {
            *conservative++ = scene->marked[i].instance & ~GPU_PARITY;
        }
    }
    pelti_vk_work_write(scene, &b->work);
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
    grid g = make_grid(b, (b->work.update_count - 1) / GPU_ITEMS_THREADS + 1);
    gpu_items_push push = {.updates = b->work.updates.address,
                           .instances = b->scene->instance_table.range.address,
                           .frame_items = b->work.frame_items,
                           .full_items = b->work.full_items,
                           .full_count = b->work.full_count,
                           .reduces = b->work.frame_reduces,
                           .update_count = b->work.update_count,
                           .item_count = b->work.item_count,
                           .group_columns = g.columns};
    dispatch(b, PELTI_VK_ITEMS, &push, sizeof push, g);
}

static void record_palettes(batch *b)
{
    // A thread does three rows where each part has as many threads as joints.
    const uint32_t parts = b->scene->written_parts;
    uint64_t joints = b->scene->written_joints / parts;
    uint32_t threads = 4;
    while (threads < GPU_PALETTE_THREADS && threads * 2 <= joints) {
        threads *= 2;
    }
    uint32_t together = GPU_PALETTE_THREADS / threads;
    grid g = make_grid(b, (parts - 1) / together + 1);
    gpu_palette_push push = {b->palettes.address, parts, threads, g.columns};
    dispatch(b, PELTI_VK_PALETTE, &push, sizeof push, g);
}

static pelti_vk_pass pass_of(const batch *b, uint32_t kind, bool full)
{
    static const pelti_vk_pass passes[PELTI_VK_KIND_COUNT] = {
        [PELTI_VK_KIND_USUAL_SMALL] = PELTI_VK_SKIN_USUAL_SMALL,
        [PELTI_VK_KIND_RUNS_SMALL] = PELTI_VK_SKIN_RUNS_SMALL,
        [PELTI_VK_KIND_USUAL] = PELTI_VK_SKIN_USUAL,
        [PELTI_VK_KIND_RUNS] = PELTI_VK_SKIN_RUNS,
        [PELTI_VK_KIND_ANY] = PELTI_VK_SKIN,
    };
    if (full) {
        return kind == PELTI_VK_KIND_USUAL_SMALL ? PELTI_VK_SKIN_USUAL_SMALL_FULL : PELTI_VK_SKIN_RUNS_SMALL_FULL;
    }
    // Few items get more threads each, and these pipelines alone know of shares.
    bool few = b->work.split > 0 || b->work.kind_items[kind] < b->scene->context->few_groups;
    if (few && pelti_vk_kind_is_shared(kind)) {
        return kind == PELTI_VK_KIND_USUAL ? PELTI_VK_SKIN_USUAL_FEW : PELTI_VK_SKIN_RUNS_FEW;
    }
    return passes[kind];
}

static void record_skin(batch *b)
{
    pelt_vk_scene *scene = b->scene;
    uint32_t first = 0;
    uint32_t first_group = 0;
    for (uint32_t k = 0; k < PELTI_VK_KIND_COUNT; k++) {
        if (b->work.kind_items[k] > 0) {
            bool full = first < b->work.full_count;
            uint32_t split = pelti_vk_kind_is_shared(k) ? b->work.split : 0;
            uint32_t group_count = b->work.kind_items[k] << split;
            grid g = make_grid(b, group_count);
            gpu_skin_push push = {.frame_items = full ? b->work.full_items + first * sizeof(gpu_full_item)
                                                      : b->work.frame_items + first * sizeof(gpu_frame_item),
                                  .instances = scene->instance_table.range.address,
                                  .partials = b->work.partials + first_group * sizeof(pelt_box),
                                  .boxes = scene->boxes.range.address,
                                  .group_count = group_count,
                                  .group_columns = g.columns,
                                  .zero = 0.0F,
                                  .three = 3,
                                  .parity = b->work.parity,
                                  .split = split,
                                  .ahead = scene->context->resident_groups};
            dispatch(b, pass_of(b, k, full), &push, sizeof push, g);
            first += b->work.kind_items[k];
            first_group += group_count;
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
    grid g = make_grid(b, b->work.reduce_count);
    gpu_reduce_push push = {.reduces = b->work.frame_reduces,
                            .partials = b->work.partials,
                            .boxes = b->scene->boxes.range.address,
                            .reduce_count = b->work.reduce_count,
                            .group_columns = g.columns,
                            .split = b->work.split,
                            .shared_first = b->work.shared_first,
                            .shared_count = b->work.shared_count};
    dispatch(b, PELTI_VK_REDUCE, &push, sizeof push, g);
}

static void record_commands(batch *b)
{
    pelt_vk_scene *scene = b->scene;
    const pelt_vk_scene_options *o = &scene->options;
    bool copies = scene->copies.count > 0;
    timestamp(b, PELT_VK_TIMESTAMP_BEGIN);
    if (!copies && b->palette_count == 0 && b->work.update_count == 0) {
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
    if (copies && (b->palette_count > 0 || b->work.update_count > 0)) {
        barrier(b, transfer, VK_ACCESS_2_TRANSFER_WRITE_BIT, compute, compute_access);
    }
    timestamp(b, PELT_VK_TIMESTAMP_UPLOADS);
    if (b->palette_count > 0) {
        record_palettes(b);
    }
    timestamp(b, PELT_VK_TIMESTAMP_PALETTES);
    bool makes_list = b->work.source == PELTI_VK_LIST_MADE;
    if (makes_list) {
        record_items(b);
    }
    timestamp(b, PELT_VK_TIMESTAMP_ITEMS);
    if (makes_list || b->palette_count > 0) {
        between_passes(b);
    }
    if (b->work.update_count > 0) {
        record_skin(b);
    }
    timestamp(b, PELT_VK_TIMESTAMP_SKIN);
    if (b->work.reduce_count > 0) {
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
        .instance_count = b->work.update_count,
        .item_count = b->work.item_count,
        .vertex_count = scene->marked_vertices,
        .reduced_count = b->work.reduce_count,
        .conservative_count = b->conservative_count,
        .written_bytes = pelti_vk_ring_taken(scene->ring),
        .copied_bytes = copied_bytes(&scene->copies),
    };
}

// Marks, copies and mapped memory start anew for the next record.
static void finish(batch *b, uint64_t frame)
{
    pelt_vk_scene *scene = b->scene;
    pelti_vk_work_finish(scene, &b->work);
    uint64_t sequence = scene->sequence;
    for (uint32_t i = 0; i < scene->weighted.count; i++) {
        scene->instances[scene->weighted.slots[i]].weight_mark = PELT_NONE;
    }
    scene->weighted.count = 0;
    scene->written_count = 0;
    scene->written_joints = 0;
    scene->written_parts = 0;
    scene->marked_count = 0;
    scene->marked_items = 0;
    scene->marked_vertices = 0;
    scene->marked_reduced = 0;
    scene->marked_conservative = 0;
    scene->copies.count = 0;
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
