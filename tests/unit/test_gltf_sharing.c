// SPDX-License-Identifier: MIT
// Threads that import one file at once. Races are for the thread sanitizer, under which this runs too.
#include "base/thread.h"
#include "peltt_gltf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum {
    THREAD_COUNT = 4,
    STEP_COUNT = 40
};

static const char document[] =
    "{'asset':{'version':'2.0'},'buffers':[{'byteLength':36}],'bufferViews':[{'buffer':0,'byteLength':36}],"
    "'accessors':[{'bufferView':0,'componentType':5126,'count':3,'type':'VEC3','min':[0,0,0],'max':[1,1,0]}],"
    "'meshes':[{'primitives':[{'attributes':{'POSITION':0}}]}],'nodes':[{'mesh':0,'children':[1]},{'mesh':0}]}";
static const float triangle[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};

typedef struct importer {
    const peltt_bytes *file; // shared
    bool failed;
} importer;

static void import(void *user)
{
    importer *m = user;
    for (uint32_t i = 0; i < STEP_COUNT && !m->failed; i++) {
        pelt_gltf *gltf = NULL;
        pelt_asset *asset = NULL;
        m->failed = pelt_gltf_open_memory(m->file->data, m->file->size, NULL, NULL, &gltf, NULL) != PELT_OK ||
                    pelt_gltf_import(gltf, &asset, NULL) != PELT_OK || pelt_asset_get(asset)->instance_count != 2;
        pelt_asset_destroy(asset);
        pelt_gltf_close(gltf);
    }
}

static void many_threads_import_at_once(void **state)
{
    (void)state;
    peltt_bytes file = peltt_glb(document, triangle, sizeof triangle);
    importer importers[THREAD_COUNT];
    pelti_thread threads[THREAD_COUNT];
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        importers[i] = (importer){.file = &file};
    }
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        assert_true(pelti_thread_start(&threads[i], import, &importers[i]));
    }
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        pelti_thread_join(&threads[i]);
        assert_false(importers[i].failed);
    }
    peltt_bytes_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_threads_import_at_once),
    };
    return cmocka_run_group_tests_name("gltf_sharing", tests, NULL, NULL);
}
