// SPDX-License-Identifier: MIT
// The progress bar. One may be on screen at a time; whether one is, is the only state.
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double show_after = 0.5; // seconds
static const double redraw_after = 0.1;

static bool on_screen;

static double now(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

cli_progress cli_progress_begin(const cli_context *context, const char *label, uint64_t total)
{
    return (cli_progress){.context = context, .label = label, .total = total, .started = now()};
}

static bool is_wanted(const cli_progress *progress)
{
    const char *terminal = getenv("TERM");
    return !progress->context->options.quiet && isatty(STDERR_FILENO) == 1 &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

void cli_progress_step(cli_progress *progress, uint64_t done)
{
    enum {
        CELLS = 30
    };
    double time = now();
    if (time - progress->started < show_after || time - progress->drawn < redraw_after) {
        return;
    }
    progress->drawn = time;
    if (!is_wanted(progress)) {
        return;
    }
    double share = progress->total ? (double)done / (double)progress->total : 0;
    share = share > 1 ? 1 : share;
    char bar[CELLS + 1];
    int filled = (int)(share * CELLS);
    for (int i = 0; i < CELLS; i++) {
        bar[i] = i < filled ? '#' : '.';
    }
    bar[CELLS] = '\0';
    fprintf(stderr, "\r\033[K%s [%s] %3d %%", progress->label, bar, (int)(share * 100));
    fflush(stderr);
    progress->visible = true;
    on_screen = true;
}

void cli_progress_hide(void)
{
    if (on_screen) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        on_screen = false;
    }
}

void cli_progress_end(cli_progress *progress)
{
    if (progress->visible) {
        progress->visible = false;
        cli_progress_hide();
    }
}
