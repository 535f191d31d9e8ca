// SPDX-License-Identifier: MIT
// Removes temporary files when a signal ends the program.
#include "signals.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum {
    SLOTS = 1100 // more than there can be workers, each with a file at a time
};

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};

// A handler can reach static state only.
static _Atomic(const char *) paths[SLOTS];
static atomic_bool ending;
static atomic_int changing; // threads between enter and leave

// Around every change of the list, so that none happens while a handler reads it: either the handler sees changing and
// waits, or this thread sees ending and stays here until the program ends. The signals are held back meanwhile, lest a
// handler interrupt the thread that it waits for.
static void enter(sigset_t *out_before)
{
    sigset_t held;
    sigemptyset(&held);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        sigaddset(&held, caught[i]);
    }
    pthread_sigmask(SIG_BLOCK, &held, out_before);
    atomic_fetch_add(&changing, 1);
    if (atomic_load(&ending)) {
        atomic_fetch_sub(&changing, 1);
        for (;;) {
            pause();
        }
    }
}

static void leave(const sigset_t *before)
{
    atomic_fetch_sub(&changing, 1);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

static void handle(int signal_number)
{
    atomic_store(&ending, true);
    while (atomic_load(&changing) > 0) {
        poll(NULL, 0, 1);
    }
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

static int take_slot(const char *path)
{
    for (int i = 0; i < SLOTS; i++) {
        const char *free_slot = NULL;
        if (atomic_compare_exchange_strong(&paths[i], &free_slot, path)) {
            return i;
        }
    }
    return -1;
}

int cli_signals_create(const char *path, int *out_slot)
{
    sigset_t before;
    enter(&before);
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    *out_slot = descriptor >= 0 ? take_slot(path) : -1;
    leave(&before);
    return descriptor;
}

void cli_signals_remove(int slot)
{
    if (slot >= 0 && slot < SLOTS) {
        sigset_t before;
        enter(&before);
        atomic_store(&paths[slot], NULL);
        leave(&before);
    }
}
