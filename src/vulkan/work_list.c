// SPDX-License-Identifier: MIT
// The list of work items: written by the CPU, made by items.comp, or that of an earlier record. It holds the slot,
// mesh, parity and item numbers of every update, and of full items what their records say. An instance's mesh never
// changes, and its slot gets another one only after it was removed.
#include "scene.h"

// ---- choosing

static uint32_t kind_of(const pelti_vk_update *update)
{
    bool usual = (update->flags & PELTI_VK_DIRECTIONS) != 0;
    if (!(update->flags & PELTI_VK_RUNS)) {
        return PELTI_VK_KIND_ANY;
    }
    if (update->flags & PELTI_VK_SMALL) {
        return usual ? PELTI_VK_KIND_USUAL_SMALL : PELTI_VK_KIND_RUNS_SMALL;
    }
    return usual ? PELTI_VK_KIND_USUAL : PELTI_VK_KIND_RUNS;
}

// Whether the marked instances, of which there are some, are those of the list in the same order and with the same
// items. Then *out_parity is GPU_PARITY where all of them write the other positions, else 0.
static bool repeats(const pelt_vk_scene *scene, uint32_t *out_parity)
{
    const pelti_vk_work_list *list = &scene->list;
    if (list->update_count != scene->marked_count) {
        return false;
    }
    // All parities turn in every record that has these updates, and any other replaces the list.
    const uint32_t turn = (list->updates[0].instance ^ scene->marked[0].instance) & GPU_PARITY;
    for (uint32_t i = 0; i < list->update_count; i++) {
        const pelti_vk_update *a = &list->updates[i];
        const pelti_vk_update *b = &scene->marked[i];
        if ((a->instance ^ b->instance) != turn || a->flags != b->flags || a->item_count != b->item_count) {
            return false;
        }
    }
    *out_parity = turn;
    return true;
}

// How many items are worth to be full, which costs making the list once more: those of few vertices, behind which a
// workgroup can hide the wait for records the least, where they are most of the list.
static uint32_t count_full(const pelti_vk_work *work)
{
    uint32_t small = work->kind_items[PELTI_VK_KIND_USUAL_SMALL] + work->kind_items[PELTI_VK_KIND_RUNS_SMALL];
    return small > work->item_count / 2 ? small : 0;
}

// A list that comes again is made where it can stay, with full items, which take longer to make: a long one that was
// made without them before is made once more.
static void choose_again(const pelt_vk_scene *scene, pelti_vk_work *work, uint32_t parity)
{
    const pelti_vk_work_list *list = &scene->list;
    memcpy(work->kind_updates, list->kind_updates, sizeof work->kind_updates);
    memcpy(work->kind_items, list->kind_items, sizeof work->kind_items);
    work->full_count = count_full(work);
    bool stays = list->in_scratch && list->full_count == work->full_count;
    work->source = stays ? PELTI_VK_LIST_KEPT : PELTI_VK_LIST_MADE;
    work->parity = stays ? parity : 0;
}

// One that comes for the first time is written where it is short.
static void choose_source(const pelt_vk_scene *scene, pelti_vk_work *work)
{
    uint32_t turn = 0;
    if (work->update_count == 0) {
        work->source = PELTI_VK_LIST_KEPT;
        return;
    }
    if (repeats(scene, &turn)) {
        choose_again(scene, work, turn);
        return;
    }
    for (uint32_t i = 0; i < work->update_count; i++) {
        uint32_t kind = kind_of(&scene->marked[i]);
        work->kind_updates[kind]++;
        work->kind_items[kind] += scene->marked[i].item_count;
    }
    work->source = work->item_count < PELTI_VK_WRITTEN_ITEMS ? PELTI_VK_LIST_WRITTEN : PELTI_VK_LIST_MADE;
}

// A workgroup each would leave much of the device idle where there are few items, so that several share those of the
// kinds that can be, unless each is alone in its mesh. The same kinds are always shared alike, so that the scratch
// memory of a list that is kept is large enough.
static void choose_split(const pelt_vk_context *context, pelti_vk_work *work)
{
    for (uint32_t k = 0; k < PELTI_VK_KIND_COUNT; k++) {
        work->shared_first += k < PELTI_VK_KIND_USUAL ? work->kind_items[k] : 0;
        work->shared_count += pelti_vk_kind_is_shared(k) ? work->kind_items[k] : 0;
    }
    work->group_count = work->item_count;
    bool can = work->shared_count > 0 && work->item_count > work->update_count;
    for (uint32_t split = 1; can && split <= PELTI_VK_MOST_SPLIT; split++) {
        uint64_t groups = work->item_count + ((uint64_t)work->shared_count << split) - work->shared_count;
        if (groups <= context->split_groups) {
            work->split = split;
            work->group_count = (uint32_t)groups;
        }
    }
}

// ---- memory

// Frame items and partial boxes, as many of each as there are workgroups, since there are no more items; and reduces,
// for which at least two items each are needed.
static pelt_result reserve_scratch(pelt_vk_scene *scene, uint64_t group_count, pelt_error *error)
{
    if (group_count <= scene->scratch_items) {
        return PELT_OK;
    }
    uint64_t capacity = scene->scratch_items ? scene->scratch_items : 1024;
    while (capacity < group_count) {
        capacity *= 2;
    }
    if (!pelti_vk_retirement_reserve(&scene->retirement, 1)) {
        return pelti_fail(error, PELT_ERROR_MEMORY, "", "out of memory for work items");
    }
    pelti_vk_range grown = {0};
    VkDeviceSize size = capacity * (sizeof(gpu_full_item) + sizeof(pelt_box)) + capacity / 2 * sizeof(gpu_reduce);
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

// Mapped memory for a list that is written, or for what one is made of.
static pelt_result take_spans(const pelt_vk_scene *scene, pelti_vk_work *work, pelt_error *error)
{
    if (work->source == PELTI_VK_LIST_KEPT) {
        return PELT_OK;
    }
    if (work->source == PELTI_VK_LIST_MADE) {
        return pelti_vk_ring_take(scene->ring, work->update_count * sizeof(gpu_update), &work->updates, error);
    }
    pelt_result result =
        pelti_vk_ring_take(scene->ring, work->item_count * sizeof(gpu_frame_item), &work->items, error);
    if (result == PELT_OK && work->reduce_count > 0) {
        result = pelti_vk_ring_take(scene->ring, work->reduce_count * sizeof(gpu_reduce), &work->reduces, error);
    }
    return result;
}

pelt_result pelti_vk_work_prepare(pelt_vk_scene *scene, pelti_vk_work *work, pelt_error *error)
{
    const uint32_t *limits = scene->context->limits.maxComputeWorkGroupCount;
    // Shaders index with signed numbers.
    if (scene->marked_items > INT32_MAX || scene->marked_items > (uint64_t)limits[0] * limits[1]) {
        return pelti_fail(error, PELT_ERROR_LIMIT, "", "%llu work items in one update are more than the device can do",
                          (unsigned long long)scene->marked_items);
    }
    *work = (pelti_vk_work){.update_count = scene->marked_count,
                            .item_count = (uint32_t)scene->marked_items,
                            .reduce_count = scene->marked_reduced};
    choose_source(scene, work);
    choose_split(scene->context, work);
    pelt_result result = reserve_scratch(scene, work->group_count, error);
    result = result == PELT_OK ? take_spans(scene, work, error) : result;
    bool writes = work->source == PELTI_VK_LIST_WRITTEN;
    work->full_items = scene->scratch.address;
    VkDeviceSize longer = work->full_count * (sizeof(gpu_full_item) - sizeof(gpu_frame_item));
    work->frame_items = writes ? work->items.address : scene->scratch.address + longer;
    work->partials = scene->scratch.address + scene->scratch_items * sizeof(gpu_full_item);
    work->frame_reduces = writes ? work->reduces.address : work->partials + scene->scratch_items * sizeof(pelt_box);
    return result;
}

// ---- writing

static void write_items(const pelt_vk_scene *scene, const pelti_vk_update *update, gpu_frame_item *items)
{
    const gpu_instance *instance = pelti_vk_table_get(&scene->instance_table, update->instance & ~GPU_PARITY);
    for (uint32_t i = 0; i < update->item_count; i++) {
        items[i] = (gpu_frame_item){instance->mesh, update->instance, i};
    }
}

// Mapped memory is never read, as it may be uncached.
void pelti_vk_work_write(const pelt_vk_scene *scene, const pelti_vk_work *work)
{
    if (work->source == PELTI_VK_LIST_KEPT) {
        return;
    }
    bool writes = work->source == PELTI_VK_LIST_WRITTEN;
    uint32_t updates[PELTI_VK_KIND_COUNT]; // ends of what is written
    uint32_t items[PELTI_VK_KIND_COUNT];
    uint32_t next_update = 0;
    uint32_t next_item = 0;
    for (uint32_t k = 0; k < PELTI_VK_KIND_COUNT; k++) {
        updates[k] = next_update;
        items[k] = next_item;
        next_update += work->kind_updates[k];
        next_item += work->kind_items[k];
    }
    uint32_t reduce_count = 0;
    for (uint32_t i = 0; i < work->update_count; i++) {
        const pelti_vk_update *update = &scene->marked[i];
        uint32_t kind = kind_of(update);
        uint32_t first = items[kind];
        bool reduced = (update->flags & PELTI_VK_EXACT) && update->item_count > 1;
        uint32_t reduce = reduced ? reduce_count++ : GPU_NO_REDUCE;
        if (writes) {
            write_items(scene, update, (gpu_frame_item *)work->items.data + first);
        } else {
            ((gpu_update *)work->updates.data)[updates[kind]++] = (gpu_update){update->instance, first, reduce};
        }
        if (writes && reduced) {
            ((gpu_reduce *)work->reduces.data)[reduce] =
                (gpu_reduce){update->instance & ~GPU_PARITY, first, update->item_count};
        }
        items[kind] += update->item_count;
    }
}

// ---- keeping

void pelti_vk_work_finish(pelt_vk_scene *scene, const pelti_vk_work *work)
{
    if (work->source == PELTI_VK_LIST_KEPT) {
        return;
    }
    pelti_vk_work_list *list = &scene->list;
    memcpy(list->kind_updates, work->kind_updates, sizeof list->kind_updates);
    memcpy(list->kind_items, work->kind_items, sizeof list->kind_items);
    list->in_scratch = work->source == PELTI_VK_LIST_MADE;
    list->full_count = work->full_count;
    list->update_count = work->update_count;
    // The marked instances become those of the list.
    pelti_vk_update *updates = list->updates;
    uint32_t capacity = list->update_capacity;
    list->updates = scene->marked;
    list->update_capacity = scene->marked_capacity;
    scene->marked = updates;
    scene->marked_capacity = capacity;
}

void pelti_vk_list_forget(pelti_vk_work_list *list)
{
    list->update_count = 0;
    list->in_scratch = false;
}
