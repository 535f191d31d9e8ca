// SPDX-License-Identifier: MIT
// The small renderer of peltt_vk_draw.h.
#include "peltt_vk_draw.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    SIZE = PELTT_VK_DRAW_SIZE,
    FEWEST_SURE = 400 // pixels
};

static const double margin = 0.05; // pixels from an edge within which coverage is not judged

static const uint32_t vertex_code[] =
#include "peltt_vk_draw.vert.inc"
    ;
static const uint32_t fragment_code[] =
#include "peltt_vk_draw.frag.inc"
    ;

static void require(VkResult result)
{
    assert_int_equal(result, VK_SUCCESS);
}

static VkShaderModule module_of(peltt_vk *vk, const uint32_t *code, size_t size)
{
    VkShaderModule module = VK_NULL_HANDLE;
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = code};
    require(PELTT_VK(vk, vkCreateShaderModule)(vk->device, &info, NULL, &module));
    return module;
}

// Clears, and leaves the image to be copied from.
static void create_pass(peltt_vk_draw *draw, peltt_vk *vk)
{
    const VkAttachmentDescription attachment = {.format = VK_FORMAT_R8_UNORM,
                                                .samples = VK_SAMPLE_COUNT_1_BIT,
                                                .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                                .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                                .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
                                                .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
                                                .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
                                                .finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL};
    const VkAttachmentReference reference = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkSubpassDescription subpass = {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                          .colorAttachmentCount = 1,
                                          .pColorAttachments = &reference};
    const VkSubpassDependency to_copy = {.srcSubpass = 0,
                                         .dstSubpass = VK_SUBPASS_EXTERNAL,
                                         .srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                                         .dstStageMask = VK_PIPELINE_STAGE_TRANSFER_BIT,
                                         .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                                         .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT};
    const VkRenderPassCreateInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                         .attachmentCount = 1,
                                         .pAttachments = &attachment,
                                         .subpassCount = 1,
                                         .pSubpasses = &subpass,
                                         .dependencyCount = 1,
                                         .pDependencies = &to_copy};
    require(PELTT_VK(vk, vkCreateRenderPass)(vk->device, &info, NULL, &draw->pass));
}

static void create_pipeline(peltt_vk_draw *draw, peltt_vk *vk, VkShaderModule vertex, VkShaderModule fragment)
{
    const VkPipelineShaderStageCreateInfo stages[2] = {{.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                        .stage = VK_SHADER_STAGE_VERTEX_BIT,
                                                        .module = vertex,
                                                        .pName = "main"},
                                                       {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                        .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
                                                        .module = fragment,
                                                        .pName = "main"}};
    const VkVertexInputBindingDescription binding = {0, 12, VK_VERTEX_INPUT_RATE_VERTEX};
    const VkVertexInputAttributeDescription attribute = {0, 0, VK_FORMAT_R32G32B32_SFLOAT, 0};
    const VkPipelineVertexInputStateCreateInfo input = {.sType =
                                                            VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
                                                        .vertexBindingDescriptionCount = 1,
                                                        .pVertexBindingDescriptions = &binding,
                                                        .vertexAttributeDescriptionCount = 1,
                                                        .pVertexAttributeDescriptions = &attribute};
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    const VkViewport viewport = {0, 0, SIZE, SIZE, 0, 1};
    const VkRect2D scissor = {{0, 0}, {SIZE, SIZE}};
    const VkPipelineViewportStateCreateInfo views = {.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
                                                     .viewportCount = 1,
                                                     .pViewports = &viewport,
                                                     .scissorCount = 1,
                                                     .pScissors = &scissor};
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .polygonMode = VK_POLYGON_MODE_FILL,
        .lineWidth = 1};
    const VkPipelineMultisampleStateCreateInfo samples = {.sType =
                                                              VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
                                                          .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    const VkPipelineColorBlendAttachmentState channel = {.colorWriteMask = VK_COLOR_COMPONENT_R_BIT};
    const VkPipelineColorBlendStateCreateInfo blend = {.sType =
                                                           VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
                                                       .attachmentCount = 1,
                                                       .pAttachments = &channel};
    const VkGraphicsPipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                               .stageCount = 2,
                                               .pStages = stages,
                                               .pVertexInputState = &input,
                                               .pInputAssemblyState = &assembly,
                                               .pViewportState = &views,
                                               .pRasterizationState = &raster,
                                               .pMultisampleState = &samples,
                                               .pColorBlendState = &blend,
                                               .layout = draw->layout,
                                               .renderPass = draw->pass};
    require(PELTT_VK(vk, vkCreateGraphicsPipelines)(vk->device, VK_NULL_HANDLE, 1, &info, NULL, &draw->pipeline));
}

void peltt_vk_draw_create(peltt_vk_draw *draw, peltt_vk *vk)
{
    *draw = (peltt_vk_draw){0};
    create_pass(draw, vk);
    const VkPushConstantRange range = {VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof(peltt_vk_camera)};
    const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &range};
    require(PELTT_VK(vk, vkCreatePipelineLayout)(vk->device, &layout, NULL, &draw->layout));
    VkShaderModule vertex = module_of(vk, vertex_code, sizeof vertex_code);
    VkShaderModule fragment = module_of(vk, fragment_code, sizeof fragment_code);
    create_pipeline(draw, vk, vertex, fragment);
    PELTT_VK(vk, vkDestroyShaderModule)(vk->device, vertex, NULL);
    PELTT_VK(vk, vkDestroyShaderModule)(vk->device, fragment, NULL);
}

void peltt_vk_draw_destroy(peltt_vk_draw *draw, peltt_vk *vk)
{
    PELTT_VK(vk, vkDestroyPipeline)(vk->device, draw->pipeline, NULL);
    PELTT_VK(vk, vkDestroyPipelineLayout)(vk->device, draw->layout, NULL);
    PELTT_VK(vk, vkDestroyRenderPass)(vk->device, draw->pass, NULL);
}

static void create_image(peltt_vk_canvas *canvas, peltt_vk *vk)
{
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = VK_FORMAT_R8_UNORM,
                                    .extent = {SIZE, SIZE, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
    require(PELTT_VK(vk, vkCreateImage)(vk->device, &info, NULL, &canvas->image));
    VkMemoryRequirements need;
    PELTT_VK(vk, vkGetImageMemoryRequirements)(vk->device, canvas->image, &need);
    uint32_t type = 0;
    while ((need.memoryTypeBits >> type & 1U) == 0) {
        type++;
    }
    const VkMemoryAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = need.size, .memoryTypeIndex = type};
    require(PELTT_VK(vk, vkAllocateMemory)(vk->device, &allocate, NULL, &canvas->memory));
    require(PELTT_VK(vk, vkBindImageMemory)(vk->device, canvas->image, canvas->memory, 0));
}

void peltt_vk_canvas_create(peltt_vk_canvas *canvas, const peltt_vk_draw *draw, peltt_vk *vk)
{
    *canvas = (peltt_vk_canvas){0};
    create_image(canvas, vk);
    const VkImageViewCreateInfo view = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                        .image = canvas->image,
                                        .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                        .format = VK_FORMAT_R8_UNORM,
                                        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    require(PELTT_VK(vk, vkCreateImageView)(vk->device, &view, NULL, &canvas->view));
    const VkFramebufferCreateInfo framebuffer = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                                 .renderPass = draw->pass,
                                                 .attachmentCount = 1,
                                                 .pAttachments = &canvas->view,
                                                 .width = SIZE,
                                                 .height = SIZE,
                                                 .layers = 1};
    require(PELTT_VK(vk, vkCreateFramebuffer)(vk->device, &framebuffer, NULL, &canvas->framebuffer));
    canvas->pixels = peltt_vk_buffer_create(vk, (VkDeviceSize)SIZE * SIZE, VK_BUFFER_USAGE_TRANSFER_DST_BIT, true);
}

void peltt_vk_canvas_destroy(peltt_vk_canvas *canvas, peltt_vk *vk)
{
    peltt_vk_buffer_destroy(vk, &canvas->pixels);
    PELTT_VK(vk, vkDestroyFramebuffer)(vk->device, canvas->framebuffer, NULL);
    PELTT_VK(vk, vkDestroyImageView)(vk->device, canvas->view, NULL);
    PELTT_VK(vk, vkDestroyImage)(vk->device, canvas->image, NULL);
    PELTT_VK(vk, vkFreeMemory)(vk->device, canvas->memory, NULL);
}

void peltt_vk_draw_record(const peltt_vk_draw *draw, peltt_vk *vk, VkCommandBuffer cmd, const peltt_vk_canvas *canvas,
                          const pelt_vk_view *view, const peltt_vk_camera *camera)
{
    const VkClearValue black = {.color = {.float32 = {0, 0, 0, 0}}};
    const VkRenderPassBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                         .renderPass = draw->pass,
                                         .framebuffer = canvas->framebuffer,
                                         .renderArea = {{0, 0}, {SIZE, SIZE}},
                                         .clearValueCount = 1,
                                         .pClearValues = &black};
    PELTT_VK(vk, vkCmdBeginRenderPass)(cmd, &begin, VK_SUBPASS_CONTENTS_INLINE);
    PELTT_VK(vk, vkCmdBindPipeline)(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, draw->pipeline);
    PELTT_VK(vk, vkCmdPushConstants)(cmd, draw->layout, VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof *camera, camera);
    PELTT_VK(vk, vkCmdBindVertexBuffers)(cmd, 0, 1, &view->positions.buffer, &view->positions.offset);
    PELTT_VK(vk, vkCmdBindIndexBuffer)(cmd, view->indices.buffer, view->indices.offset, view->index_type);
    PELTT_VK(vk, vkCmdDrawIndexed)(cmd, view->index_count, 1, 0, 0, 0);
    PELTT_VK(vk, vkCmdEndRenderPass)(cmd);
    const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {SIZE, SIZE, 1}};
    PELTT_VK(vk, vkCmdCopyImageToBuffer)
    (cmd, canvas->image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, canvas->pixels.buffer, 1, &region);
    const VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    PELTT_VK(vk, vkCmdPipelineBarrier)
    (cmd, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, NULL, 0, NULL);
}

// How far (x, y) lies inside of a triangle, in pixels; negative outside.
static double depth(double corners[3][2], double x, double y)
{
    double least = HUGE_VAL;
    double area = (corners[1][0] - corners[0][0]) * (corners[2][1] - corners[0][1]) -
                  (corners[2][0] - corners[0][0]) * (corners[1][1] - corners[0][1]);
    for (int i = 0; i < 3; i++) {
        const double *a = corners[i];
        const double *b = corners[(i + 1) % 3];
        double length = hypot(b[0] - a[0], b[1] - a[1]);
        double side = (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
        least = fmin(least, (area < 0 ? -side : side) / fmax(length, 1e-9));
    }
    return least;
}

void peltt_vk_canvas_compare(const peltt_vk_canvas *canvas, const peltt_vk_camera *camera, const float *positions,
                             const uint32_t *indices, uint32_t index_count)
{
    uint32_t sure[2] = {0, 0};
    for (uint32_t pixel = 0; pixel < SIZE * SIZE; pixel++) {
        double x = pixel % SIZE + 0.5;
        double y = pixel / SIZE + 0.5;
        double deepest = -HUGE_VAL;
        for (uint32_t i = 0; i + 3 <= index_count; i += 3) {
            double corners[3][2];
            for (uint32_t k = 0; k < 6; k++) {
                double at = (double)positions[(size_t)indices[i + k / 2] * 3 + k % 2];
                corners[k / 2][k % 2] =
                    ((at - (double)camera->centre[k % 2]) * (double)camera->scale + 1.0) * 0.5 * SIZE;
            }
            deepest = fmax(deepest, depth(corners, x, y));
        }
        if (fabs(deepest) > margin) {
            uint32_t inside = deepest > 0;
            assert_int_equal(((const uint8_t *)canvas->pixels.data)[pixel], inside ? 255 : 0);
            sure[inside]++;
        }
    }
    assert_true(sure[0] > FEWEST_SURE && sure[1] > FEWEST_SURE);
}
