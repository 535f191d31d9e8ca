// SPDX-License-Identifier: MIT
// A plain thread pool: sleeping workers are woken by one broadcast per run, take tasks from an atomic counter, and the
// caller works too. A run ends when its tasks are done; workers that wake up late find it closed and sleep on.
#include "base/base.h"
#include "base/thread.h"

#include <stdatomic.h>

enum {
    WORKER_BOUND = 4096
};

struct pelt_pool {
    pelt_allocator allocator;
    pelti_mutex mutex;
    pelti_condition wake; // a run was opened, or quit
    pelti_condition idle; // the last worker left a closed run
    // Everything down to quit is guarded by mutex.
    uint64_t run_number;
    bool open; // workers may enter the run
    uint32_t inside_count;
    uint32_t task_count;
    pelt_task task;
    void *context;
    bool quit;
    // 64 bits: each thread counts once past the end, and 32 would wrap at the largest task_count.
    atomic_uint_fast64_t next_task;
    uint32_t capacity;
    uint32_t thread_count;
    pelti_thread threads[];
};

static size_t pool_size(uint32_t thread_count)
{
    return sizeof(pelt_pool) + (size_t)thread_count * sizeof(pelti_thread);
}

static uint32_t default_count(void)
{
    uint32_t count = pelti_processor_count();
    return count < 1 ? 1 : count > WORKER_BOUND ? WORKER_BOUND : count;
}

static void work(pelt_pool *pool, uint32_t task_count, pelt_task task, void *context)
{
    for (;;) {
        uint64_t i = atomic_fetch_add_explicit(&pool->next_task, 1, memory_order_relaxed);
        if (i >= task_count) {
            return;
        }
        task(context, (uint32_t)i);
    }
}

static void worker_main(void *user)
{
    pelt_pool *pool = user;
    uint64_t seen = 0;
    pelti_mutex_lock(&pool->mutex);
    while (!pool->quit) {
        if (!pool->open || pool->run_number == seen) {
            pelti_condition_wait(&pool->wake, &pool->mutex);
            continue;
        }
        seen = pool->run_number;
        pool->inside_count++;
        uint32_t task_count = pool->task_count;
        pelt_task task = pool->task;
        void *context = pool->context;
        pelti_mutex_unlock(&pool->mutex);
        work(pool, task_count, task, context);
        pelti_mutex_lock(&pool->mutex);
        pool->inside_count--;
        if (pool->inside_count == 0 && !pool->open) {
            pelti_condition_signal(&pool->idle);
        }
    }
    pelti_mutex_unlock(&pool->mutex);
}

static void pool_run(void *user, uint32_t task_count, pelt_task task, void *context)
{
    pelt_pool *pool = user;
    pelti_mutex_lock(&pool->mutex);
    // A run inside a task of this pool, or a second thread's, is done by its own thread: no deadlock.
    bool alone = pool->open || pool->inside_count > 0 || pool->thread_count == 0 || task_count <= 1;
    if (alone) {
        pelti_mutex_unlock(&pool->mutex);
        for (uint32_t i = 0; i < task_count; i++) {
            task(context, i);
        }
        return;
    }
    pool->run_number++;
    pool->open = true;
    pool->task_count = task_count;
    pool->task = task;
    pool->context = context;
    atomic_store_explicit(&pool->next_task, 0, memory_order_relaxed);
    pelti_condition_broadcast(&pool->wake);
    pelti_mutex_unlock(&pool->mutex);

    work(pool, task_count, task, context);

    pelti_mutex_lock(&pool->mutex);
    pool->open = false;
    while (pool->inside_count > 0) {
        pelti_condition_wait(&pool->idle, &pool->mutex);
    }
    pelti_mutex_unlock(&pool->mutex);
}

static bool init_locks(pelt_pool *pool)
{
    if (!pelti_mutex_init(&pool->mutex)) {
        return false;
    }
    if (!pelti_condition_init(&pool->wake)) {
        pelti_mutex_destroy(&pool->mutex);
        return false;
    }
    if (!pelti_condition_init(&pool->idle)) {
        pelti_condition_destroy(&pool->wake);
        pelti_mutex_destroy(&pool->mutex);
        return false;
    }
    return true;
}

static bool start_threads(pelt_pool *pool)
{
    bool ok = true;
    while (ok && pool->thread_count < pool->capacity) {
        ok = pelti_thread_start(&pool->threads[pool->thread_count], worker_main, pool);
        pool->thread_count += ok ? 1 : 0;
    }
    return ok;
}

pelt_result pelt_pool_create(uint32_t worker_count, const pelt_allocator *allocator, pelt_pool **out_pool)
{
    if (!out_pool) {
        return PELT_ERROR_ARGUMENT;
    }
    *out_pool = NULL;
    if (worker_count > WORKER_BOUND) {
        return PELT_ERROR_ARGUMENT;
    }
    uint32_t capacity = (worker_count == 0 ? default_count() : worker_count) - 1;
    pelt_allocator memory = {0};
    if (allocator) {
        memory = *allocator;
    }
    pelt_pool *pool = pelti_allocate(&memory, 1, pool_size(capacity));
    if (!pool) {
        return PELT_ERROR_MEMORY;
    }
    memset(pool, 0, pool_size(capacity));
    pool->allocator = memory;
    pool->capacity = capacity;
    atomic_init(&pool->next_task, 0);
    if (!init_locks(pool)) {
        pelti_release(&memory, pool, 1, pool_size(capacity));
        return PELT_ERROR_MEMORY;
    }
    if (!start_threads(pool)) {
        pelt_pool_destroy(pool);
        return PELT_ERROR_MEMORY;
    }
    *out_pool = pool;
    return PELT_OK;
}

void pelt_pool_destroy(pelt_pool *pool)
{
    if (!pool) {
        return;
    }
    pelti_mutex_lock(&pool->mutex);
    pool->quit = true;
    pelti_condition_broadcast(&pool->wake);
    pelti_mutex_unlock(&pool->mutex);
    for (uint32_t i = 0; i < pool->thread_count; i++) {
        pelti_thread_join(&pool->threads[i]);
    }
    pelti_condition_destroy(&pool->idle);
    pelti_condition_destroy(&pool->wake);
    pelti_mutex_destroy(&pool->mutex);
    pelt_allocator memory = pool->allocator;
    pelti_release(&memory, pool, 1, pool_size(pool->capacity));
}

pelt_parallel pelt_pool_parallel(pelt_pool *pool)
{
    if (!pool) {
        return (pelt_parallel){0};
    }
    return (pelt_parallel){pool_run, pool, pool->capacity + 1};
}
