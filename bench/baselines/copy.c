// SPDX-License-Identifier: MIT
// Copies of memory, with and without stores that pass the caches by.
#include "baselines.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

void baseline_copy(void *to, const void *from, size_t size)
{
    memcpy(to, from, size);
}

#if defined(__SSE2__)

bool baseline_copy_streaming_available(void)
{
    return true;
}

void baseline_copy_streaming(void *to, const void *from, size_t size)
{
    __m128i *out = to;
    const __m128i *in = from;
    for (size_t i = 0; i < size / 16; i += 4) {
        // A page ahead the processor's own prefetching stops.
        _mm_prefetch((const char *)(in + i) + 1024, _MM_HINT_T0);
        __m128i a = _mm_load_si128(in + i);
        __m128i b = _mm_load_si128(in + i + 1);
        __m128i c = _mm_load_si128(in + i + 2);
        __m128i d = _mm_load_si128(in + i + 3);
        _mm_stream_si128(out + i, a);
        _mm_stream_si128(out + i + 1, b);
        _mm_stream_si128(out + i + 2, c);
        _mm_stream_si128(out + i + 3, d);
    }
    _mm_sfence();
}

#else

bool baseline_copy_streaming_available(void)
{
    return false;
}

void baseline_copy_streaming(void *to, const void *from, size_t size)
{
    memcpy(to, from, size);
}

#endif
