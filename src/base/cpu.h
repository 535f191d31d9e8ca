// SPDX-License-Identifier: MIT
// What the processor can run, asked once.
#ifndef PELTI_CPU_H
#define PELTI_CPU_H

#include <pelt/base.h>

#if defined(__x86_64__)
#define PELTI_X86 1
#elif defined(__aarch64__)
#define PELTI_ARM64 1
#endif

// Bits 1 << pelt_isa of what the library has kernels for. A kernel's file and its bit come together.
enum {
#if defined(PELTI_X86)
    PELTI_ISAS_BUILT = 1 << PELT_ISA_SCALAR | 1 << PELT_ISA_SSE2 | 1 << PELT_ISA_AVX2 | 1 << PELT_ISA_AVX512
#elif defined(PELTI_ARM64)
    PELTI_ISAS_BUILT = 1 << PELT_ISA_SCALAR | 1 << PELT_ISA_NEON
#else
    PELTI_ISAS_BUILT = 1 << PELT_ISA_SCALAR
#endif
};

// Before the small functions that kernels are made of. With sanitizers they are called: checks in each of hundreds of
// copies take compilers minutes.
#if defined(PELTI_SANITIZED)
#define PELTI_KERNEL_INLINE static inline
#else
#define PELTI_KERNEL_INLINE static inline __attribute__((always_inline))
#endif

// Bytes of the last-level cache, at most 64 MiB; a guess of 8 MiB where the system does not tell.
uint64_t pelti_cpu_cache_size(void);

#endif
