// SPDX-License-Identifier: MIT
// See peltt_guarded.h.
#include "peltt_guarded.h"

#include "peltt_system.h"

#include <stdlib.h>
#include <string.h>

peltt_guarded peltt_guarded_make(size_t size, bool at_end)
{
    peltt_guarded g = {.mapping_size = size, .size = size};
    g.mapping = peltt_pages_map(&g.mapping_size);
    if (!g.mapping) {
        fprintf(stderr, "peltt_guarded: no pages of %u bytes\n", (unsigned)size);
        abort();
    }
    memset(g.mapping, 0xCC, g.mapping_size);
    g.data = g.mapping + (at_end ? g.mapping_size - size : 0);
    return g;
}

void peltt_guarded_free(peltt_guarded *guarded)
{
    peltt_pages_unmap(guarded->mapping, guarded->mapping_size);
    *guarded = (peltt_guarded){0};
}
