// SPDX-License-Identifier: MIT
// Threads of the operating system: thread_posix.c or thread_windows.c, whichever the build takes in.
#ifndef PELTI_THREAD_H
#define PELTI_THREAD_H

#include <pelt/base.h>

#if defined(_WIN32)
// The same as SRWLOCK, CONDITION_VARIABLE and HANDLE, without windows.h and its macros.
typedef struct pelti_mutex {
    void *system;
} pelti_mutex;
typedef struct pelti_condition {
    void *system;
} pelti_condition;
typedef void *pelti_thread_handle;
#else
#include <pthread.h>
typedef pthread_mutex_t pelti_mutex;
typedef pthread_cond_t pelti_condition;
typedef pthread_t pelti_thread_handle;
#endif

bool pelti_mutex_init(pelti_mutex *mutex);
void pelti_mutex_destroy(pelti_mutex *mutex);
void pelti_mutex_lock(pelti_mutex *mutex);
void pelti_mutex_unlock(pelti_mutex *mutex);

bool pelti_condition_init(pelti_condition *condition);
void pelti_condition_destroy(pelti_condition *condition);
// Wakes up for no reason too, as conditions do.
void pelti_condition_wait(pelti_condition *condition, pelti_mutex *mutex);
void pelti_condition_signal(pelti_condition *condition);
void pelti_condition_broadcast(pelti_condition *condition);

// Stays where it is from start to join.
typedef struct pelti_thread {
    void (*main)(void *context);
    void *context;
    pelti_thread_handle handle;
} pelti_thread;

// False where the system has no thread to give. A thread takes no signals, so that the program's handlers run on the
// program's threads.
bool pelti_thread_start(pelti_thread *thread, void (*thread_main)(void *context), void *context);
void pelti_thread_join(pelti_thread *thread);

// Processors that this process may use; 0 where the system does not tell.
uint32_t pelti_processor_count(void);

#endif
