// SPDX-License-Identifier: MIT
// Damage to the contents of a .pelt file, one field at a time: each is refused with the section's name and its byte,
// whether or not hashes would have told. Offsets are those of docs/format.md.
#include "peltt_model.h"
#include "peltt_pelt.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// Several runs with lists, extra influences, dense and sparse targets: everything that the checks look at.
static const peltt_model_shape shape = {24, 4, 2, 300, 80, 2, 4, 3};

static peltt_pelt cook(uint64_t seed, const pelt_cook_options *options)
{
    return peltt_pelt_model(&shape, seed, NULL, options);
}

static pelt_result open_result(const peltt_pelt *file, pelt_error *error)
{
    pelt_cooked_options options = {.skip_hashes = true};
    pelt_cooked *cooked = NULL;
    pelt_result result = pelt_cooked_open_memory(file->data, file->size, &options, &cooked, error);
    pelt_cooked_close(cooked);
    return result;
}

// What to write into an element, and the section that the message names ("" = the same).
typedef struct damage {
    const char *kind;
    uint32_t owner;
    uint32_t sub;
    int64_t element; // negative: from the end
    uint32_t byte;
    uint32_t size; // 1, 2, 4 or 8 bytes
    uint64_t value;
    const char *named;
    const char *text;
} damage;

static uint64_t bits(float value)
{
    uint32_t out = 0;
    memcpy(&out, &value, sizeof out);
    return out;
}

static void expect_refused(const peltt_pelt *file, const damage *d)
{
    peltt_pelt_section section = peltt_pelt_get(file, peltt_pelt_find(file, d->kind, d->owner, d->sub));
    uint64_t element = d->element >= 0 ? (uint64_t)d->element : section.count - (uint64_t)-d->element;
    unsigned char *at = peltt_pelt_at(file, d->kind, d->owner, d->sub, element, d->byte);
    unsigned char before[8];
    char name[32];
    pelt_error error;
    memcpy(before, at, d->size);
    memcpy(at, &d->value, d->size); // little endian
    pelt_result result = open_result(file, &error);
    snprintf(name, sizeof name, "section %s", d->named[0] ? d->named : d->kind);
    bool missing = strstr(error.message, "is missing") != NULL; // it has no byte
    if (result != PELT_ERROR_INVALID || strncmp(error.message, name, strlen(name)) != 0 ||
        !strstr(error.message, d->text) || (!missing && strncmp(error.where, "byte ", 5) != 0)) {
        fail_msg("%s %u %u, element %d, byte %u = %u: result %d, %s: %s", d->kind, d->owner, d->sub, (int)d->element,
                 d->byte, (unsigned)d->value, (int)result, error.where, error.message);
    }
    memcpy(at, before, d->size);
}

static void expect_all(const peltt_pelt *file, const damage *cases, size_t count)
{
    pelt_error error;
    if (open_result(file, &error) != PELT_OK) {
        fail_msg("undamaged: %s: %s", error.where, error.message);
    }
    for (size_t i = 0; i < count; i++) {
        expect_refused(file, &cases[i]);
    }
}

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define NONE UINT32_MAX

static void names_are_checked(void **state)
{
    (void)state;
    peltt_pelt file = cook(1, NULL);
    peltt_pelt_section strings = peltt_pelt_get(&file, peltt_pelt_find(&file, "STRS", 0, 0));
    const damage cases[] = {
        {"STRS", 0, 0, 0, 0, 1, 'a', "", "zero"},
        {"STRS", 0, 0, -1, 0, 1, 'a', "", "zero"},
        {"STRS", 0, 0, 3, 0, 1, 0xFF, "", "UTF-8"},
        {"STRS", 0, 0, -2, 0, 1, 0xC3, "", "UTF-8"},
        {"NODE", 0, 0, 2, 0, 4, strings.count, "", "no name begins"},
        {"NODE", 0, 0, 2, 0, 4, 2, "", "no name begins"}, // inside of a name
        {"SKIN", 0, 0, 1, 0, 4, NONE, "", "no name begins"},
        {"MESH", 0, 0, 1, 0, 4, 2, "", "no name begins"},
        {"CLIP", 0, 0, 1, 0, 4, 2, "", "no name begins"},
        {"TNAM", 0, 0, 1, 0, 4, 2, "", "no name begins"},
        {"ATTR", 1, 0, 2, 0, 4, 2, "", "no name begins"},
    };
    expect_all(&file, cases, COUNT(cases));
    peltt_pelt_free(&file);
}

// A node with a field's value other than none (or in a test for none), so that damage to it changes something.
static int64_t find_node(const peltt_pelt *file, uint32_t byte, bool there)
{
    peltt_pelt_section nodes = peltt_pelt_get(file, peltt_pelt_find(file, "NODE", 0, 0));
    for (uint32_t i = 1; i < nodes.count; i++) {
        uint32_t value = 0;
        memcpy(&value, peltt_pelt_at(file, "NODE", 0, 0, i, byte), sizeof value);
        if ((value != NONE) == there) {
            return i;
        }
    }
    fail_msg("no such node");
    return 0;
}

static void nodes_are_checked(void **state)
{
    (void)state;
    peltt_pelt file = cook(1, NULL);
    int64_t child = find_node(&file, 8, true);
    int64_t with_mesh = find_node(&file, 16, true);
    int64_t skinned = find_node(&file, 20, true);
    const damage cases[] = {
        {"NODE", 0, 0, child, 8, 4, 4000000, "", "parent"},
        {"NODE", 0, 0, child, 8, 4, (uint64_t)child, "", "parent"}, // itself
        {"NODE", 0, 0, child, 8, 4, NONE, "", "parent"},
        {"NODE", 0, 0, 0, 12, 4, 0, "", "subtree"},
        {"NODE", 0, 0, 0, 12, 4, 25, "", "subtree"},
        {"NODE", 0, 0, 0, 12, 4, 1, "", ""},
        {"NODE", 0, 0, 3, 4, 4, 24, "", "index 24"},
        {"NODE", 0, 0, 3, 4, 4, NONE, "", "source"},
        {"NODE", 0, 0, with_mesh, 16, 4, 4, "", "mesh 4"},
        {"NODE", 0, 0, with_mesh, 16, 4, NONE - 1, "", "mesh"},
        {"NODE", 0, 0, skinned, 20, 4, 2, "", "skin 2"},
        {"NODE", 0, 0, skinned, 16, 4, NONE, "", ""},
        {"NODE", 0, 0, 5, 24, 4, 12345, "", "morph weights"},
        {"NODE", 0, 0, 5, 28, 4, 12345, "", "morph weights"},
        {"NODE", 0, 0, 4, 40, 4, bits(NAN), "", "not finite"},
        {"NODE", 0, 0, 4, 52, 4, bits(2.0F), "", "unit length"},
        {"NODE", 0, 0, 4, 56, 4, bits(INFINITY), "", "not finite"},
        {"NODE", 0, 0, 4, 76, 4, bits(-INFINITY), "", "not finite"},
        {"NODE", 0, 0, 4, 124, 4, bits(NAN), "", "not finite"},
        {"RSTW", 0, 0, 1, 0, 4, bits(NAN), "", "not finite"},
        {"INST", 0, 0, 0, 0, 4, 24, "", "instance 0"},
        {"INST", 0, 0, 1, 4, 4, NONE, "", "instance 1"},
        {"INST", 0, 0, 1, 8, 4, 7, "", "instance 1"},
    };
    expect_all(&file, cases, COUNT(cases));
    peltt_pelt_free(&file);
}

static void skins_and_meshes_are_checked(void **state)
{
    (void)state;
    peltt_pelt file = cook(2, NULL);
    const damage cases[] = {
        {"SKIN", 0, 0, 0, 4, 4, 0, "", "joints"},
        {"SKIN", 0, 0, 0, 4, 4, 65537, "", "joints"},
        {"SKIN", 0, 0, 0, 4, 4, 79, "JNTS", "belong"},
        {"SKIN", 0, 0, 1, 8, 4, 24, "", "skeleton"},
        {"SKIN", 0, 0, 0, 12, 4, 0, "IBND", "identity"},
        {"JNTS", 1, 0, 79, 0, 4, 24, "", "node 24"},
        {"IBND", 0, 0, 7, 20, 4, bits(NAN), "", "not finite"},
        {"MESH", 0, 0, 1, 4, 4, 1, "", "primitives"},
        {"MESH", 0, 0, 1, 8, 4, 9, "", "primitives"},
        {"MESH", 0, 0, 1, 8, 4, NONE, "", "primitives"},
        {"MESH", 0, 0, 3, 8, 4, 1, "PRIM", "no mesh"},
        {"MESH", 0, 0, 0, 12, 4, 5, "MWGT", "belong"},
        {"MWGT", 0, 0, 2, 0, 4, bits(INFINITY), "", "not finite"},
    };
    expect_all(&file, cases, COUNT(cases));
    peltt_pelt_free(&file);
}

static void primitives_are_checked(void **state)
{
    (void)state;
    peltt_pelt file = cook(3, NULL);
    const damage cases[] = {
        {"PRIM", 0, 0, 1, 0, 4, 1, "", "mesh"},
        {"PRIM", 0, 0, 1, 4, 4, 0, "", "mesh"},
        {"PRIM", 0, 0, 1, 8, 4, 7, "", "topology"},
        {"PRIM", 0, 0, 1, 16, 4, 12, "POSN", "belong"},
        {"PRIM", 0, 0, 1, 20, 4, 100, "", "source"},
        {"PRIM", 0, 0, 1, 24, 4, 2, "", "encoding"},
        {"PRIM", 0, 0, 1, 52, 4, 1, "INDX", "indices"},
        {"PRIM", 0, 0, 1, 56, 4, 3, "INDX", "indices"},
        {"PRIM", 0, 0, 1, 56, 4, 4, "INDX", "indices"},
        {"PRIM", 0, 0, 1, 60, 4, 3, "ATTR", "belong"},
        {"PRIM", 0, 0, 1, 64, 4, 3, "", "targets"},
        {"PRIM", 0, 0, 1, 80, 4, bits(-3.0F), "", "box"},
        {"PRIM", 0, 0, 1, 100, 4, bits(NAN), "", "box"},
        {"POSN", 1, 0, 17, 4, 4, bits(NAN), "", "not finite"},
        {"POSN", 0, 0, -1, 8, 4, bits(2.0F), "PRIM", "box"},
        {"SRCV", 0, 0, 9, 0, 4, 400, "", "source"},
        {"ATTR", 0, 0, 1, 4, 4, 5127, "", "type"},
        {"ATTR", 0, 0, 1, 8, 4, 5, "", "components"},
        {"ATTR", 0, 0, 1, 8, 4, 0, "", "components"},
        {"ATTR", 0, 0, 1, 12, 4, 8, "", "bytes"},
        {"TARG", 0, 0, 1, 0, 4, 4, "", "format"},
        {"TARG", 0, 0, 0, 0, 4, 0, "", "not sparse"},
        {"TARG", 0, 0, 1, 0, 4, 1, "TVTX", "missing"},
        {"TARG", 0, 0, 1, 0, 4, 2, "TPOS", "format"},
        {"TARG", 0, 0, 1, 4, 4, 3, "", "not sparse"},
        {"TARG", 0, 0, 0, 8, 4, bits(NAN), "", "scale"},
        {"TARG", 0, 0, 0, 12, 4, bits(-1.0F), "", "scale"},
        {"TVTX", 0, 0, -1, 0, 4, 100000, "", "rise"},
        {"TVTX", 0, 0, 1, 0, 4, 0, "", "rise"},
        {"TARG", 0, 0, 0, 4, 4, 1, "TVTX", "belong"},
        {"TPOS", 0, 0, 3, 8, 4, bits(INFINITY), "", "not finite"},
    };
    expect_all(&file, cases, COUNT(cases));
    peltt_pelt_free(&file);
}

static void index_sizes_are_checked(void **state)
{
    (void)state;
    peltt_pelt file = cook(3, NULL);
    uint32_t owner = peltt_pelt_has(&file, "INDX", 0, 0) ? 0 : 1;
    const damage cases[] = {{"INDX", owner, 0, 5, 0, 2, 0xFFFF, "", "names vertex 65535"},
                            {"INDX", owner, 0, -1, 0, 2, 302, "", "names vertex"}};
    expect_all(&file, cases, COUNT(cases));
    peltt_pelt_free(&file);
}

static void targets_in_16_bits_are_checked(void **state)
{
    (void)state;
    pelt_cook_options options = {.morph_16bit = true};
    peltt_pelt file = cook(3, &options);
    const damage cases[] = {
        {"TPOS", 0, 0, 3, 2, 2, 0x8000, "", "-32768"},
        {"TNRM", 0, 1, 1, 4, 2, 0x8000, "", "-32768"},
        {"TARG", 0, 0, 0, 0, 4, 1, "TPOS", "format"},
        {"TARG", 0, 0, 0, 8, 4, bits(INFINITY), "", "scale"},
    };
    expect_all(&file, cases, COUNT(cases));
    peltt_pelt_free(&file);
}

static void influences_are_checked(void **state)
{
    (void)state;
    peltt_pelt file = cook(4, NULL);
    peltt_pelt_section runs = peltt_pelt_get(&file, peltt_pelt_find(&file, "RUNS", 0, 0));
    peltt_pelt_section extras = peltt_pelt_get(&file, peltt_pelt_find(&file, "XTRA", 0, 0));
    assert_true(runs.count > 1 && extras.count > 4);
    const damage cases[] = {
        {"PRIM", 0, 0, 0, 32, 4, 65537, "", "joints"},
        {"PRIM", 0, 0, 0, 32, 4, 3, "", ""},  // a joint bound that joints pass
        {"PRIM", 0, 0, 0, 32, 4, 81, "", ""}, // and one over the skins' joints
        {"PRIM", 0, 0, 0, 36, 4, 1, "RUNS", "belong"},
        {"PRIM", 0, 0, 0, 40, 4, 1, "RUNJ", "belong"},
        {"PRIM", 0, 0, 0, 44, 4, 1, "XOFS", "belong"},
        {"PRIM", 0, 0, 0, 48, 4, 1, "XTRA", "belong"},
        {"PRIM", 0, 0, 0, 72, 8, 4, "JNTI", "belong"},
        {"RUNS", 0, 0, 0, 0, 4, 64, "", "run 0"},
        {"RUNS", 0, 0, 0, 4, 4, 0, "", "run 0"},
        {"RUNS", 0, 0, 0, 4, 4, 63, "", "run 0"},
        {"RUNS", 0, 0, 0, 4, 4, 1088, "", "run 0"},
        {"RUNS", 0, 0, -1, 4, 4, NONE, "", "vertices"},
        {"RUNS", 0, 0, 1, 8, 4, 1000, "", "run 1"},
        {"RUNS", 0, 0, 0, 12, 2, 33, "", "run 0"},
        {"RUNS", 0, 0, 0, 12, 2, 0, "", "run 0"},
        {"RUNS", 0, 0, 0, 14, 1, 3, "", "layout 3"},
        {"RUNS", 0, 0, 0, 14, 1, 1, "", "run 0"},
        {"RUNS", 0, 0, 0, 15, 1, 1, "", "numbers of influences"},
        {"RUNS", 0, 0, 1, 16, 4, 4, "", "run 1"},
        {"RUNS", 0, 0, 0, 20, 4, 1, "", "run 0"},
        {"RUNS", 0, 0, 0, 24, 2, 60000, "", "numbers of influences"},
        {"RUNS", 0, 0, 0, 32, 2, 60000, "", "wide"},
        {"RUNJ", 0, 0, 0, 0, 2, 80, "", "below"},
        {"RUNJ", 0, 0, 1, 0, 2, 0, "", "rise"},
        {"JNTI", 0, 0, 5, 0, 1, 33, "", "joint 33"},
        {"JNTI", 0, 0, -1, 0, 1, 255, "", "joint 255"},
        {"WGHT", 0, 0, 3, 0, 4, NONE, "", "negative"},
        {"WGHT", 0, 0, 3, 0, 4, 0, "RUNS", "numbers of influences"},
        {"XOFS", 0, 0, 0, 0, 4, 1, "", "offset"},
        {"XOFS", 0, 0, 1, 0, 4, NONE, "", "offset"},
        {"XOFS", 0, 0, -1, 0, 4, 0, "", "offset"},
        {"XTRA", 0, 0, 2, 0, 2, 80, "", "joint 80"},
        {"XTRA", 0, 0, 2, 2, 2, 65535, "", "weight"},
        {"XTRA", 0, 0, 2, 2, 2, 0, "", "weight"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        damage d = cases[i];
        if (strcmp(d.kind, "PRIM") == 0 && d.value == 3) {
            d.named = "XTRA"; // looked at first
        } else if (strcmp(d.kind, "PRIM") == 0 && d.value == 81) {
            d.named = "NODE";
        }
        expect_all(&file, &d, 1);
    }
    peltt_pelt_free(&file);
}

static void direct_joints_are_checked(void **state)
{
    (void)state;
    pelt_cook_options options = {.direct_joints = true};
    peltt_pelt file = cook(4, &options);
    const damage cases[] = {
        {"JNTI", 0, 0, 7, 0, 1, 80, "", "joint 80"},
        {"RUNS", 0, 0, 0, 12, 2, 1, "", "run 0"},
        {"RUNS", 0, 0, 0, 14, 1, 2, "", "run"},
        {"RUNS", 0, 0, 0, 14, 1, 0, "", "run 0"},
    };
    expect_all(&file, cases, COUNT(cases));
    peltt_pelt_free(&file);
}

// A clip with channels and its first sampler.
static void clips_are_checked(void **state)
{
    (void)state;
    peltt_pelt file = cook(5, NULL);
    peltt_pelt_section arrays = peltt_pelt_get(&file, peltt_pelt_find(&file, "KEYA", 0, 0));
    assert_true(peltt_pelt_get(&file, peltt_pelt_find(&file, "CHAN", 1, 0)).count > 2);
    const damage cases[] = {
        {"KEYA", 0, 0, 1, 0, 8, 1, "", "array 1"},
        {"KEYA", 0, 0, 1, 8, 8, 0, "", "array 1"},
        {"KEYA", 0, 0, 1, 8, 8, UINT64_MAX, "", "array 1"},
        {"KEYA", 0, 0, -1, 8, 8, 1, "", ""},
        {"KEYA", 0, 0, 0, 16, 4, 0, "SAMP", "sampler"},
        {"KEYS", 0, 0, 0, 0, 4, bits(-0.5F), "", "key time"},
        {"KEYS", 0, 0, 1, 0, 4, bits(0.0F), "", "key time"},
        {"KEYS", 0, 0, 1, 0, 4, bits(NAN), "", "key time"},
        {"KEYS", 0, 0, 1, 0, 4, bits(INFINITY), "CLIP", "duration"},
        {"KEYS", 0, 0, -1, 0, 4, bits(NAN), "", "not finite"},
        {"SAMP", 1, 0, 0, 0, 4, 3, "", "interpolation"},
        {"SAMP", 1, 0, 0, 8, 4, 1, "", "sampler 0"},
        {"SAMP", 1, 0, 0, 12, 4, 5, "", "sampler 0"},
        {"SAMP", 1, 0, 0, 12, 4, 0, "", "sampler 0"},
        {"SAMP", 1, 0, 0, 16, 4, arrays.count, "", "sampler 0"},
        {"SAMP", 1, 0, 0, 20, 4, NONE, "", "sampler 0"},
        {"CHAN", 1, 0, 1, 0, 4, 24, "", "channel 1"},
        {"CHAN", 1, 0, 1, 4, 4, 4, "", "channel 1"},
        {"CHAN", 1, 0, 1, 8, 4, 900, "", "channel 1"},
        {"CHAN", 1, 0, -1, 0, 4, 0, "", "channel"},
        {"CLIP", 0, 0, 1, 4, 4, bits(9.0F), "", "duration"},
        {"CLIP", 0, 0, 1, 4, 4, bits(NAN), "", "duration"},
        {"CLIP", 0, 0, 1, 8, 4, 1, "SAMP", "belong"},
        {"CLIP", 0, 0, 1, 12, 4, 1, "CHAN", "belong"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        damage d = cases[i];
        pelt_error error;
        if (strcmp(d.kind, "KEYS") == 0 && d.value == bits(INFINITY)) {
            // Infinite times are not finite, and not the clip's duration: either is said, depending on what is last.
            d.named = "KEYS";
            d.text = "";
        } else if (strcmp(d.kind, "KEYA") == 0 && d.element == -1) {
            d.named = "KEYS";
        }
        assert_int_equal(open_result(&file, &error), PELT_OK);
        expect_refused(&file, &d);
    }
    peltt_pelt_free(&file);
}

static void joint_boxes_are_checked(void **state)
{
    (void)state;
    peltt_pelt file = cook(6, NULL);
    const damage cases[] = {
        {"JBOX", 0, 0, 0, 0, 4, 8, "", "primitive 8"},     {"JBOX", 0, 0, 0, 4, 4, 2, "", "skin 2"},
        {"JBOX", 0, 0, 1, 0, 4, 0, "", "set 1"},           {"JBOX", 0, 0, 1, 8, 4, 79, "", "79"},
        {"BOXS", 0, 0, 3, 0, 4, bits(NAN), "", "joint 3"}, {"BOXS", 0, 0, 3, 0, 4, bits(1e30F), "", "joint 3"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        damage d = cases[i];
        if (strcmp(d.kind, "JBOX") == 0 && d.element == 1 && d.byte == 0) {
            uint32_t skin = 0;
            memcpy(&skin, peltt_pelt_at(&file, "JBOX", 0, 0, 1, 4), sizeof skin);
            d.value = skin == 0 ? 0 : 8; // before the first set, or none at all
            d.text = "";
        }
        expect_all(&file, &d, 1);
    }
    peltt_pelt_free(&file);
}

static void table_entries_are_checked(void **state)
{
    (void)state;
    peltt_pelt file = cook(7, NULL);
    uint32_t count = peltt_pelt_count(&file);
    uint32_t posn = peltt_pelt_find(&file, "POSN", 0, 0);
    peltt_pelt_section right = peltt_pelt_get(&file, posn);
    pelt_error error;
    peltt_pelt_section wrong[16];
    for (size_t i = 0; i < COUNT(wrong); i++) {
        wrong[i] = right;
    }
    wrong[0].offset += 4;                                   // not aligned
    wrong[1].offset = file.size;                            // outside
    wrong[2].offset = UINT64_MAX - 63;                      // wraps round
    wrong[3].size = UINT64_MAX;                             //
    wrong[4].count = UINT64_MAX / 12 + 2;                   // count x size wraps round
    wrong[5].count++;                                       // not the size
    wrong[6].element_size = 0;                              //
    wrong[7].element_size = 24, wrong[7].count /= 2;        // not the kind's
    wrong[8].owner = 8;                                     // no such primitive
    wrong[9].owner = UINT32_MAX;                            //
    wrong[10].sub = 1;                                      // primitives have one
    wrong[11].owner = 1;                                    // then twice there, and missing here
    wrong[12].offset -= 64;                                 // over the one before
    wrong[13].size += 12, wrong[13].count++;                // more than the vertices; or over the next
    memcpy(wrong[14].kind, "NRML", 4);                      // twice, or of another size
    memcpy(wrong[15].kind, "ZZZZ", 4), wrong[15].flags = 0; // skipped, so positions are missing
    for (size_t i = 0; i < COUNT(wrong); i++) {
        peltt_pelt_set(&file, posn, &wrong[i]);
        if (open_result(&file, &error) != PELT_ERROR_INVALID || !strstr(error.message, "section ")) {
            fail_msg("entry %u: %d %s", (unsigned)i, (int)error.code, error.message);
        }
    }
    peltt_pelt_set(&file, posn, &right);
    // What stands between sections must be zero.
    for (uint32_t i = 0; i < count; i++) {
        peltt_pelt_section section = peltt_pelt_get(&file, i);
        uint64_t end = section.offset + section.size;
        if (end % 64 != 0) {
            file.data[end] = 1;
            assert_int_equal(open_result(&file, &error), PELT_ERROR_INVALID);
            assert_non_null(strstr(error.message, "between sections"));
            file.data[end] = 0;
        }
    }
    assert_int_equal(open_result(&file, &error), PELT_OK);
    peltt_pelt_free(&file);
}

// Every section that is left out is missed, but for those that a file may do without.
static void missing_sections_are_checked(void **state)
{
    (void)state;
    peltt_pelt file = cook(7, NULL);
    for (uint32_t i = 0; i < peltt_pelt_count(&file); i++) {
        peltt_pelt_section section = peltt_pelt_get(&file, i);
        bool optional = section.count == 0 || strcmp(section.kind, "NRML") == 0 || strcmp(section.kind, "TANG") == 0 ||
                        strcmp(section.kind, "TPOS") == 0 || strcmp(section.kind, "TNRM") == 0 ||
                        strcmp(section.kind, "TTAN") == 0 || strcmp(section.kind, "JBOX") == 0;
        peltt_pelt shorter = peltt_pelt_rebuild(&file, i, 0, NULL, 0);
        pelt_error error;
        pelt_result result = open_result(&shorter, &error);
        if (result != PELT_ERROR_INVALID && !optional) {
            fail_msg("without %s %u %u: %d", section.kind, section.owner, section.sub, (int)result);
        }
        assert_true(result == PELT_OK || result == PELT_ERROR_INVALID);
        peltt_pelt_free(&shorter);
    }
    peltt_pelt_free(&file);
}

// Random damage behind the hashes: an error with its text, or a file that can be read and imported.
static void random_damage_is_an_error_or_harmless(void **state)
{
    (void)state;
    peltt_random random = {11};
    for (int variant = 0; variant < 4; variant++) {
        pelt_cook_options options = {.weights = (pelt_weight_encoding)(variant % 2),
                                     .keep_order = variant % 2 == 1,
                                     .direct_joints = variant == 2,
                                     .morph_16bit = variant == 3};
        peltt_pelt file = cook(20 + (uint64_t)variant, &options);
        for (int i = 0; i < 1500; i++) {
            uint64_t at = peltt_random_next(&random) % file.size;
            unsigned char before = file.data[at];
            pelt_cooked *cooked = NULL;
            pelt_asset *asset = NULL;
            pelt_error error;
            pelt_cooked_options reading = {.skip_hashes = true, .memory_limit = 64u << 20};
            file.data[at] = (unsigned char)peltt_random_next(&random);
            pelt_result result = pelt_cooked_open_memory(file.data, file.size, &reading, &cooked, &error);
            if (result == PELT_OK) {
                result = pelt_cooked_import(cooked, &asset, &error);
            }
            if (result != PELT_OK) {
                assert_int_equal(error.code, result);
                assert_true(error.message[0] != '\0');
            }
            pelt_asset_destroy(asset);
            pelt_cooked_close(cooked);
            file.data[at] = before;
        }
        peltt_pelt_free(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(nodes_are_checked),
        cmocka_unit_test(skins_and_meshes_are_checked),
        cmocka_unit_test(primitives_are_checked),
        cmocka_unit_test(index_sizes_are_checked),
        cmocka_unit_test(targets_in_16_bits_are_checked),
        cmocka_unit_test(influences_are_checked),
        cmocka_unit_test(direct_joints_are_checked),
        cmocka_unit_test(clips_are_checked),
        cmocka_unit_test(joint_boxes_are_checked),
        cmocka_unit_test(table_entries_are_checked),
        cmocka_unit_test(missing_sections_are_checked),
        cmocka_unit_test(random_damage_is_an_error_or_harmless),
    };
    return cmocka_run_group_tests_name("cook_damage", tests, NULL, NULL);
}
