// SPDX-License-Identifier: MIT
// Result codes, error detail, allocator, log and parallel-for: what every other Pelt header builds on.
#ifndef PELT_BASE_H
#define PELT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Marks what a library offers: PELT_API of the runtime library, PELT_GLTF_API and PELT_VULKAN_API of the other two.
// Programs for Windows are compiled with PELT_SHARED where they link the DLLs; the CMake package and pkg-config say so
// for them.
#if defined(_WIN32) && defined(PELT_SHARED)
#define PELT_EXPORTED __declspec(dllexport)
#define PELT_IMPORTED __declspec(dllimport)
#elif defined(__GNUC__) && !defined(_WIN32)
#define PELT_EXPORTED __attribute__((visibility("default")))
#define PELT_IMPORTED PELT_EXPORTED
#else
#define PELT_EXPORTED
#define PELT_IMPORTED
#endif

#if defined(PELT_BUILDS_RUNTIME)
#define PELT_API PELT_EXPORTED
#else
#define PELT_API PELT_IMPORTED
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define PELT_VERSION_MAJOR 0
#define PELT_VERSION_MINOR 1
#define PELT_VERSION_PATCH 0

// "No such index": a missing parent, mesh, skin or material.
#define PELT_NONE UINT32_MAX

// Every fallible call returns one of these. Data never aborts the process.
typedef enum pelt_result {
    PELT_OK = 0,
    PELT_ERROR_ARGUMENT,    // the caller broke the function's contract
    PELT_ERROR_IO,          // a file cannot be read or written
    PELT_ERROR_INVALID,     // the input breaks its format
    PELT_ERROR_UNSUPPORTED, // the input needs something this library does not do; the error names it
    PELT_ERROR_LIMIT,       // the input is over a limit that the caller may raise
    PELT_ERROR_MEMORY,      // an allocation failed
    PELT_ERROR_DEVICE       // a device or its driver failed; the error names the Vulkan result
} pelt_result;

// A stable upper-case name such as "INVALID"; static storage, never NULL. Any thread.
PELT_API const char *pelt_result_name(pelt_result result);

// The library's version as "major.minor.patch"; static storage; the macros above give that of the header. Any thread.
PELT_API const char *pelt_version(void);

// Instruction sets that kernels are written for. Those of one architecture stand in rising order.
typedef enum pelt_isa {
    PELT_ISA_BEST = 0, // no choice made
    PELT_ISA_SCALAR,   // portable C
    PELT_ISA_SSE2,     // x86-64 baseline
    PELT_ISA_AVX2,     // with FMA
    PELT_ISA_AVX512,   // F, BW, DQ, VL
    PELT_ISA_NEON,     // AArch64
    PELT_ISA_COUNT
} pelt_isa;

// A stable lower-case name such as "avx2"; static storage; "best" for PELT_ISA_BEST, NULL for no pelt_isa. Any thread.
PELT_API const char *pelt_isa_name(pelt_isa isa);
// The instruction set of that name, PELT_ISA_COUNT if there is none. Any thread.
PELT_API pelt_isa pelt_isa_parse(const char *name);
// Whether the library has kernels for it and this processor can run them. Any thread.
PELT_API bool pelt_isa_available(pelt_isa isa);
// The best available one that is not above the cap (PELT_ISA_BEST: no cap) and whose bit 1 << pelt_isa is not set in
// disabled; scalar where nothing else is left. Any thread.
PELT_API pelt_isa pelt_isa_choose(pelt_isa cap, uint32_t disabled);

// What went wrong, or what a warning is about, and where. Texts are NUL-terminated UTF-8, cut on a
// character's border where they do not fit, and "" where there is nothing to say.
typedef struct pelt_error {
    pelt_result code;   // PELT_OK in warnings
    char message[512];  // one sentence, no final full stop, no file name
    char where[192];    // JSON pointer ("/skins/0/joints/3") or byte offset ("byte 12")
    char hint[192];     // what the user can do about it
    uint32_t mesh;      // file index of the mesh concerned, or PELT_NONE
    uint32_t primitive; // index in that mesh, or PELT_NONE
    uint32_t vertex;    // index in that primitive, or PELT_NONE
    uint32_t joint;     // index in the skin's joint list, or PELT_NONE
} pelt_error;

// Memory comes through one function. resize(user, NULL, 0, n) allocates n > 0 bytes aligned for any
// scalar type and for 16-byte vectors; resize(user, p, old_size, n) grows or shrinks and keeps the
// contents; resize(user, p, old_size, 0) releases and returns NULL. NULL on failure, with p untouched.
// {0} = malloc, realloc and free. Called from the thread that called the library.
typedef struct pelt_allocator {
    void *(*resize)(void *user, void *memory, size_t old_size, size_t new_size);
    void *user;
} pelt_allocator;

typedef enum pelt_log_level {
    PELT_LOG_INFO = 0,
    PELT_LOG_WARNING // data was changed, ignored or is suspicious; the message says by how much
} pelt_log_level;

// Where warnings go. {0} = silent. The message is valid during the call only.
typedef struct pelt_log {
    void (*write)(void *user, pelt_log_level level, const pelt_error *message);
    void *user;
} pelt_log;

// One piece of work in a parallel-for; task_index is below the task_count given to run.
typedef void (*pelt_task)(void *context, uint32_t task_index);

// How the library asks for threads. run must call task(context, i) exactly once for every i below
// task_count, in any order and on any threads, and return when all are done. {0} = calling thread only.
// Results never depend on worker_count or on the order.
typedef struct pelt_parallel {
    void (*run)(void *user, uint32_t task_count, pelt_task task, void *context);
    void *user;
    uint32_t worker_count; // how many run at once, the caller's thread included; 0 = 1
} pelt_parallel;

// A plain thread pool for programs that have none. One thread per object at a time may use it.
typedef struct pelt_pool pelt_pool;

// worker_count threads in all, the calling one included, at most 4,096; 0 = one per processor the process may use.
// allocator may be NULL. On failure *out_pool is NULL. Errors: ARGUMENT, MEMORY (threads included).
PELT_API pelt_result pelt_pool_create(uint32_t worker_count, const pelt_allocator *allocator, pelt_pool **out_pool);
// NULL is accepted. Waits for nothing: no work can be under way when it is called.
PELT_API void pelt_pool_destroy(pelt_pool *pool);
// The pool as a parallel-for; valid until the pool is destroyed.
PELT_API pelt_parallel pelt_pool_parallel(pelt_pool *pool);

#ifdef __cplusplus
}
#endif
#endif
