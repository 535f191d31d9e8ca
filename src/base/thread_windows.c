// SPDX-License-Identifier: MIT
// Threads of Windows: slim locks and condition variables, which need no library beside kernel32.
#define WIN32_LEAN_AND_MEAN
#define _WIN32_WINNT 0x0601 // Windows 7: processor groups

#include "base/thread.h"

#include <assert.h>
#include <process.h>
#include <windows.h>

static_assert(sizeof(pelti_mutex) == sizeof(SRWLOCK), "pelti_mutex holds an SRWLOCK");
static_assert(sizeof(pelti_condition) == sizeof(CONDITION_VARIABLE), "pelti_condition holds a CONDITION_VARIABLE");

static SRWLOCK *lock_of(pelti_mutex *mutex)
{
    return (SRWLOCK *)mutex;
}

static CONDITION_VARIABLE *variable_of(pelti_condition *condition)
{
    return (CONDITION_VARIABLE *)condition;
}

bool pelti_mutex_init(pelti_mutex *mutex)
{
    InitializeSRWLock(lock_of(mutex));
    return true;
}

void pelti_mutex_destroy(pelti_mutex *mutex)
{
    (void)mutex; // nothing is held beside its own memory
}

void pelti_mutex_lock(pelti_mutex *mutex)
{
    AcquireSRWLockExclusive(lock_of(mutex));
}

void pelti_mutex_unlock(pelti_mutex *mutex)
{
    ReleaseSRWLockExclusive(lock_of(mutex));
}

bool pelti_condition_init(pelti_condition *condition)
{
    InitializeConditionVariable(variable_of(condition));
    return true;
}

void pelti_condition_destroy(pelti_condition *condition)
{
    (void)condition;
}

void pelti_condition_wait(pelti_condition *condition, pelti_mutex *mutex)
{
    SleepConditionVariableSRW(variable_of(condition), lock_of(mutex), INFINITE, 0);
}

void pelti_condition_signal(pelti_condition *condition)
{
    WakeConditionVariable(variable_of(condition));
}

void pelti_condition_broadcast(pelti_condition *condition)
{
    WakeAllConditionVariable(variable_of(condition));
}

static unsigned __stdcall thread_entry(void *user)
{
    const pelti_thread *thread = user;
    thread->main(thread->context);
    return 0;
}

bool pelti_thread_start(pelti_thread *thread, void (*thread_main)(void *context), void *context)
{
    thread->main = thread_main;
    thread->context = context;
    // Not CreateThread: tasks are the program's code, which may use the C library.
    uintptr_t handle = _beginthreadex(NULL, 0, thread_entry, thread, 0, NULL);
    thread->handle = (void *)handle;
    return handle != 0;
}

void pelti_thread_join(pelti_thread *thread)
{
    WaitForSingleObject(thread->handle, INFINITE);
    CloseHandle(thread->handle);
}

uint32_t pelti_processor_count(void)
{
    DWORD_PTR own = 0;
    DWORD_PTR all = 0;
    uint32_t count = 0;
    // Both are 0 where the process has threads in several groups of 64 processors.
    if (GetProcessAffinityMask(GetCurrentProcess(), &own, &all) && own != 0) {
        for (; own != 0; own &= own - 1) {
            count++;
        }
        return count;
    }
    return GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
}
