// SPDX-License-Identifier: MIT
// Runs the GLSL of docs/vulkan.md, with check.comp appended and compiled, over every primitive of a .pelt file on a
// device and compares what it reads with the C functions that read the same streams.
// usage: read_streams SHADER.spv FILE.pelt      prints TAP (cmocka)
#include "peltt_vk.h"

#include <assert.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    SLOTS = 64, // floats a vertex, as check.comp writes them
    MOST_EXTRAS = 12,
    MOST_TARGETS = 4,
    MOST_INFLUENCES = 4 + MOST_EXTRAS,
    MOST_BUFFERS = 40,
    NORMAL = 3,
    TANGENT = 6,
    VISIBLE = 10,
    DISPLACEMENT = 11,
    WEIGHTS = 23,
    JOINTS = 27,
    EXTRA_COUNT = 31,
    EXTRAS = 32,
    BLENDED = 56
};

// What check.comp calls Target and Job, in scalar layout.
typedef struct gpu_check_target {
    VkDeviceAddress vertices;
    VkDeviceAddress positions;
    uint32_t count;
    float scale;
    uint32_t is_16bit;
    uint32_t reserved;
} gpu_check_target;

typedef struct gpu_check_job {
    VkDeviceAddress positions;
    VkDeviceAddress normals;
    VkDeviceAddress tangents;
    VkDeviceAddress weights;
    VkDeviceAddress joints;
    VkDeviceAddress runs;
    VkDeviceAddress run_joints;
    VkDeviceAddress extra_offsets;
    VkDeviceAddress extras;
    VkDeviceAddress matrices;
    VkDeviceAddress boxes;
    VkDeviceAddress results;
    gpu_check_target targets[MOST_TARGETS];
    uint32_t vertex_count;
    uint32_t run_count;
    uint32_t plain;
    uint32_t ordered;
    uint32_t target_count;
    float half_size;
} gpu_check_job;

static_assert(sizeof(gpu_check_target) == 32, "check.comp: Target");
static_assert(sizeof(gpu_check_job) == 248, "check.comp: Job");

typedef struct fixture {
    peltt_vk vk;
    pelt_cooked *cooked;
    VkShaderModule module;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    peltt_vk_buffer buffers[MOST_BUFFERS];
    uint32_t buffer_count;
} fixture;

static const char *shader_path;
static const char *model_path;

// ---- The device's side

static uint32_t *read_shader(size_t *out_size)
{
    FILE *file = fopen(shader_path, "rb");
    assert_non_null(file);
    uint32_t *words = malloc(1 << 20);
    assert_non_null(words);
    *out_size = fread(words, 1, 1 << 20, file);
    assert_true(*out_size > 0 && *out_size < 1 << 20);
    fclose(file);
    return words;
}

static void create_pipeline(fixture *f)
{
    size_t size = 0;
    uint32_t *words = read_shader(&size);
    VkShaderModuleCreateInfo module = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = words};
    assert_int_equal(PELTT_VK(&f->vk, vkCreateShaderModule)(f->vk.device, &module, NULL, &f->module), VK_SUCCESS);
    free(words);
    VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(VkDeviceAddress)};
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .pushConstantRangeCount = 1,
                                         .pPushConstantRanges = &range};
    assert_int_equal(PELTT_VK(&f->vk, vkCreatePipelineLayout)(f->vk.device, &layout, NULL, &f->layout), VK_SUCCESS);
    VkComputePipelineCreateInfo pipeline = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                            .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                      .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                      .module = f->module,
                                                      .pName = "main"},
                                            .layout = f->layout};
    assert_int_equal(
        PELTT_VK(&f->vk, vkCreateComputePipelines)(f->vk.device, VK_NULL_HANDLE, 1, &pipeline, NULL, &f->pipeline),
        VK_SUCCESS);
}

static peltt_vk_buffer *add_buffer(fixture *f, uint64_t size)
{
    assert_true(f->buffer_count < MOST_BUFFERS);
    peltt_vk_buffer *buffer = &f->buffers[f->buffer_count++];
    // A whole number of words, so that a shader may read the last one.
    *buffer =
        peltt_vk_buffer_create(&f->vk, (size + 7) / 4 * 4,
                               VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, true);
    return buffer;
}

static VkDeviceAddress upload(fixture *f, const void *data, uint64_t size)
{
    if (!data || size == 0) {
        return 0;
    }
    peltt_vk_buffer *buffer = add_buffer(f, size);
    memcpy(buffer->data, data, (size_t)size);
    return buffer->address;
}

static void upload_targets(fixture *f, const pelt_cooked_primitive *p, gpu_check_job *job)
{
    job->target_count = p->target_count < MOST_TARGETS ? p->target_count : MOST_TARGETS;
    for (uint32_t t = 0; t < job->target_count; t++) {
        const pelt_cooked_target *from = &p->targets[t];
        bool is_16bit = (from->format & PELT_TARGET_16BIT) != 0;
        job->targets[t] = (gpu_check_target){
            .vertices = upload(f, from->vertices, UINT64_C(4) * from->vertex_count),
            .positions = upload(f, from->positions, (is_16bit ? UINT64_C(6) : UINT64_C(12)) * from->vertex_count),
            .count = from->vertex_count,
            .scale = from->scale[0],
            .is_16bit = is_16bit};
    }
}

static float largest_extent(const pelt_box *box)
{
    float most = 0.0F;
    for (int c = 0; c < 3; c++) {
        most = fmaxf(most, box->max[c] - box->min[c]);
    }
    return most;
}

static gpu_check_job make_job(fixture *f, const pelt_cooked_primitive *p, const pelt_mat34 *matrices)
{
    uint64_t n = p->vertex_count;
    const pelt_box boxes[2] = {pelt_box_empty(), p->box}; // the shader looks at the second
    gpu_check_job job = {.positions = upload(f, p->positions, 12 * n),
                         .normals = upload(f, p->normals, 4 * n),
                         .tangents = upload(f, p->tangents, 4 * n),
                         .weights = upload(f, p->weights, 4 * n),
                         .joints = upload(f, p->joints, p->joints_size),
                         .runs = upload(f, p->runs, p->run_count * sizeof *p->runs),
                         .run_joints = upload(f, p->run_joints, UINT64_C(2) * p->run_joint_count),
                         .extra_offsets = upload(f, p->extra_offsets, UINT64_C(4) * (p->wide_count + 1)),
                         .extras = upload(f, p->extras, UINT64_C(4) * p->extra_count),
                         .matrices = upload(f, matrices, p->joint_bound * sizeof *matrices),
                         .boxes = upload(f, boxes, sizeof boxes),
                         .vertex_count = p->vertex_count,
                         .run_count = p->run_count,
                         .plain = p->encoding == PELT_WEIGHTS_PLAIN,
                         .ordered = p->ordered,
                         .half_size = 0.25F * largest_extent(&p->box)};
    upload_targets(f, p, &job);
    return job;
}

// Values of all vertices; the caller frees.
static float *run_shader(fixture *f, const pelt_cooked_primitive *p, const pelt_mat34 *matrices, float *out_half_size)
{
    size_t size = (size_t)p->vertex_count * SLOTS * sizeof(float);
    gpu_check_job job = make_job(f, p, matrices);
    peltt_vk_buffer *results = add_buffer(f, size);
    job.results = results->address;
    VkDeviceAddress address = upload(f, &job, sizeof job);
    VkCommandBuffer cmd = peltt_vk_begin(&f->vk);
    PELTT_VK(&f->vk, vkCmdBindPipeline)(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, f->pipeline);
    PELTT_VK(&f->vk, vkCmdPushConstants)(cmd, f->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof address, &address);
    PELTT_VK(&f->vk, vkCmdDispatch)(cmd, p->vertex_count / 64 + 1, 1, 1);
    VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    PELTT_VK(&f->vk, vkCmdPipelineBarrier)
    (cmd, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, NULL, 0, NULL);
    peltt_vk_run(&f->vk, cmd);
    float *values = malloc(size);
    assert_non_null(values);
    memcpy(values, results->data, size);
    while (f->buffer_count > 0) {
        peltt_vk_buffer_destroy(&f->vk, &f->buffers[--f->buffer_count]);
    }
    *out_half_size = job.half_size;
    return values;
}

// ---- The comparison

static void check_near(const float *got, const float *wanted, uint32_t count, float tolerance, const char *what,
                       uint32_t vertex)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!(fabsf(got[i] - wanted[i]) <= tolerance)) {
            fail_msg("%s of vertex %u, component %u: %.9g, not %.9g", what, (unsigned)vertex, (unsigned)i,
                     (double)got[i], (double)wanted[i]);
        }
    }
}

static void check_geometry(const pelt_cooked_primitive *p, uint32_t v, const float *got, float half_size)
{
    const float *position = p->positions + (size_t)3 * v;
    float direction[4] = {0};
    assert_memory_equal(got, position, 12);
    if (p->normals) {
        pelt_normal_decode(p->normals[v], direction);
        check_near(got + NORMAL, direction, 3, 1e-6F, "normal", v);
    }
    if (p->tangents) {
        pelt_tangent_decode(p->tangents[v], direction);
        check_near(got + TANGENT, direction, 4, 1e-6F, "tangent", v);
    }
    // Where a face passes by within rounding either answer is right.
    double slack = -HUGE_VAL;
    for (int c = 0; c < 3; c++) {
        double centre = 2.0 * (double)position[c];
        slack = fmax(slack, (double)p->box.min[c] - centre - (double)half_size);
        slack = fmax(slack, centre - (double)half_size - (double)p->box.max[c]);
    }
    if (fabs(slack) > 1e-5 * (double)half_size) {
        assert_true(got[VISIBLE] == (slack < 0.0 ? 1.0F : 0.0F));
    }
}

// Adds the weight to the joint's entry.
static void collect(uint16_t *joints, float *weights, uint32_t *count, uint16_t joint, float weight)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (joints[i] == joint) {
            weights[i] += weight;
            return;
        }
    }
    if (weight != 0.0F) {
        joints[*count] = joint;
        weights[(*count)++] = weight;
    }
}

// What the shader read, as pelt_cooked_influences gives it.
static uint32_t gather(const float *got, uint16_t joints[MOST_INFLUENCES], float weights[MOST_INFLUENCES])
{
    uint32_t count = 0;
    uint32_t extra_count = (uint32_t)got[EXTRA_COUNT];
    float share = 1.0F;
    assert_true(extra_count <= MOST_EXTRAS);
    for (uint32_t i = 0; i < extra_count; i++) {
        share -= got[EXTRAS + 2 * i + 1];
        collect(joints, weights, &count, (uint16_t)got[EXTRAS + 2 * i], got[EXTRAS + 2 * i + 1]);
    }
    for (uint32_t i = 0; i < 4; i++) {
        collect(joints, weights, &count, (uint16_t)got[JOINTS + i], got[WEIGHTS + i] * share);
    }
    return count;
}

static void check_influences(const pelt_cooked_primitive *p, uint32_t v, const float *got)
{
    float wanted_weights[MOST_INFLUENCES];
    uint16_t wanted_joints[MOST_INFLUENCES];
    float weights[MOST_INFLUENCES];
    uint16_t joints[MOST_INFLUENCES];
    pelt_weights_decode(p->encoding, p->weights[v], wanted_weights);
    assert_memory_equal(got + WEIGHTS, wanted_weights, 16);
    uint32_t wanted = pelt_cooked_influences(p, v, MOST_INFLUENCES, wanted_joints, wanted_weights);
    uint32_t count = gather(got, joints, weights);
    assert_int_equal(count, wanted);
    for (uint32_t i = 0; i < wanted; i++) {
        uint32_t at = 0;
        while (at < count && joints[at] != wanted_joints[i]) {
            at++;
        }
        assert_true(at < count);
        check_near(&weights[at], &wanted_weights[i], 1, 1e-6F, "weight", v);
    }
}

// The first four influences alone, in double.
static void check_blend(const pelt_cooked_primitive *p, uint32_t v, const float *got, const pelt_mat34 *matrices)
{
    const float *position = p->positions + (size_t)3 * v;
    for (int row = 0; row < 3; row++) {
        double sum = 0.0;
        double scale = 0.0;
        for (int i = 0; i < 4; i++) {
            uint32_t joint = (uint32_t)got[JOINTS + i];
            assert_true(joint < p->joint_bound || got[WEIGHTS + i] == 0.0F);
            const float *m = matrices[joint < p->joint_bound ? joint : 0].m[row];
            for (int c = 0; c < 4; c++) {
                double term = (double)got[WEIGHTS + i] * (double)m[c] * (c < 3 ? (double)position[c] : 1.0);
                sum += term;
                scale += fabs(term);
            }
        }
        if (!(fabs((double)got[BLENDED + row] - sum) <= 1e-6 * scale)) {
            fail_msg("vertex %u blended: %.9g, not %.9g", (unsigned)v, (double)got[BLENDED + row], sum);
        }
    }
}

static void check_targets(const pelt_cooked_primitive *p, const float *values)
{
    for (uint32_t t = 0; t < p->target_count && t < MOST_TARGETS; t++) {
        float *wanted = calloc((size_t)p->vertex_count * 3 + 1, sizeof *wanted);
        assert_non_null(wanted);
        pelt_cooked_target_add(&p->targets[t], 0, 1.0F, wanted);
        for (uint32_t v = 0; v < p->vertex_count; v++) {
            const float *w = wanted + (size_t)3 * v;
            float tolerance = 1e-6F * (fabsf(w[0]) + fabsf(w[1]) + fabsf(w[2]));
            check_near(values + (size_t)v * SLOTS + DISPLACEMENT + (size_t)3 * t, w, 3, tolerance, "displacement", v);
        }
        free(wanted);
    }
}

static void check_primitive(fixture *f, const pelt_cooked_primitive *p)
{
    pelt_mat34 *matrices = calloc((size_t)p->joint_bound + 1, sizeof *matrices);
    assert_non_null(matrices);
    for (uint32_t j = 0; j < p->joint_bound; j++) {
        for (uint32_t i = 0; i < 12; i++) {
            matrices[j].m[i / 4][i % 4] = sinf((float)(12 * j + i)); // any numbers
        }
    }
    float half_size = 0.0F;
    float *values = run_shader(f, p, matrices, &half_size);
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        const float *got = values + (size_t)v * SLOTS;
        check_geometry(p, v, got, half_size);
        if (p->weights) {
            check_influences(p, v, got);
            check_blend(p, v, got, matrices);
        }
    }
    check_targets(p, values);
    free(values);
    free(matrices);
}

// One line for run.py, which wants every kind of stream to have been there.
static void tell_kinds(const pelt_cooked_primitive *p)
{
    printf("# kinds:%s%s%s", p->normals ? " normals" : "", p->tangents ? " tangents" : "", p->weights ? "" : " rigid");
    if (p->weights) {
        printf(" %s %s", p->encoding == PELT_WEIGHTS_PLAIN ? "plain" : "sorted", p->ordered ? "ordered" : "unordered");
    }
    for (uint32_t r = 0; r < p->run_count; r++) {
        printf(" layout%u", (unsigned)p->runs[r].layout);
    }
    printf("%s", p->extra_count > 0 && p->ordered ? " extras" : p->extra_count > 0 ? " unordered-extras" : "");
    for (uint32_t t = 0; t < p->target_count && t < MOST_TARGETS; t++) {
        printf(" %s%s", p->targets[t].format & PELT_TARGET_SPARSE ? "sparse" : "dense",
               p->targets[t].format & PELT_TARGET_16BIT ? "16" : "");
    }
    printf("\n");
}

static void shader_reads_what_c_reads(void **state)
{
    (void)state;
    fixture f = {0};
    peltt_vk_create(&f.vk, &(peltt_vk_options){0});
    create_pipeline(&f);
    assert_int_equal(pelt_cooked_open_file(model_path, NULL, &f.cooked, NULL), PELT_OK);
    const pelt_cooked_data *data = pelt_cooked_get(f.cooked);
    assert_true(data->primitive_count > 0);
    for (uint32_t i = 0; i < data->primitive_count; i++) {
        check_primitive(&f, &data->primitives[i]);
        tell_kinds(&data->primitives[i]);
    }
    pelt_cooked_close(f.cooked);
    PELTT_VK(&f.vk, vkDestroyPipeline)(f.vk.device, f.pipeline, NULL);
    PELTT_VK(&f.vk, vkDestroyPipelineLayout)(f.vk.device, f.layout, NULL);
    PELTT_VK(&f.vk, vkDestroyShaderModule)(f.vk.device, f.module, NULL);
    peltt_vk_destroy(&f.vk);
}

int main(int argument_count, char **arguments)
{
    if (argument_count != 3) {
        fprintf(stderr, "usage: read_streams SHADER.spv FILE.pelt\n");
        return 2;
    }
    shader_path = arguments[1];
    model_path = arguments[2];
    const struct CMUnitTest tests[] = {cmocka_unit_test(shader_reads_what_c_reads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
