// SPDX-License-Identifier: MIT
// Shared by the import_*.c files: the accessor cache, scratch memory, and the primitive under import.
// The import files' messages start with what they are about ("mesh 0, primitive 1: POSITION: ..."): each layer that
// knows a part of that puts it in front of the error of the layer below.
#ifndef PELTI_GLTF_IMPORT_INTERNAL_H
#define PELTI_GLTF_IMPORT_INTERNAL_H

#include "gltf_internal.h"
#include "math/math.h"

#define GLTF_TRY(call)                                                                                                 \
    do {                                                                                                               \
        pelt_result try_result = (call);                                                                               \
        if (try_result != PELT_OK) {                                                                                   \
            return try_result;                                                                                         \
        }                                                                                                              \
    } while (0)

// ---- import_accessors.c

// An accessor that something used, with what was decoded from it. A file may name one accessor a million times: it is
// checked once, and decoded once for each way of using it. Arrays belong to the builder.
typedef struct gltf_cached_accessor {
    bool opened;
    gltf_accessor accessor;
    const float *floats;   // finite
    const float *tangents; // finite, each w +1 or -1
    const void *raw;
    const uint32_t *indices;
    uint32_t highest_index;
    const float *times;
    // Not shared with floats: the builder normalises rotations in place, and of CUBICSPLINE ([1]) every third only.
    const float *values[2];
} gltf_cached_accessor;

// Results of cleaned influences by (joint limit, accessors of all sets); see import_influences.c.
typedef struct gltf_influence_slot gltf_influence_slot;
typedef struct gltf_influence_cache {
    gltf_influence_slot *slots;
    uint32_t capacity; // a power of two, or 0
    uint32_t count;
} gltf_influence_cache;

// A skin with inverse binds that only joints without any vertex may have; see import_doubts.c.
typedef struct gltf_doubtful_skin {
    uint64_t *joints; // bit set of those joints; NULL where all is well
    float *columns;   // the file's matrices of all joints
    pelt_mat34 *inverse_binds;
} gltf_doubtful_skin;

typedef struct gltf_import_cache {
    uint32_t accessor_count;
    gltf_cached_accessor *accessors;
    gltf_influence_cache influences;
    gltf_doubtful_skin *doubtful_skins; // scene.skin_count; NULL where all skins are well
    uint64_t **mesh_joints;             // scene.mesh_count bit sets of joints that vertices use; NULL likewise
    uint64_t scratch_size;
    bool quantization_listed; // KHR_mesh_quantization is in extensionsUsed, or its absence was logged
} gltf_import_cache;

pelt_result pelti_gltf_cache_init(gltf_import *import, gltf_import_cache *cache, pelt_error *error);
void pelti_gltf_cache_release(gltf_import *import);

// The accessor that a JSON value names; name says what names it. Errors name both.
pelt_result pelti_gltf_reference(gltf_import *import, const json_t *value, const char *name, const char *where,
                                 gltf_cached_accessor **out, pelt_error *error);
// Fills cached->floats; a value that is not finite is an error that names the element ("vertex").
pelt_result pelti_gltf_cached_floats(gltf_import *import, gltf_cached_accessor *cached, const char *name,
                                     const char *where, pelt_error *error);

pelt_result pelti_gltf_fail_not_finite(float value, uint64_t vertex, const char *name, const char *where,
                                       pelt_error *error);

// "VEC3 of FLOAT", "VEC4 of normalized UNSIGNED_BYTE"
typedef struct gltf_type_text {
    char text[64];
} gltf_type_text;
gltf_type_text pelti_gltf_type_text(const gltf_accessor *accessor);
static inline bool pelti_gltf_is_vector(const gltf_accessor *accessor, uint32_t component_count)
{
    return accessor->columns == 1 && accessor->rows == component_count;
}

// ---- import.c

// Puts "subject: " in front of the message, unless it starts with this subject or a part of it already.
void pelti_gltf_prefix(pelt_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Memory for a part of the import; NULL for count 0. LIMIT where all scratch memory together is over limits.memory.
pelt_result pelti_gltf_scratch(gltf_import *import, uint64_t count, size_t size, void **out, pelt_error *error);
pelt_result pelti_gltf_scratch_zeroed(gltf_import *import, uint64_t count, size_t size, void **out, pelt_error *error);
void pelti_gltf_scratch_release(gltf_import *import, void *memory, uint64_t count, size_t size);

// A name property as the builder's string; "" where absent.
pelt_result pelti_gltf_name(gltf_import *import, const json_t *object, const char *where, const char **out,
                            pelt_error *error);
// object[key] as an array of file indices; absent gives none. Whether they exist is for the builder to check.
pelt_result pelti_gltf_index_list(gltf_import *import, const json_t *object, const char *key, const char *where,
                                  uint32_t **out, uint32_t *out_count, pelt_error *error);
// object[key] as an array of any number of finite floats; absent gives none.
pelt_result pelti_gltf_float_list(gltf_import *import, const json_t *object, const char *key, const char *where,
                                  float **out, uint32_t *out_count, pelt_error *error);

// glTF's column-major 4x4 as our 3x4, and how far its fourth row is from 0 0 0 1 (NaN where not a number).
float pelti_gltf_mat34(const float columns[16], pelt_mat34 *out);
// Over this the fourth row makes the matrix projective, and dropping it would move vertices visibly.
#define GLTF_FOURTH_ROW_TOLERANCE 1e-4f

// ---- import_doubts.c

// Puts off the refusal of a skin some of whose matrices (where mat34 deviates) are projective. columns: joint_count x
// 16 scratch floats; taken over, whatever the result.
pelt_result pelti_gltf_doubt_skin(gltf_import *import, uint32_t skin, float *columns, pelt_mat34 *inverse_binds,
                                  pelt_error *error);
// Words of a bit set.
static inline uint64_t pelti_gltf_word_count(uint32_t bit_count)
{
    return ((uint64_t)bit_count + 63) / 64;
}
// The joints that vertices of a primitive use, as a new bit set of joint_limit bits in scratch memory; NULL where no
// skin is in doubt.
pelt_result pelti_gltf_used_joints(gltf_import *import, const pelt_primitive *primitive, uint32_t joint_limit,
                                   uint64_t **out, pelt_error *error);
// Adds them to those of a mesh; joints may be NULL.
pelt_result pelti_gltf_add_used_joints(gltf_import *import, uint32_t mesh, const uint64_t *joints, pelt_error *error);
// After the meshes: INVALID where a vertex uses a joint in doubt, or nothing is known of its use.
pelt_result pelti_gltf_settle_doubts(gltf_import *import, pelt_error *error);
void pelti_gltf_doubts_release(gltf_import *import);

// ---- import_mesh.c

// A primitive under import.
typedef struct gltf_primitive {
    gltf_import *import;
    uint32_t mesh;
    uint32_t index;
    const char *where; // JSON pointer of the primitive
    const json_t *object;
    json_t *attributes; // an object, or NULL
    pelt_primitive *out;
} gltf_primitive;

// A warning that starts with mesh and primitive; vertex may be PELT_NONE.
void pelti_gltf_warn_primitive(const gltf_primitive *primitive, uint32_t vertex, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// ---- import_attributes.c

// POSITION: vertex_count, positions, declared box.
pelt_result pelti_gltf_import_positions(const gltf_primitive *primitive, pelt_error *error);
// Everything else but JOINTS_n and WEIGHTS_n.
pelt_result pelti_gltf_import_attributes(const gltf_primitive *primitive, pelt_error *error);
// Logs once a file that integers stand where only KHR_mesh_quantization allows them.
void pelti_gltf_note_quantization(const gltf_primitive *primitive, const char *name);
// The accessor of an attribute, with vertex_count elements.
pelt_result pelti_gltf_attribute(const gltf_primitive *primitive, const json_t *value, const char *name,
                                 gltf_cached_accessor **out, pelt_error *error);
// Whether the type is one that positions (integers of 8 and 16 bits) or directions (the normalised signed ones) may
// have; if not, the error says what is there and what may be.
pelt_result pelti_gltf_check_vertex_type(const gltf_primitive *primitive, const gltf_accessor *accessor,
                                         uint32_t component_count, bool position, const char *name, pelt_error *error);

// ---- import_influences.c

// True for "JOINTS_2" with prefix "JOINTS_": set numbers are decimal without leading zeros.
bool pelti_gltf_is_set(const char *name, const char *prefix);
pelt_result pelti_gltf_import_influences(const gltf_primitive *primitive, pelt_error *error);
void pelti_gltf_influence_cache_release(gltf_import *import);

// ---- import_morph.c

// Number of targets that a primitive lists.
pelt_result pelti_gltf_target_count(const json_t *primitive, const char *where, uint32_t *out, pelt_error *error);
// targets of the primitive; *ignored_logged keeps unknown attributes from being logged twice in a mesh.
pelt_result pelti_gltf_import_targets(const gltf_primitive *primitive, uint32_t target_count, bool *ignored_logged,
                                      pelt_error *error);

#endif
