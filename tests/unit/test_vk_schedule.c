// SPDX-License-Identifier: MIT
// Random lives of a scene: objects come and go, frames overlap, and after each frame every instance holds what the CPU
// path gives for its last update; those that were not updated hold the same bits as before.
#include "peltt_vk_life.h"
#include "peltt_vk_tap.h"
#include "vulkan/vulkan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    FLIGHT_CAPACITY = 4,
    HISTORY_CAPACITY = 4096,
    FRAME_COUNT = 60
};

// What an instance held when it was last looked at: all its outputs, positions first.
typedef struct history {
    unsigned char *bytes;
    size_t size;
} history;

// One instance in one frame.
typedef struct entry {
    peltt_vk_shot shot;
    peltt_vk_want want;
    bool updated;
    uint32_t history;
    pelt_mat34 worlds[PELTT_VK_LIFE_JOINTS];
    float weights[PELTT_VK_LIFE_TARGETS];
} entry;

typedef struct flight {
    uint64_t frame;
    VkCommandBuffer cmd;
    VkFence fence;
    peltt_vk_fetch fetch;
    uint32_t entry_count;
    entry entries[PELTT_VK_LIFE_ACTORS];
} flight;

typedef struct play {
    peltt_vk_life life;
    history histories[HISTORY_CAPACITY]; // by serial number
    flight flights[FLIGHT_CAPACITY];
    uint32_t first_flight;
    uint32_t flight_count;
    uint32_t flight_limit;
    uint64_t retired;
    peltt_vk_worst worst;
    uint32_t compared; // updates
    uint32_t kept;     // instances that a frame left alone
    uint32_t previous; // previous positions compared
    uint32_t starved;  // records that were refused for lack of memory
} play;

static bool same_place(const pelt_vk_stream *a, const pelt_vk_stream *b)
{
    return a->buffer == b->buffer && a->offset == b->offset && a->size == b->size && a->address == b->address;
}

// What the view must say after a frame; outputs stay where they are but for positions, which change places.
static void check_view(peltt_vk_life_actor *a, const pelt_vk_view *now, bool updated, bool teleported)
{
    const pelt_vk_view *before = &a->view;
    bool keeps = (a->options.omit & PELT_VK_OMIT_PREVIOUS) == 0;
    if (a->update_count > (updated ? 1U : 0U)) {
        const bool swapped = updated && keeps;
        assert_true(same_place(&now->positions, swapped ? &before->previous_positions : &before->positions));
        assert_true(same_place(&now->previous_positions, swapped ? &before->positions : &before->previous_positions));
        assert_true(same_place(&now->normals, &before->normals));
        assert_true(same_place(&now->tangents, &before->tangents));
    }
    assert_int_equal(now->updated, updated);
    if (updated) {
        assert_true(now->generation > before->generation);
        assert_int_equal(now->previous_valid, keeps && a->update_count > 1 && !teleported);
    } else {
        assert_int_equal(now->generation, before->generation);
        assert_int_equal(now->previous_valid, before->previous_valid);
    }
    a->view = *now;
}

// --- frames

static void take_entry(play *p, flight *f, peltt_vk_life_actor *a)
{
    entry *e = &f->entries[f->entry_count++];
    const peltt_vk_palette_slot *palette = &p->life.palettes[a->palette];
    uint32_t model = p->life.meshes[a->mesh].model;
    bool teleported = a->teleported;
    e->updated = a->marked;
    assert_true(a->serial < HISTORY_CAPACITY);
    e->history = a->serial;
    a->update_count += a->marked;
    a->marked = false;
    a->teleported = teleported && !e->updated;
    memcpy(e->worlds, palette->worlds, sizeof e->worlds);
    memcpy(e->weights, a->weights, sizeof e->weights);
    e->want = (peltt_vk_want){.model = p->life.models[model],
                              .worlds = e->worlds,
                              .binds = p->life.binds[p->life.skins[palette->skin].family],
                              .joint_count = peltt_vk_family_joints[p->life.skins[palette->skin].family],
                              .weights = e->weights,
                              .rigid = a->options.rigid,
                              .omit = a->options.omit,
                              .bounds = a->options.bounds};
    e->shot = peltt_vk_shoot(&f->fetch, p->life.stage.scene, a->handle);
    peltt_vk_check_view(&p->life.stage.vk, &e->shot.view, &e->want);
    check_view(a, &e->shot.view, e->updated, teleported);
}

static void check_statistics(const pelt_vk_statistics *s, uint32_t marked, uint64_t vertices)
{
    assert_int_equal(s->instance_count, marked);
    assert_int_equal(s->vertex_count, vertices);
    assert_true(marked == 0 || s->dispatch_count > 0);
    assert_true((s->dispatch_count == 0 && s->copied_bytes == 0) == (s->barrier_count == 0));
}

static void count_marked(const play *p, uint32_t *marked, uint64_t *vertices)
{
    *marked = 0;
    *vertices = 0;
    for (uint32_t i = 0; i < PELTT_VK_LIFE_ACTORS; i++) {
        const peltt_vk_life_actor *a = &p->life.actors[i];
        *marked += a->marked;
        *vertices += a->marked ? p->life.models[p->life.meshes[a->mesh].model]->primitive->vertex_count : 0;
    }
}

// Records, now and then with no memory to be had: then the scene goes on changing and is recorded after all.
static void record(play *p, flight *f)
{
    pelt_error error = {0};
    pelt_vk_statistics statistics = {0};
    uint32_t marked = 0;
    uint64_t vertices = 0;
    for (bool starved = peltt_random_chance(&p->life.random, 0.3);; starved = false) {
        uint32_t commands = peltt_vk_tap_state.command_count;
        p->life.stage.memory.fail_at = starved ? p->life.stage.memory.call_count + 1 : 0;
        peltt_vk_tap_state.fail_at = starved ? peltt_vk_tap_state.call_count + 1 : 0;
        count_marked(p, &marked, &vertices);
        pelt_result result = pelt_vk_record(p->life.stage.scene, f->cmd, f->frame, &statistics, &error);
        p->life.stage.memory.fail_at = 0;
        peltt_vk_tap_state.fail_at = 0;
        if (result == PELT_OK) {
            break;
        }
        assert_true(starved);
        assert_int_equal(result, PELT_ERROR_MEMORY);
        assert_int_equal(peltt_vk_tap_state.command_count, commands);
        p->starved++;
        peltt_vk_life_edit(&p->life);
    }
    check_statistics(&statistics, marked, vertices);
}

static void record_frame(play *p)
{
    flight *f = &p->flights[(p->first_flight + p->flight_count++) % FLIGHT_CAPACITY];
    f->entry_count = 0;
    f->cmd = peltt_vk_begin(&p->life.stage.vk);
    f->frame = p->life.stage.frame + 1 + peltt_random_below(&p->life.random, 3);
    record(p, f);
    p->life.stage.frame = f->frame;
    for (uint32_t i = 0; i < PELTT_VK_LIFE_ACTORS; i++) {
        if (p->life.actors[i].live) {
            take_entry(p, f, &p->life.actors[i]);
        }
    }
    peltt_vk_life_check_ranges(&p->life, p->retired);
    peltt_vk_fetch_record(&f->fetch, &p->life.stage.vk, f->cmd);
    f->fence = peltt_vk_submit(&p->life.stage.vk, f->cmd);
}

static history gather(const flight *f, const entry *e)
{
    history h = {0};
    for (uint32_t k = 0; k < 6; k++) {
        bool wanted = k != 1 || e->shot.view.previous_valid;
        h.size += wanted ? (size_t)f->fetch.streams[e->shot.indices[k]].size : 0;
    }
    h.bytes = malloc(h.size + 1);
    assert_non_null(h.bytes);
    size_t at = 0;
    for (uint32_t k = 0; k < 6; k++) {
        size_t size = (size_t)f->fetch.streams[e->shot.indices[k]].size;
        if (size > 0 && (k != 1 || e->shot.view.previous_valid)) {
            memcpy(h.bytes + at, peltt_vk_fetch_get(&f->fetch, e->shot.indices[k]), size);
            at += size;
        }
    }
    return h;
}

static void check_entry(play *p, const flight *f, const entry *e)
{
    history *last = &p->histories[e->history];
    history now = gather(f, e);
    if (e->updated) {
        peltt_vk_compare(&f->fetch, &e->shot, &e->want, &p->worst);
        p->compared++;
        size_t size = (size_t)e->shot.view.previous_positions.size;
        if (e->shot.view.previous_valid && size > 0) {
            assert_true(last->size >= size);
            assert_memory_equal(peltt_vk_fetch_get(&f->fetch, e->shot.indices[1]), last->bytes, size);
            p->previous++;
        }
    } else {
        assert_int_equal(now.size, last->size);
        assert_memory_equal(now.bytes, last->bytes, now.size);
        p->kept++;
    }
    free(last->bytes);
    *last = now;
}

static void finish_frame(play *p)
{
    flight *f = &p->flights[p->first_flight];
    peltt_vk_wait(&p->life.stage.vk, f->cmd, f->fence);
    for (uint32_t i = 0; i < f->entry_count; i++) {
        check_entry(p, f, &f->entries[i]);
    }
    peltt_vk_fetch_free(&f->fetch, &p->life.stage.vk);
    if (peltt_random_chance(&p->life.random, 0.7)) { // the next one covers it
        pelt_vk_retire(p->life.stage.scene, f->frame);
        p->retired = f->frame;
    }
    p->first_flight = (p->first_flight + 1) % FLIGHT_CAPACITY;
    p->flight_count--;
}

// --- a life

// Blocks so small that ranges are spread over many of them.
static void small_blocks(pelt_vk_context_options *options)
{
    peltt_vk_tap_install(options);
    options->block_size = 256 << 10;
}

// Returns how many records there was no memory for.
static uint32_t live(uint64_t seed)
{
    static const uint32_t items[] = {0, 64, 96, 1000, 1024};
    play *p = calloc(1, sizeof *p);
    assert_non_null(p);
    p->life.random.state = seed;
    p->flight_limit = 1 + (uint32_t)(seed % FLIGHT_CAPACITY);
    const pelt_vk_scene_options options = {.allow_conservative = true, .item_vertices = items[seed % 5]};
    const peltt_vk_options device = {.api_version = seed % 3 == 0 ? VK_API_VERSION_1_2 : VK_API_VERSION_1_3};
    peltt_vk_stage_open(&p->life.stage, &device, &options, seed % 2 == 0 ? small_blocks : peltt_vk_tap_install);
    // Items are shared as on a large device, which the software device is not, and memory ahead is touched.
    p->life.stage.context->split_groups = seed % 4 < 2 ? 0 : 1024;
    p->life.stage.context->resident_groups = 1 + (uint32_t)(seed % 3);
    peltt_vk_tap_state.fail_count = 64;
    peltt_vk_tap_state.fail_with = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    peltt_vk_life_begin(&p->life);
    for (int frame = 0; frame < FRAME_COUNT; frame++) {
        peltt_vk_life_edit(&p->life);
        peltt_vk_life_refuse_stale(&p->life);
        while (p->flight_count >= p->flight_limit) {
            finish_frame(p);
        }
        record_frame(p);
        peltt_vk_check(&p->life.stage.vk);
    }
    while (p->flight_count > 0) {
        finish_frame(p);
    }
    print_message(
        "    seed %u: %u updates, %u left alone, %u with previous positions, %u records without memory; %.2g\n",
        (unsigned)seed, p->compared, p->kept, p->previous, p->starved, p->worst.position);
    assert_true(p->compared > 100 && p->kept > 100 && p->previous > 20);
    uint32_t starved = p->starved;
    peltt_vk_stage_close(&p->life.stage);
    peltt_vk_life_end(&p->life);
    for (uint32_t i = 0; i < p->life.actor_count; i++) {
        free(p->histories[i].bytes);
    }
    free(p);
    return starved;
}

static void random_lives_give_the_answer_of_the_cpu(void **state)
{
    (void)state;
    uint32_t starved = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        starved += live(seed);
    }
    assert_true(starved > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_lives_give_the_answer_of_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
