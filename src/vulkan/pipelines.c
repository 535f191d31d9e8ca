// SPDX-License-Identifier: MIT
// The compute pipelines of all passes, from the shaders that were compiled into the library.
#include "vulkan.h"

static const uint32_t palette_words[] =
#include "palette.comp.inc"
    ;
static const uint32_t items_words[] =
#include "items.comp.inc"
    ;
static const uint32_t skin_words[] =
#include "skin.comp.inc"
    ;
static const uint32_t skin_runs_words[] =
#include "skin_runs.comp.inc"
    ;
static const uint32_t reduce_words[] =
#include "bounds_reduce.comp.inc"
    ;
static const uint32_t joint_bounds_words[] =
#include "joint_bounds.comp.inc"
    ;

enum { // shader.options, of skin_runs.comp; the specialisation constants 1 to 4
    WITH_DIRECTIONS = 1,
    ONE_BY_ONE = 2, // constant 2 is its opposite
    FULL_ITEMS = 4,
    PARTS = 8
};

typedef struct shader {
    const uint32_t *words;
    size_t size;      // bytes
    uint32_t threads; // of a workgroup; specialisation constant 0
    uint32_t options;
} shader;

static const shader shaders[PELTI_VK_PASS_COUNT] = {
    [PELTI_VK_PALETTE] = {palette_words, sizeof palette_words, GPU_PALETTE_THREADS, 0},
    [PELTI_VK_ITEMS] = {items_words, sizeof items_words, GPU_ITEMS_THREADS, 0},
    [PELTI_VK_SKIN] = {skin_words, sizeof skin_words, GPU_SKIN_THREADS, 0},
    [PELTI_VK_SKIN_RUNS] = {skin_runs_words, sizeof skin_runs_words, GPU_SKIN_RUNS_THREADS, 0},
    [PELTI_VK_SKIN_RUNS_SMALL] = {skin_runs_words, sizeof skin_runs_words, GPU_SKIN_SMALL_THREADS, 0},
    [PELTI_VK_SKIN_USUAL] = {skin_runs_words, sizeof skin_runs_words, GPU_SKIN_RUNS_THREADS, WITH_DIRECTIONS},
    [PELTI_VK_SKIN_USUAL_SMALL] = {skin_runs_words, sizeof skin_runs_words, GPU_SKIN_SMALL_THREADS, WITH_DIRECTIONS},
    [PELTI_VK_SKIN_RUNS_FEW] = {skin_runs_words, sizeof skin_runs_words, GPU_SKIN_FEW_THREADS, ONE_BY_ONE | PARTS},
    [PELTI_VK_SKIN_USUAL_FEW] = {skin_runs_words, sizeof skin_runs_words, GPU_SKIN_FEW_THREADS,
                                 WITH_DIRECTIONS | ONE_BY_ONE | PARTS},
    [PELTI_VK_SKIN_RUNS_SMALL_FULL] = {skin_runs_words, sizeof skin_runs_words, GPU_SKIN_SMALL_THREADS, FULL_ITEMS},
    [PELTI_VK_SKIN_USUAL_SMALL_FULL] = {skin_runs_words, sizeof skin_runs_words, GPU_SKIN_SMALL_THREADS,
                                        WITH_DIRECTIONS | FULL_ITEMS},
    [PELTI_VK_REDUCE] = {reduce_words, sizeof reduce_words, GPU_REDUCE_THREADS, 0},
    [PELTI_VK_JOINT_BOUNDS] = {joint_bounds_words, sizeof joint_bounds_words, GPU_BOUNDS_THREADS, 0},
};

// pelt_vk_requirements promises workgroups of 128 threads and 128 bytes of push constants.
static_assert(GPU_PALETTE_THREADS == 64 || GPU_PALETTE_THREADS == 128, "palette threads"); // powers of two
static_assert(GPU_ITEMS_THREADS >= 32 && GPU_ITEMS_THREADS <= 128, "items threads");
static_assert(GPU_SKIN_THREADS >= 32 && GPU_SKIN_THREADS <= 128, "skin threads");
static_assert(GPU_SKIN_RUNS_THREADS >= 32 && GPU_SKIN_RUNS_THREADS <= 128, "skin threads");
static_assert(GPU_SKIN_SMALL_THREADS >= 32 && GPU_SKIN_SMALL_THREADS <= 128, "skin threads");
static_assert(GPU_SKIN_FEW_THREADS >= 32 && GPU_SKIN_FEW_THREADS <= 128, "skin threads");
static_assert(GPU_REDUCE_THREADS >= 32 && GPU_REDUCE_THREADS <= 128, "reduce threads");
static_assert(GPU_BOUNDS_THREADS >= 32 && GPU_BOUNDS_THREADS <= 128, "bounds threads");

static pelt_result create_layout(pelt_vk_context *context, pelt_error *error)
{
    VkPushConstantRange range = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .offset = 0, .size = 128};
    VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                       .pushConstantRangeCount = 1,
                                       .pPushConstantRanges = &range};
    VkResult result = context->vk.vkCreatePipelineLayout(context->options.device, &info, context->options.vk_allocator,
                                                         &context->layout);
    if (result != VK_SUCCESS) {
        context->layout = VK_NULL_HANDLE;
        return pelti_vk_failure(error, "vkCreatePipelineLayout", result);
    }
    return PELT_OK;
}

static pelt_result create_pipeline(pelt_vk_context *context, const shader *s, VkPipeline *out, pelt_error *error)
{
    const pelti_vk_functions *vk = &context->vk;
    const pelt_vk_context_options *options = &context->options;
    VkShaderModuleCreateInfo module_info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = s->size, .pCode = s->words};
    VkShaderModule module = VK_NULL_HANDLE;
    VkResult result = vk->vkCreateShaderModule(options->device, &module_info, options->vk_allocator, &module);
    if (result != VK_SUCCESS) {
        return pelti_vk_failure(error, "vkCreateShaderModule", result);
    }
    // A workgroup smaller than a subgroup would leave threads idle. Subgroups have at most 128.
    struct {
        uint32_t threads;
        VkBool32 with_directions;
        VkBool32 in_pairs;
        VkBool32 from_full_items;
        VkBool32 in_parts;
    } values = {s->threads, (s->options & WITH_DIRECTIONS) != 0, (s->options & ONE_BY_ONE) == 0,
                (s->options & FULL_ITEMS) != 0, (s->options & PARTS) != 0};
    if (context->support.subgroup_size > values.threads) {
        values.threads = context->support.subgroup_size;
    }
    const VkSpecializationMapEntry entries[] = {{0, 0, 4}, {1, 4, 4}, {2, 8, 4}, {3, 12, 4}, {4, 16, 4}};
    VkSpecializationInfo constants = {
        .mapEntryCount = 5, .pMapEntries = entries, .dataSize = sizeof values, .pData = &values};
    VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                  .module = module,
                                                  .pName = "main",
                                                  .pSpecializationInfo = &constants},
                                        .layout = context->layout};
    result =
        vk->vkCreateComputePipelines(options->device, options->pipeline_cache, 1, &info, options->vk_allocator, out);
    vk->vkDestroyShaderModule(options->device, module, options->vk_allocator);
    if (result != VK_SUCCESS) {
        *out = VK_NULL_HANDLE;
        return pelti_vk_failure(error, "vkCreateComputePipelines", result);
    }
    return PELT_OK;
}

pelt_result pelti_vk_pipelines_create(pelt_vk_context *context, pelt_error *error)
{
    pelt_result result = create_layout(context, error);
    for (int pass = 0; pass < PELTI_VK_PASS_COUNT && result == PELT_OK; pass++) {
        result = create_pipeline(context, &shaders[pass], &context->pipelines[pass], error);
    }
    if (result != PELT_OK) {
        pelti_vk_pipelines_destroy(context);
    }
    return result;
}

void pelti_vk_pipelines_destroy(pelt_vk_context *context)
{
    const pelt_vk_context_options *options = &context->options;
    for (int pass = 0; pass < PELTI_VK_PASS_COUNT; pass++) {
        if (context->pipelines[pass]) {
            context->vk.vkDestroyPipeline(options->device, context->pipelines[pass], options->vk_allocator);
            context->pipelines[pass] = VK_NULL_HANDLE;
        }
    }
    if (context->layout) {
        context->vk.vkDestroyPipelineLayout(options->device, context->layout, options->vk_allocator);
        context->layout = VK_NULL_HANDLE;
    }
}
