// SPDX-License-Identifier: MIT
// The contenders of `pelt bench --device`, and how the command line names them.
#include "bench_gpu.h"

#include <string.h>

static const bench_gpu_entry own[] = {
    {.name = "pelt", .text = "the library, with exact boxes", .bounds = PELT_VK_BOUNDS_EXACT, .passes = 1},
    {.name = "pelt_new_list",
     .text = "the same, the order of palettes turned round each time, so that slices of several are listed anew",
     .bounds = PELT_VK_BOUNDS_EXACT,
     .passes = 1,
     .new_list = true},
    {.name = "pelt_no_box", .text = "the library without boxes", .bounds = PELT_VK_BOUNDS_NONE, .passes = 1},
    {.name = "pelt_joint_boxes",
     .text = "the library with boxes from those of joints",
     .bounds = PELT_VK_BOUNDS_CONSERVATIVE,
     .passes = 1},
};

enum {
    OWN_COUNT = sizeof own / sizeof *own,
    DRAW_COUNT = 3, // of draws beside the table of designs
    PASSES = 4
};

static const char *const draw_names[DRAW_COUNT] = {"draw_skinned", "vertex_shader_x4", "draw_skinned_x4"};

uint32_t bench_gpu_entry_count(void)
{
    return OWN_COUNT + baseline_vk_contender_count + DRAW_COUNT;
}

// NULL where there is no such design.
static const baseline_vk_contender *find(const char *name)
{
    for (uint32_t i = 0; i < baseline_vk_contender_count; i++) {
        if (strcmp(baseline_vk_contenders[i]->name, name) == 0) {
            return baseline_vk_contenders[i];
        }
    }
    return NULL;
}

bench_gpu_entry bench_gpu_entry_at(uint32_t index)
{
    if (index < OWN_COUNT) {
        return own[index];
    }
    index -= OWN_COUNT;
    if (index < baseline_vk_contender_count) {
        const baseline_vk_contender *b = baseline_vk_contenders[index];
        return (bench_gpu_entry){.name = b->name, .text = b->what, .baseline = b, .passes = 1};
    }
    index -= baseline_vk_contender_count;
    bool skins = index == 1;
    return (bench_gpu_entry){.name = draw_names[index],
                             .text = index == 0 ? baseline_vk_draw_skinned.what
                                     : skins    ? "vertex_shader, four passes over the scene"
                                                : "draw_skinned, four passes",
                             .baseline = skins ? find("vertex_shader") : &baseline_vk_draw_skinned,
                             .passes = index == 0 ? 1 : PASSES};
}

// ---- choosing

static const char *name_of(uint32_t index)
{
    return bench_gpu_entry_at(index).name;
}

int bench_gpu_select_contenders(const cli_context *context, bench_gpu_entry out[], uint32_t *out_count)
{
    const bench_names names = {.what = "contender on a Vulkan device",
                               .hint = BENCH_GPU_NAMES_HINT,
                               .count = bench_gpu_entry_count(),
                               .name = name_of};
    const char *list = context->options.contenders;
    bool wanted[BENCH_GPU_CONTENDERS];
    *out_count = 0;
    for (uint32_t i = 0; i < names.count; i++) {
        wanted[i] = !list;
    }
    int code = list ? bench_select_names(context, list, &names, wanted) : CLI_DONE;
    for (uint32_t i = 0; i < names.count && code == CLI_DONE; i++) {
        if (wanted[i]) {
            out[(*out_count)++] = bench_gpu_entry_at(i);
        }
    }
    return code;
}

// ---- --list

void bench_gpu_print_list(void)
{
    bench_gpu_print_scenes();
    printf("\n%-16s  %s\n", "contender", "what");
    for (uint32_t i = 0; i < bench_gpu_entry_count(); i++) {
        bench_gpu_entry entry = bench_gpu_entry_at(i);
        printf("%-16s  %s\n", entry.name, entry.text);
    }
}

void bench_gpu_json_list(json_t *root)
{
    json_t *contenders = json_array();
    for (uint32_t i = 0; i < bench_gpu_entry_count(); i++) {
        bench_gpu_entry entry = bench_gpu_entry_at(i);
        json_array_append_new(contenders, json_pack("{s:s, s:s}", "name", entry.name, "text", entry.text));
    }
    json_object_set_new(root, "gpu_scenes", bench_gpu_json_scenes());
    json_object_set_new(root, "gpu_contenders", contenders);
}
