// SPDX-License-Identifier: MIT
// Inverse binds with a fourth row that cannot be dropped: refused where a vertex uses the joint. Exporters leave
// rubbish in the matrices of joints that no vertex uses, so the verdict waits until the meshes are read.
#include "import_internal.h"

pelt_result pelti_gltf_doubt_skin(gltf_import *import, uint32_t skin, float *columns, pelt_mat34 *inverse_binds,
                                  pelt_error *error)
{
    gltf_import_cache *cache = import->cache;
    uint32_t joint_count = import->scene.skins[skin].joint_count;
    void *skins = cache->doubtful_skins;
    void *meshes = cache->mesh_joints;
    void *joints = NULL;
    pelt_result result = PELT_OK;
    if (!skins) {
        result =
            pelti_gltf_scratch_zeroed(import, import->scene.skin_count, sizeof *cache->doubtful_skins, &skins, error);
        cache->doubtful_skins = skins;
    }
    if (result == PELT_OK && !meshes) {
        result =
            pelti_gltf_scratch_zeroed(import, import->scene.mesh_count, sizeof *cache->mesh_joints, &meshes, error);
        cache->mesh_joints = meshes;
    }
    if (result == PELT_OK) {
        result =
            pelti_gltf_scratch_zeroed(import, pelti_gltf_word_count(joint_count), sizeof(uint64_t), &joints, error);
    }
    if (result != PELT_OK) {
        pelti_gltf_scratch_release(import, columns, (uint64_t)joint_count * 16, sizeof(float));
        return result;
    }
    uint64_t *bits = joints;
    for (uint32_t i = 0; i < joint_count; i++) {
        pelt_mat34 unused;
        if (pelti_gltf_mat34(columns + (size_t)i * 16, &unused) > GLTF_FOURTH_ROW_TOLERANCE) {
            bits[i / 64] |= UINT64_C(1) << (i % 64);
        }
    }
    cache->doubtful_skins[skin] =
        (gltf_doubtful_skin){.joints = joints, .columns = columns, .inverse_binds = inverse_binds};
    return PELT_OK;
}

pelt_result pelti_gltf_used_joints(gltf_import *import, const pelt_primitive *primitive, uint32_t joint_limit,
                                   uint64_t **out, pelt_error *error)
{
    *out = NULL;
    if (!import->cache->doubtful_skins || joint_limit == 0) {
        return PELT_OK;
    }
    void *memory = NULL;
    GLTF_TRY(pelti_gltf_scratch_zeroed(import, pelti_gltf_word_count(joint_limit), sizeof(uint64_t), &memory, error));
    uint64_t *bits = memory;
    uint64_t count = (uint64_t)primitive->vertex_count * primitive->influence_count;
    for (uint64_t i = 0; i < count; i++) {
        if (primitive->weights[i] != 0) {
            bits[primitive->joints[i] / 64] |= UINT64_C(1) << (primitive->joints[i] % 64);
        }
    }
    *out = bits;
    return PELT_OK;
}

pelt_result pelti_gltf_add_used_joints(gltf_import *import, uint32_t mesh, const uint64_t *joints, pelt_error *error)
{
    if (!joints) {
        return PELT_OK;
    }
    uint64_t **all = &import->cache->mesh_joints[mesh];
    uint64_t word_count = pelti_gltf_word_count(import->mesh_joint_limit[mesh]);
    if (!*all) {
        void *memory = NULL;
        GLTF_TRY(pelti_gltf_scratch_zeroed(import, word_count, sizeof(uint64_t), &memory, error));
        *all = memory;
    }
    for (uint64_t i = 0; i < word_count; i++) {
        (*all)[i] |= joints[i];
    }
    return PELT_OK;
}

static pelt_result fail_joint(const gltf_import *import, uint32_t skin, uint32_t joint, pelt_error *error)
{
    const float *m = import->cache->doubtful_skins[skin].columns + (size_t)joint * 16;
    pelti_fail(error, PELT_ERROR_INVALID, pelti_gltf_path("/skins/%u/inverseBindMatrices", skin).text,
               "skin %u: inverseBindMatrices: the matrix of joint %u has a fourth row of %g %g %g %g, not 0 0 0 1",
               skin, joint, (double)m[3], (double)m[7], (double)m[11], (double)m[15]);
    if (error) {
        error->joint = joint;
    }
    return PELT_ERROR_INVALID;
}

// The first bit of a, or of a and b where b is given; word_count * 64 if none.
static uint64_t first_bit(const uint64_t *a, const uint64_t *b, uint64_t word_count)
{
    for (uint64_t i = 0; i < word_count; i++) {
        uint64_t word = b ? a[i] & b[i] : a[i];
        for (uint64_t bit = 0; word != 0 && bit < 64; bit++) {
            if (word >> bit & 1) {
                return i * 64 + bit;
            }
        }
    }
    return word_count * 64;
}

// No vertex uses the joints in doubt: their matrices mean nothing.
static void drop_matrices(const gltf_import *import, uint32_t skin)
{
    const gltf_doubtful_skin *doubt = &import->cache->doubtful_skins[skin];
    uint32_t joint_count = import->scene.skins[skin].joint_count;
    uint32_t first = (uint32_t)first_bit(doubt->joints, NULL, pelti_gltf_word_count(joint_count));
    uint32_t count = 0;
    for (uint32_t i = first; i < joint_count; i++) {
        if (doubt->joints[i / 64] >> (i % 64) & 1) {
            doubt->inverse_binds[i] = pelt_mat34_identity();
            count++;
        }
    }
    const float *m = doubt->columns + (size_t)first * 16;
    pelti_warn(
        &import->gltf->options.log, pelti_gltf_path("/skins/%u/inverseBindMatrices", skin).text,
        "skin %u: inverseBindMatrices: the matrix of joint %u has a fourth row of %g %g %g %g, not 0 0 0 1 (%u such "
        "matri%s); no vertex uses it, and it is taken as identity",
        skin, first, (double)m[3], (double)m[7], (double)m[11], (double)m[15], count, count == 1 ? "x" : "ces");
}

pelt_result pelti_gltf_settle_doubts(gltf_import *import, pelt_error *error)
{
    const pelt_builder_scene *scene = &import->scene;
    gltf_import_cache *cache = import->cache;
    if (!cache->doubtful_skins) {
        return PELT_OK;
    }
    void *memory = NULL;
    GLTF_TRY(pelti_gltf_scratch_zeroed(import, scene->skin_count, sizeof(bool), &memory, error));
    bool *is_used = memory;
    pelt_result result = PELT_OK;
    for (uint32_t i = 0; i < scene->node_count && result == PELT_OK; i++) {
        const pelt_builder_node *node = &scene->nodes[i];
        if (node->skin == PELT_NONE || !cache->doubtful_skins[node->skin].joints) {
            continue;
        }
        is_used[node->skin] = true;
        // The mesh's bits go as far as its smallest skin: no vertex uses a joint beyond.
        uint64_t word_count = pelti_gltf_word_count(import->mesh_joint_limit[node->mesh]);
        const uint64_t *used = cache->mesh_joints[node->mesh];
        uint64_t bit = used ? first_bit(cache->doubtful_skins[node->skin].joints, used, word_count) : UINT64_MAX;
        if (used && bit < word_count * 64) {
            result = fail_joint(import, node->skin, (uint32_t)bit, error);
        }
    }
    for (uint32_t i = 0; i < scene->skin_count && result == PELT_OK; i++) {
        const uint64_t *joints = cache->doubtful_skins[i].joints;
        if (joints && !is_used[i]) {
            uint64_t bit = first_bit(joints, NULL, pelti_gltf_word_count(scene->skins[i].joint_count));
            result = fail_joint(import, i, (uint32_t)bit, error);
        } else if (joints) {
            drop_matrices(import, i);
        }
    }
    pelti_gltf_scratch_release(import, is_used, scene->skin_count, sizeof(bool));
    return result;
}

void pelti_gltf_doubts_release(gltf_import *import)
{
    const pelt_builder_scene *scene = &import->scene;
    gltf_import_cache *cache = import->cache;
    for (uint32_t i = 0; cache->doubtful_skins && i < scene->skin_count; i++) {
        gltf_doubtful_skin *doubt = &cache->doubtful_skins[i];
        if (doubt->joints) {
            uint32_t joint_count = scene->skins[i].joint_count;
            pelti_gltf_scratch_release(import, doubt->joints, pelti_gltf_word_count(joint_count), sizeof(uint64_t));
            pelti_gltf_scratch_release(import, doubt->columns, (uint64_t)joint_count * 16, sizeof(float));
        }
    }
    for (uint32_t i = 0; cache->mesh_joints && i < scene->mesh_count; i++) {
        if (cache->mesh_joints[i]) {
            uint64_t word_count = pelti_gltf_word_count(import->mesh_joint_limit[i]);
            pelti_gltf_scratch_release(import, cache->mesh_joints[i], word_count, sizeof(uint64_t));
        }
    }
    pelti_gltf_scratch_release(import, cache->doubtful_skins, scene->skin_count, sizeof *cache->doubtful_skins);
    pelti_gltf_scratch_release(import, cache->mesh_joints, scene->mesh_count, sizeof *cache->mesh_joints);
    cache->doubtful_skins = NULL;
    cache->mesh_joints = NULL;
}
