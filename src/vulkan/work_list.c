// SPDX-License-Identifier: MIT
// Whether the list of work items of an earlier record can be used again. It holds the slot, mesh, parity and item
// numbers of every update. An instance's mesh never changes, and its slot gets another one only after it was removed.
#include "scene.h"

uint32_t pelti_vk_list_kind(const pelti_vk_update *update)
{
    uint32_t kind = (update->flags & PELTI_VK_DIRECTIONS ? 0U : 2U) + (update->flags & PELTI_VK_SMALL ? 1U : 0U);
    return update->flags & PELTI_VK_RUNS ? kind : 4;
}

bool pelti_vk_list_repeats(const pelt_vk_scene *scene, uint32_t *out_parity)
{
    const pelti_vk_work_list *list = &scene->list;
    if (scene->marked_count == 0 || list->update_count != scene->marked_count) {
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

void pelti_vk_list_forget(pelti_vk_work_list *list)
{
    list->update_count = 0;
    list->in_scratch = false;
}

void pelti_vk_list_replace(pelt_vk_scene *scene, bool in_scratch)
{
    pelti_vk_work_list *list = &scene->list;
    pelti_vk_update *updates = list->updates;
    uint32_t capacity = list->update_capacity;
    list->updates = scene->marked;
    list->update_capacity = scene->marked_capacity;
    list->update_count = scene->marked_count;
    list->in_scratch = in_scratch;
    scene->marked = updates;
    scene->marked_capacity = capacity;
}
