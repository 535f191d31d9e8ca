// SPDX-License-Identifier: MIT
// The tables of the kernels that this build has.
#include "skin/skin.h"

#include "base/cpu.h"

const pelti_skin_kernel *pelti_skin_kernel_of(pelt_isa isa)
{
    switch (isa) {
#if defined(PELTI_X86)
    case PELT_ISA_AVX512:
        return &pelti_skin_avx512;
    case PELT_ISA_AVX2:
        return &pelti_skin_avx2;
    case PELT_ISA_SSE2:
        return &pelti_skin_sse2;
#elif defined(PELTI_ARM64)
    case PELT_ISA_NEON:
        return &pelti_skin_neon;
#endif
    default:
        return &pelti_skin_scalar;
    }
}
