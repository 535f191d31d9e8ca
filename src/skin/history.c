// SPDX-License-Identifier: MIT
// Two position buffers that swap roles per update, for motion vectors.
#include "skin.h"

pelt_position_history pelt_position_history_init(float *a, float *b)
{
    pelt_position_history history = {.current = a, .previous = b, .previous_valid = false, .update_count = 0};
    return history;
}

void pelt_position_history_advance(pelt_position_history *history, bool teleport)
{
    if (history->update_count > 0) { // before the first update there is nothing to keep
        float *last = history->current;
        history->current = history->previous;
        history->previous = last;
    }
    history->previous_valid = history->update_count > 0 && !teleport;
    history->update_count++;
}
