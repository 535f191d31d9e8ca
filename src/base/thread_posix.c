// SPDX-License-Identifier: MIT
// Threads of POSIX systems.
#if defined(__linux__)
#define _GNU_SOURCE // sched_getaffinity
#endif

#include "base/thread.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

bool pelti_mutex_init(pelti_mutex *mutex)
{
    return pthread_mutex_init(mutex, NULL) == 0;
}

void pelti_mutex_destroy(pelti_mutex *mutex)
{
    pthread_mutex_destroy(mutex);
}

void pelti_mutex_lock(pelti_mutex *mutex)
{
    pthread_mutex_lock(mutex);
}

void pelti_mutex_unlock(pelti_mutex *mutex)
{
    pthread_mutex_unlock(mutex);
}

bool pelti_condition_init(pelti_condition *condition)
{
    return pthread_cond_init(condition, NULL) == 0;
}

void pelti_condition_destroy(pelti_condition *condition)
{
    pthread_cond_destroy(condition);
}

void pelti_condition_wait(pelti_condition *condition, pelti_mutex *mutex)
{
    pthread_cond_wait(condition, mutex);
}

void pelti_condition_signal(pelti_condition *condition)
{
    pthread_cond_signal(condition);
}

void pelti_condition_broadcast(pelti_condition *condition)
{
    pthread_cond_broadcast(condition);
}

static void *thread_entry(void *user)
{
    const pelti_thread *thread = user;
    thread->main(thread->context);
    return NULL;
}

bool pelti_thread_start(pelti_thread *thread, void (*thread_main)(void *context), void *context)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) {
        return false;
    }
    thread->main = thread_main;
    thread->context = context;
    bool started = pthread_create(&thread->handle, NULL, thread_entry, thread) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void pelti_thread_join(pelti_thread *thread)
{
    pthread_join(thread->handle, NULL);
}

uint32_t pelti_processor_count(void)
{
    long count = 0;
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        count = CPU_COUNT(&set);
    }
#endif
    if (count < 1) {
        count = sysconf(_SC_NPROCESSORS_ONLN);
    }
    return count < 1 ? 0 : (uint32_t)count;
}
