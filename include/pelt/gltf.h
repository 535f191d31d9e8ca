// SPDX-License-Identifier: MIT
// Reads glTF 2.0 (.glb, .gltf) into an asset, and writes a file back with its meshes posed. Library: pelt_import.
#ifndef PELT_GLTF_H
#define PELT_GLTF_H

#include <pelt/pose.h>

#if defined(PELT_BUILDS_GLTF)
#define PELT_GLTF_API PELT_EXPORTED
#else
#define PELT_GLTF_API PELT_IMPORTED
#endif

#ifdef __cplusplus
extern "C" {
#endif

// Every limit: 0 = the default. Passing one is PELT_ERROR_LIMIT, and the error names the option.
typedef struct pelt_gltf_limits {
    uint64_t file_size;  // bytes of the file and of each buffer; 0 = 4 GiB
    uint32_t json_depth; // nesting of arrays and objects, at most 2,047; 0 = 256
    uint64_t vertices;   // of one primitive; 0 = 100,000,000
    uint32_t joints;     // of one skin; 0 = 65,536
    uint64_t memory;     // bytes the asset and the decoded buffers may take; 0 = 8 GiB
} pelt_gltf_limits;

typedef struct pelt_gltf_options {
    pelt_allocator allocator;
    pelt_log log; // where warnings go
    pelt_gltf_limits limits;
    bool lenient;             // equal key times: keep the last (logged) instead of an error
    bool allow_outside;       // buffers and images may lie outside the file's folder (absolute paths, "..", links)
    uint32_t influence_limit; // keep at most so many influences per vertex, the largest (logged); 0 = all
} pelt_gltf_options;

// A parsed file with its buffers. One thread at a time.
typedef struct pelt_gltf pelt_gltf;

// Reads and checks the container, the JSON and all buffers. options and error may be NULL. Errors: ARGUMENT, IO,
// INVALID, UNSUPPORTED (a required extension, named), LIMIT, MEMORY.
PELT_GLTF_API pelt_result pelt_gltf_open_file(const char *path, const pelt_gltf_options *options, pelt_gltf **out_gltf,
                                              pelt_error *error);
// The same from memory, which must outlive the object. folder: where relative URIs start, UTF-8; NULL = none may be
// used.
PELT_GLTF_API pelt_result pelt_gltf_open_memory(const void *data, size_t size, const char *folder,
                                                const pelt_gltf_options *options, pelt_gltf **out_gltf,
                                                pelt_error *error);
// A document made from an asset in memory, which must outlive it: its nodes and meshes with names, indices and the
// attributes that posing leaves alone; no materials. What pelt_gltf_write_posed needs beside that same asset; there is
// nothing to import. options and error may be NULL. Errors: ARGUMENT, LIMIT, MEMORY.
PELT_GLTF_API pelt_result pelt_gltf_open_asset(const pelt_asset *asset, const pelt_gltf_options *options,
                                               pelt_gltf **out_gltf, pelt_error *error);
// NULL is accepted. Assets made from it stay valid.
PELT_GLTF_API void pelt_gltf_close(pelt_gltf *gltf);

// Makes the asset: checks everything that evaluation relies on. Errors as above.
PELT_GLTF_API pelt_result pelt_gltf_import(pelt_gltf *gltf, pelt_asset **out_asset, pelt_error *error);

// Open, import, close.
PELT_GLTF_API pelt_result pelt_gltf_load_file(const char *path, const pelt_gltf_options *options,
                                              pelt_asset **out_asset, pelt_error *error);

// Names of extensionsUsed and extensionsRequired, in the file's order; live as long as the object. No gltf may be NULL
// here.
PELT_GLTF_API uint32_t pelt_gltf_extension_count(const pelt_gltf *gltf);
// "" from the count on.
PELT_GLTF_API const char *pelt_gltf_extension_name(const pelt_gltf *gltf, uint32_t index);
// Whether extensionsRequired names it; false from the count on.
PELT_GLTF_API bool pelt_gltf_extension_required(const pelt_gltf *gltf, uint32_t index);
// Bytes read: the file and its external buffers.
PELT_GLTF_API uint64_t pelt_gltf_source_size(const pelt_gltf *gltf);
// Those bytes, for hashing: part 0 is the file, part 1 + i its i-th buffer, cut to its byteLength, where that is a file
// of its own, else NULL with a size of 0. Valid as long as the object.
PELT_GLTF_API uint32_t pelt_gltf_source_part_count(const pelt_gltf *gltf);
PELT_GLTF_API const void *pelt_gltf_source_part(const pelt_gltf *gltf, uint32_t part, uint64_t *out_size);
// Name of a material ("" = none) by file index; "" for PELT_NONE.
PELT_GLTF_API const char *pelt_gltf_material_name(const pelt_gltf *gltf, uint32_t material);

// Skinned vertices of one primitive of one instance.
typedef struct pelt_gltf_posed_primitive {
    uint32_t instance;       // index into the asset's instances
    uint32_t primitive;      // index in that instance's mesh
    const float *positions;  // vertex_count x 3
    const float *normals;    // vertex_count x 3, or NULL
    const float *tangents;   // vertex_count x 4, or NULL
    const pelt_box *box;     // exact box of positions
    uint32_t index_count;    // used with indices; must fit topology
    const uint32_t *indices; // NULL = keep the file's indices and topology
    pelt_topology topology;  // of indices
} pelt_gltf_posed_primitive;

typedef enum pelt_gltf_space {
    PELT_GLTF_SPACE_WORLD = 0, // positions are in world space; mesh nodes become scene roots without a transform
    PELT_GLTF_SPACE_MESH       // positions are in the space of the mesh node; nodes keep their posed transforms
} pelt_gltf_space;

// Receives output in order; false stops the writer with PELT_ERROR_IO.
typedef struct pelt_gltf_sink {
    bool (*write)(void *user, const void *data, size_t size);
    void *user;
} pelt_gltf_sink;

typedef struct pelt_gltf_posed {
    const pelt_pose *pose; // updated; of the asset imported from the same object
    pelt_gltf_space space;
    uint32_t primitive_count; // all primitives of all instances, in order
    const pelt_gltf_posed_primitive *primitives;
    const char *generator; // for asset.generator; NULL = Pelt and its version
    // NULL: one .glb into json; else .gltf into json and its buffer, under this URI, into buffer. What cannot stand in
    // a URI is percent-encoded; escapes that are there stay.
    const char *buffer_uri;
    pelt_gltf_sink json;
    pelt_gltf_sink buffer;
} pelt_gltf_posed;

// Writes the file as it stands at the pose: materials, textures (embedded), texture coordinates, colours, custom
// attributes, cameras, lights, names and extras stay; skins, joints, weights, morphs and animations go, and so do nodes
// that held nothing else. Extensions that refer to what is gone or renumbered go with a logged warning each. Errors:
// ARGUMENT, IO, INVALID (a posed position or transform is not finite, a dangling index), LIMIT (a .glb over 4 GiB),
// MEMORY. Only IO and MEMORY can come after the first byte was written.
PELT_GLTF_API pelt_result pelt_gltf_write_posed(pelt_gltf *gltf, const pelt_asset *asset, const pelt_gltf_posed *posed,
                                                pelt_error *error);

#ifdef __cplusplus
}
#endif
#endif
