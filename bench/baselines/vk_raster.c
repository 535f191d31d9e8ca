// SPDX-License-Identifier: MIT
// The raster pipeline of vk_raster.h.
#include "vk_raster.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t fragment_words[] =
#include "baseline_draw.frag.inc"
    ;

enum {
    TARGET_SIZE = 16, // pixels a side, of timed draws
    TEXEL_SIZE = 16,
    WIDEST = 4096
};

static const VkFormat target_format = VK_FORMAT_R32G32B32A32_SFLOAT;

// ---- pass and pipelines

// Cleared, then left to be copied from. Passes may follow each other: each waits for the writes of the one before.
static bool create_pass(const bvk *vk, VkRenderPass *out)
{
    VkAttachmentDescription attachments[BVK_ATTACHMENTS];
    VkAttachmentReference references[BVK_ATTACHMENTS];
    for (uint32_t i = 0; i < BVK_ATTACHMENTS; i++) {
        attachments[i] = (VkAttachmentDescription){.format = target_format,
                                                   .samples = VK_SAMPLE_COUNT_1_BIT,
                                                   .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                                   .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                                   .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
                                                   .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
                                                   .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
                                                   .finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL};
        references[i] = (VkAttachmentReference){i, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    }
    VkSubpassDescription subpass = {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                    .colorAttachmentCount = BVK_ATTACHMENTS,
                                    .pColorAttachments = references};
    VkPipelineStageFlags colour = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    VkSubpassDependency dependencies[] = {{.srcSubpass = VK_SUBPASS_EXTERNAL,
                                           .dstSubpass = 0,
                                           .srcStageMask = colour | VK_PIPELINE_STAGE_TRANSFER_BIT,
                                           .dstStageMask = colour,
                                           .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                                           .dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT},
                                          {.srcSubpass = 0,
                                           .dstSubpass = VK_SUBPASS_EXTERNAL,
                                           .srcStageMask = colour,
                                           .dstStageMask = VK_PIPELINE_STAGE_TRANSFER_BIT,
                                           .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                                           .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT}};
    VkRenderPassCreateInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                   .attachmentCount = BVK_ATTACHMENTS,
                                   .pAttachments = attachments,
                                   .subpassCount = 1,
                                   .pSubpasses = &subpass,
                                   .dependencyCount = 2,
                                   .pDependencies = dependencies};
    return bvk_check(vk, vk->vkCreateRenderPass(vk->device.device, &info, NULL, out), "vkCreateRenderPass");
}

static bool create_layout(const bvk *vk, VkPipelineLayout *out)
{
    VkPushConstantRange range = {.stageFlags = VK_SHADER_STAGE_VERTEX_BIT, .size = BVK_PUSH_SIZE};
    VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                       .pushConstantRangeCount = 1,
                                       .pPushConstantRanges = &range};
    return bvk_check(vk, vk->vkCreatePipelineLayout(vk->device.device, &info, NULL, out), "vkCreatePipelineLayout");
}

static bool create_module(const bvk *vk, const uint32_t *words, size_t size, VkShaderModule *out)
{
    VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = words};
    return bvk_check(vk, vk->vkCreateShaderModule(vk->device.device, &info, NULL, out), "vkCreateShaderModule");
}

static bool create_pipeline(const bvk *vk, const bvk_raster *raster, const bvk_raster_input *input,
                            const VkPipelineShaderStageCreateInfo stages[2], VkPipeline *out)
{
    VkVertexInputBindingDescription bindings[5];
    VkVertexInputAttributeDescription attributes[5];
    for (uint32_t i = 0; i < input->stream_count; i++) {
        bindings[i] = (VkVertexInputBindingDescription){i, input->strides[i], VK_VERTEX_INPUT_RATE_VERTEX};
        attributes[i] = (VkVertexInputAttributeDescription){i, i, input->formats[i], 0};
    }
    VkPipelineVertexInputStateCreateInfo vertices = {.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
                                                     .vertexBindingDescriptionCount = input->stream_count,
                                                     .pVertexBindingDescriptions = bindings,
                                                     .vertexAttributeDescriptionCount = input->stream_count,
                                                     .pVertexAttributeDescriptions = attributes};
    VkPipelineInputAssemblyStateCreateInfo assembly = {.sType =
                                                           VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
                                                       .topology = VK_PRIMITIVE_TOPOLOGY_POINT_LIST};
    VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO, .viewportCount = 1, .scissorCount = 1};
    VkPipelineRasterizationStateCreateInfo state = {.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
                                                    .polygonMode = VK_POLYGON_MODE_FILL,
                                                    .lineWidth = 1};
    VkPipelineMultisampleStateCreateInfo samples = {.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
                                                    .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    VkPipelineColorBlendAttachmentState channels[BVK_ATTACHMENTS];
    for (uint32_t i = 0; i < BVK_ATTACHMENTS; i++) {
        channels[i] = (VkPipelineColorBlendAttachmentState){.colorWriteMask =
                                                                VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT |
                                                                VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT};
    }
    VkPipelineColorBlendStateCreateInfo blend = {.sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
                                                 .attachmentCount = BVK_ATTACHMENTS,
                                                 .pAttachments = channels};
    static const VkDynamicState dynamic_states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    VkPipelineDynamicStateCreateInfo dynamic = {.sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
                                                .dynamicStateCount = 2,
                                                .pDynamicStates = dynamic_states};
    VkGraphicsPipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                         .stageCount = 2,
                                         .pStages = stages,
                                         .pVertexInputState = &vertices,
                                         .pInputAssemblyState = &assembly,
                                         .pViewportState = &viewport,
                                         .pRasterizationState = &state,
                                         .pMultisampleState = &samples,
                                         .pColorBlendState = &blend,
                                         .pDynamicState = &dynamic,
                                         .layout = raster->layout,
                                         .renderPass = raster->pass};
    return bvk_check(vk, vk->vkCreateGraphicsPipelines(vk->device.device, VK_NULL_HANDLE, 1, &info, NULL, out),
                     "vkCreateGraphicsPipelines");
}

// The same shader twice; specialisation constant 0 tells them apart.
static bool create_pipelines(const bvk *vk, const bvk_raster_input *input, bvk_raster *raster)
{
    VkShaderModule vertex = VK_NULL_HANDLE;
    VkShaderModule fragment = VK_NULL_HANDLE;
    bool created = create_module(vk, input->words, input->size, &vertex) &&
                   create_module(vk, fragment_words, sizeof fragment_words, &fragment);
    for (uint32_t check = 0; check < 2 && created; check++) {
        VkSpecializationMapEntry entry = {.constantID = 0, .size = sizeof check};
        VkSpecializationInfo constants = {
            .mapEntryCount = 1, .pMapEntries = &entry, .dataSize = sizeof check, .pData = &check};
        VkPipelineShaderStageCreateInfo stages[] = {{.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                     .stage = VK_SHADER_STAGE_VERTEX_BIT,
                                                     .module = vertex,
                                                     .pName = "main",
                                                     .pSpecializationInfo = &constants},
                                                    {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                     .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
                                                     .module = fragment,
                                                     .pName = "main"}};
        created = create_pipeline(vk, raster, input, stages, check ? &raster->check : &raster->draw);
    }
    vk->vkDestroyShaderModule(vk->device.device, vertex, NULL);
    vk->vkDestroyShaderModule(vk->device.device, fragment, NULL);
    return created;
}

// ---- targets

static bool create_image(const bvk *vk, bvk_target *target, uint32_t at)
{
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                              .imageType = VK_IMAGE_TYPE_2D,
                              .format = target_format,
                              .extent = {target->width, target->height, 1},
                              .mipLevels = 1,
                              .arrayLayers = 1,
                              .samples = VK_SAMPLE_COUNT_1_BIT,
                              .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
    if (!bvk_check(vk, vk->vkCreateImage(vk->device.device, &info, NULL, &target->images[at]), "vkCreateImage")) {
        return false;
    }
    VkMemoryRequirements need;
    vk->vkGetImageMemoryRequirements(vk->device.device, target->images[at], &need);
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = need.size};
    if (!bvk_memory_type(vk, need.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &allocate.memoryTypeIndex) ||
        !bvk_check(vk, vk->vkAllocateMemory(vk->device.device, &allocate, NULL, &target->memories[at]),
                   "vkAllocateMemory") ||
        !bvk_check(vk, vk->vkBindImageMemory(vk->device.device, target->images[at], target->memories[at], 0),
                   "vkBindImageMemory")) {
        return false;
    }
    VkImageViewCreateInfo view = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                  .image = target->images[at],
                                  .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                  .format = target_format,
                                  .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    return bvk_check(vk, vk->vkCreateImageView(vk->device.device, &view, NULL, &target->views[at]),
                     "vkCreateImageView");
}

static bool create_target(const bvk *vk, VkRenderPass pass, uint32_t width, uint32_t height, bvk_target *out)
{
    *out = (bvk_target){.width = width, .height = height};
    for (uint32_t i = 0; i < BVK_ATTACHMENTS; i++) {
        if (!create_image(vk, out, i)) {
            return false;
        }
    }
    VkFramebufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                    .renderPass = pass,
                                    .attachmentCount = BVK_ATTACHMENTS,
                                    .pAttachments = out->views,
                                    .width = width,
                                    .height = height,
                                    .layers = 1};
    return bvk_check(vk, vk->vkCreateFramebuffer(vk->device.device, &info, NULL, &out->framebuffer),
                     "vkCreateFramebuffer");
}

static void destroy_target(const bvk *vk, bvk_target *target)
{
    vk->vkDestroyFramebuffer(vk->device.device, target->framebuffer, NULL);
    for (uint32_t i = 0; i < BVK_ATTACHMENTS; i++) {
        vk->vkDestroyImageView(vk->device.device, target->views[i], NULL);
        vk->vkDestroyImage(vk->device.device, target->images[i], NULL);
        vk->vkFreeMemory(vk->device.device, target->memories[i], NULL);
    }
    *target = (bvk_target){0};
}

// ----

bool bvk_raster_create(const bvk *vk, const bvk_raster_input *input, bvk_raster *out)
{
    if (!vk->device.has_graphics) {
        return bvk_fail(vk, "the queue has no graphics");
    }
    return create_pass(vk, &out->pass) && create_layout(vk, &out->layout) && create_pipelines(vk, input, out) &&
           create_target(vk, out->pass, TARGET_SIZE, TARGET_SIZE, &out->target);
}

void bvk_raster_destroy(const bvk *vk, bvk_raster *raster)
{
    if (!vk->device.device) {
        return;
    }
    destroy_target(vk, &raster->target);
    vk->vkDestroyPipeline(vk->device.device, raster->draw, NULL);
    vk->vkDestroyPipeline(vk->device.device, raster->check, NULL);
    vk->vkDestroyPipelineLayout(vk->device.device, raster->layout, NULL);
    vk->vkDestroyRenderPass(vk->device.device, raster->pass, NULL);
}

void bvk_raster_begin(const bvk *vk, VkCommandBuffer commands, const bvk_raster *raster, VkPipeline pipeline,
                      const bvk_target *target)
{
    VkClearValue clears[BVK_ATTACHMENTS] = {{.color = {.float32 = {0}}}};
    VkRect2D area = {{0, 0}, {target->width, target->height}};
    VkViewport viewport = {0, 0, (float)target->width, (float)target->height, 0, 1};
    VkRenderPassBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                   .renderPass = raster->pass,
                                   .framebuffer = target->framebuffer,
                                   .renderArea = area,
                                   .clearValueCount = BVK_ATTACHMENTS,
                                   .pClearValues = clears};
    vk->vkCmdBeginRenderPass(commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
    vk->vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vk->vkCmdSetViewport(commands, 0, 1, &viewport);
    vk->vkCmdSetScissor(commands, 0, 1, &area);
}

bvk_raster_push bvk_raster_away(void)
{
    return (bvk_raster_push){.clip_from_world = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1}};
}

// ---- reading back

static bool draw_and_copy(const bvk *vk, const bvk_raster *raster, const bvk_target *target, bvk_raster_push *push,
                          bvk_raster_draw *draw, void *context, const bvk_buffer *texels)
{
    if (!bvk_begin(vk)) {
        return false;
    }
    push->width = target->width;
    push->height = target->height;
    bvk_raster_begin(vk, vk->commands, raster, raster->check, target);
    draw(context, vk->commands, push);
    vk->vkCmdEndRenderPass(vk->commands);
    VkDeviceSize size = (VkDeviceSize)target->width * target->height * TEXEL_SIZE;
    for (uint32_t i = 0; i < BVK_ATTACHMENTS; i++) {
        VkBufferImageCopy region = {.bufferOffset = i * size,
                                    .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                    .imageExtent = {target->width, target->height, 1}};
        vk->vkCmdCopyImageToBuffer(vk->commands, target->images[i], VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                   texels->buffer, 1, &region);
    }
    return bvk_run(vk);
}

// Four floats of each texel are there, components of them are wanted.
static bool download(const bvk *vk, const bvk_buffer *texels, VkDeviceSize offset, uint32_t count, uint32_t components,
                     float *out)
{
    float *all = malloc(((size_t)count + 1) * TEXEL_SIZE);
    bool copied =
        all ? bvk_download(vk, texels, offset, all, (size_t)count * TEXEL_SIZE) : bvk_fail(vk, "out of memory");
    for (size_t i = 0; copied && i < count; i++) {
        memcpy(out + i * components, all + i * 4, components * sizeof *out);
    }
    free(all);
    return copied;
}

bool bvk_raster_read(const bvk *vk, const bvk_raster *raster, uint32_t first_vertex, uint32_t vertex_count,
                     bvk_raster_draw *draw, void *context, baseline_vk_output *out)
{
    uint32_t width = vertex_count < WIDEST ? vertex_count : WIDEST; // every device has so many
    uint32_t height = vertex_count ? (vertex_count - 1) / width + 1 : 0;
    if (vertex_count == 0) {
        return true;
    }
    if (height > vk->limits.maxFramebufferHeight || height > vk->limits.maxImageDimension2D) {
        return bvk_fail(vk, "%u vertices are too many to be read at once", vertex_count);
    }
    bvk_target target;
    bvk_buffer texels = {0};
    bvk_raster_push push = {.first_vertex = first_vertex};
    VkDeviceSize size = (VkDeviceSize)width * height * TEXEL_SIZE;
    bool read = create_target(vk, raster->pass, width, height, &target) &&
                bvk_buffer_create(vk, size * BVK_ATTACHMENTS, &texels) &&
                draw_and_copy(vk, raster, &target, &push, draw, context, &texels) &&
                download(vk, &texels, 0, vertex_count, 3, out->positions) &&
                download(vk, &texels, size, vertex_count, 3, out->normals) &&
                download(vk, &texels, size * 2, vertex_count, 4, out->tangents);
    bvk_buffer_destroy(vk, &texels);
    destroy_target(vk, &target);
    return read;
}
