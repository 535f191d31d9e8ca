// SPDX-License-Identifier: MIT
// Removes temporary files when a signal ends the program.
#include "signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum {
    SLOTS = 1100 // more than there can be workers, each with a file at a time
};

// A handler can reach static state only.
static _Atomic(const char *) paths[SLOTS];

static void handle(int signal_number)
{
    for (int i = 0; i < SLOTS; i++) {
        const char *path = atomic_load(&paths[i]);
        if (path) {
            unlink(path);
        }
    }
    // SA_RESETHAND has restored the default, so that the caller sees which signal ended us.
    raise(signal_number);
}

void cli_signals_init(void)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        struct sigaction before;
        // What a parent chose to ignore, as nohup does, stays ignored.
        if (sigaction(caught[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN) {
            continue;
        }
        action.sa_handler = handle;
        action.sa_flags = (int)SA_RESETHAND;
        sigaction(caught[i], &action, NULL);
    }
    action.sa_handler = SIG_IGN;
    action.sa_flags = 0;
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL);
}

int cli_signals_add(const char *path)
{
    for (int i = 0; i < SLOTS; i++) {
        const char *free_slot = NULL;
        if (atomic_compare_exchange_strong(&paths[i], &free_slot, path)) {
            return i;
        }
    }
    return -1;
}

void cli_signals_remove(int slot)
{
    if (slot >= 0 && slot < SLOTS) {
        atomic_store(&paths[slot], NULL);
    }
}
