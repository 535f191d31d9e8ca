// SPDX-License-Identifier: MIT
// Where the outputs lie, as of the last record.
#include "scene.h"

// count boxes from first on; {0} where there is no room for them yet.
static pelt_vk_stream box_stream(const pelti_vk_table *t, uint32_t first, uint32_t count)
{
    // What has grown since the last record is not copied yet: until then the old range holds the boxes.
    const pelti_vk_range *range = t->before.size ? &t->before : &t->range;
    VkDeviceSize offset = (VkDeviceSize)first * sizeof(pelt_box);
    VkDeviceSize size = (VkDeviceSize)count * sizeof(pelt_box);
    if (count == 0 || offset + size > range->size) {
        return (pelt_vk_stream){0};
    }
    return (pelt_vk_stream){.buffer = range->buffer,
                            .offset = range->offset + offset,
                            .size = size,
                            .address = range->address + offset,
                            .stride = sizeof(pelt_box),
                            .format = VK_FORMAT_R32G32B32_SFLOAT};
}

pelt_result pelt_vk_scene_boxes(const pelt_vk_scene *scene, pelt_vk_boxes *out)
{
    if (!scene || !out) {
        return PELT_ERROR_ARGUMENT;
    }
    uint32_t count = scene->boxes_recorded;
    *out = (pelt_vk_boxes){.exact = box_stream(&scene->boxes, 0, count), .count = count};
    if (scene->options.allow_conservative) {
        out->conservative = box_stream(&scene->conservative_boxes, 0, count);
    }
    return PELT_OK;
}

static pelt_vk_stream stream_at(const pelti_vk_range *range, VkDeviceSize offset, VkDeviceSize count, uint32_t stride,
                                VkFormat format)
{
    if (offset == PELTI_VK_NO_OFFSET || count == 0 || range->size == 0) {
        return (pelt_vk_stream){0};
    }
    return (pelt_vk_stream){range->buffer, range->offset + offset, count * stride, range->address + offset, stride,
                            format};
}

pelt_result pelt_vk_instance_view(const pelt_vk_scene *scene, pelt_vk_instance handle, pelt_vk_view *out)
{
    if (!scene || !out || !pelti_vk_slots_live(&scene->instance_slots, handle.index, handle.generation)) {
        return PELT_ERROR_ARGUMENT;
    }
    const pelti_vk_instance *instance = &scene->instances[handle.index];
    const pelti_vk_outputs *o = &scene->outputs[handle.index];
    const pelti_vk_mesh *mesh = &scene->meshes[instance->mesh];
    uint32_t n = mesh->vertex_count;
    // A marked update has not happened yet: what is there is the one before.
    bool pending = instance->marked_by == scene->sequence;
    uint64_t updated_by = pending ? instance->marked_before : instance->marked_by;
    uint64_t update_count = instance->update_count - pending;
    uint32_t valid = pending ? PELTI_VK_PREVIOUS_WAS_VALID : PELTI_VK_PREVIOUS_VALID;
    bool odd = ((instance->flags & PELTI_VK_ODD) != 0) != pending;
    odd = odd && (instance->flags & PELTI_VK_KEEPS_PREVIOUS) && update_count > 0;
    *out = (pelt_vk_view){
        .generation = update_count,
        .updated = update_count > 0 && updated_by + 1 == scene->sequence,
        .vertex_count = n,
        .positions = stream_at(&o->range, odd ? o->previous : 0, n, 12, VK_FORMAT_R32G32B32_SFLOAT),
        .previous_valid = (instance->flags & valid) != 0,
        .normals = stream_at(&o->range, o->normals, n, 4, VK_FORMAT_R16G16_SNORM),
        .tangents = stream_at(&o->range, o->tangents, n, 4, VK_FORMAT_R32_UINT),
        .index_type = VK_INDEX_TYPE_NONE_KHR,
        .index_count = mesh->index_count,
    };
    if (instance->flags & PELTI_VK_KEEPS_PREVIOUS) {
        out->previous_positions = stream_at(&o->range, odd ? 0 : o->previous, n, 12, VK_FORMAT_R32G32B32_SFLOAT);
    }
    if (instance->flags & PELTI_VK_EXACT) {
        out->box = box_stream(&scene->boxes, handle.index, 1);
    }
    if (instance->flags & PELTI_VK_CONSERVATIVE) {
        out->conservative_box = box_stream(&scene->conservative_boxes, handle.index, 1);
    }
    if (mesh->index_size) {
        out->index_type = mesh->index_size == 2 ? VK_INDEX_TYPE_UINT16 : VK_INDEX_TYPE_UINT32;
        out->indices = stream_at(&mesh->range, mesh->indices, mesh->index_count, mesh->index_size,
                                 mesh->index_size == 2 ? VK_FORMAT_R16_UINT : VK_FORMAT_R32_UINT);
    }
    return PELT_OK;
}
