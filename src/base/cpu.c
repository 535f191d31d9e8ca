// SPDX-License-Identifier: MIT
// Instruction sets and the last-level cache. The answers never change while a process lives, so what is slow to ask is
// kept in an atomic that every thread would fill with the same value.
#include "base/cpu.h"

#include <stdatomic.h>
#include <string.h>

#if defined(PELTI_X86)
#include <cpuid.h>
#endif

static const char *const isa_names[PELT_ISA_COUNT] = {"best", "scalar", "sse2", "avx2", "avx512", "neon"};

const char *pelt_isa_name(pelt_isa isa)
{
    return (unsigned)isa < PELT_ISA_COUNT ? isa_names[isa] : NULL;
}

pelt_isa pelt_isa_parse(const char *name)
{
    for (int i = 0; i < PELT_ISA_COUNT; i++) {
        if (strcmp(name, isa_names[i]) == 0) {
            return (pelt_isa)i;
        }
    }
    return PELT_ISA_COUNT;
}

// Bits of those that this build leaves out (PELT_DISABLED_ISAS).
#if !defined(PELTI_DISABLED_ISAS)
#define PELTI_DISABLED_ISAS 0U
#endif

// Bits 1 << pelt_isa. The compiler's runtime asks cpuid before main, the system's saving of registers included.
static uint32_t runnable(void)
{
    uint32_t isas = 1U << PELT_ISA_SCALAR;
#if defined(PELTI_X86)
    isas |= 1U << PELT_ISA_SSE2;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        isas |= 1U << PELT_ISA_AVX2;
    }
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma")) {
        isas |= 1U << PELT_ISA_AVX512;
    }
#elif defined(PELTI_ARM64)
    isas |= 1U << PELT_ISA_NEON;
#endif
    return isas & PELTI_ISAS_BUILT & ~(uint32_t)PELTI_DISABLED_ISAS;
}

bool pelt_isa_available(pelt_isa isa)
{
    return (unsigned)isa < PELT_ISA_COUNT && (runnable() >> (unsigned)isa & 1U) != 0;
}

pelt_isa pelt_isa_choose(pelt_isa cap, uint32_t disabled)
{
    uint32_t isas = runnable() & ~disabled;
    int highest = cap == PELT_ISA_BEST ? PELT_ISA_COUNT - 1 : (int)cap;
    for (int i = highest; i > PELT_ISA_SCALAR; i--) {
        if (isas >> i & 1U) {
            return (pelt_isa)i;
        }
    }
    return PELT_ISA_SCALAR;
}

#if defined(PELTI_X86)
// Leaf 4 of Intel and leaf 0x8000001D of AMD list the caches in the same form, from the innermost.
static uint64_t cache_size_of_leaf(unsigned leaf)
{
    uint64_t largest = 0;
    for (unsigned i = 0; i < 16; i++) {
        unsigned a = 0;
        unsigned b = 0;
        unsigned c = 0;
        unsigned d = 0;
        if (!__get_cpuid_count(leaf, i, &a, &b, &c, &d) || (a & 31U) == 0) {
            break;
        }
        uint64_t ways = (b >> 22) + 1U;
        uint64_t partitions = (b >> 12 & 0x3FFU) + 1U;
        uint64_t line = (b & 0xFFFU) + 1U;
        uint64_t size = ways * partitions * line * ((uint64_t)c + 1U);
        bool holds_data = (a & 31U) != 2;
        largest = holds_data && size > largest ? size : largest;
    }
    return largest;
}

static uint64_t ask_cache_size(void)
{
    uint64_t intel = cache_size_of_leaf(4);
    uint64_t amd = cache_size_of_leaf(0x8000001DU);
    return intel > amd ? intel : amd;
}
#else
static uint64_t ask_cache_size(void)
{
    return 0;
}
#endif

uint64_t pelti_cpu_cache_size(void)
{
    static _Atomic uint64_t known; // cpuid takes microseconds in a virtual machine
    uint64_t size = atomic_load_explicit(&known, memory_order_relaxed);
    if (size == 0) {
        size = ask_cache_size();
        size = size > 0 ? size : 8U << 20;
        // More is what virtual machines tell of all parts of a processor together, or shared by dozens of cores.
        size = size < 64U << 20 ? size : 64U << 20;
        atomic_store_explicit(&known, size, memory_order_relaxed);
    }
    return size;
}
