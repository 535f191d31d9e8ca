// SPDX-License-Identifier: MIT
// The thread pool: every task once, on any number of threads, run after run.
#include "base/base.h"
#include "peltt_alloc.h"
#include "peltt_system.h"

#include <setjmp.h>
#include <stdatomic.h>

#include <cmocka.h>

enum {
    TASK_COUNT = 1000
};

typedef struct tally {
    atomic_uint done[TASK_COUNT];
    atomic_uint total;
    pelt_parallel parallel; // of the pool, for tasks that start runs
} tally;

static void count_task(void *context, uint32_t task_index)
{
    tally *t = context;
    atomic_fetch_add(&t->done[task_index], 1);
    atomic_fetch_add(&t->total, 1);
}

static void sleepy_task(void *context, uint32_t task_index)
{
    peltt_sleep(2);
    count_task(context, task_index);
}

static void nested_task(void *context, uint32_t task_index)
{
    tally *t = context;
    if (task_index < 4) {
        t->parallel.run(t->parallel.user, 10, count_task, t);
    }
}

static pelt_pool *create(uint32_t worker_count)
{
    pelt_pool *pool = NULL;
    assert_int_equal(pelt_pool_create(worker_count, NULL, &pool), PELT_OK);
    assert_non_null(pool);
    return pool;
}

static void pool_refuses_wrong_arguments(void **state)
{
    (void)state;
    pelt_pool *pool = (pelt_pool *)&pool;
    assert_int_equal(pelt_pool_create(2, NULL, NULL), PELT_ERROR_ARGUMENT);
    assert_int_equal(pelt_pool_create(UINT32_MAX, NULL, &pool), PELT_ERROR_ARGUMENT);
    assert_null(pool);
    pelt_pool_destroy(NULL);
    assert_null(pelt_pool_parallel(NULL).run);
}

static void every_task_runs_exactly_once(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 9; workers += 2) {
        pelt_pool *pool = create(workers);
        pelt_parallel parallel = pelt_pool_parallel(pool);
        assert_int_equal(parallel.worker_count, workers);
        static const uint32_t counts[] = {0, 1, 2, 3, 17, TASK_COUNT};
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            tally t = {0};
            parallel.run(parallel.user, counts[c], count_task, &t);
            assert_int_equal(atomic_load(&t.total), counts[c]);
            for (uint32_t i = 0; i < TASK_COUNT; i++) {
                assert_int_equal(atomic_load(&t.done[i]), i < counts[c] ? 1 : 0);
            }
        }
        pelt_pool_destroy(pool);
    }
}

// Plain memory is passed from task to caller and on to the next run's tasks: a race is for the thread sanitizer.
static void add_task(void *context, uint32_t task_index)
{
    ((uint64_t *)context)[task_index] += task_index;
}

static void runs_follow_each_other_without_losing_writes(void **state)
{
    (void)state;
    pelt_pool *pool = create(4);
    pelt_parallel parallel = pelt_pool_parallel(pool);
    uint64_t sums[8] = {0};
    for (int run = 0; run < 20000; run++) {
        parallel.run(parallel.user, 8, add_task, sums);
    }
    for (uint64_t i = 0; i < 8; i++) {
        assert_int_equal(sums[i], 20000 * i);
    }
    pelt_pool_destroy(pool);
}

static void run_inside_a_task_does_not_hang(void **state)
{
    (void)state;
    pelt_pool *pool = create(3);
    tally t = {.parallel = pelt_pool_parallel(pool)};
    t.parallel.run(t.parallel.user, 8, nested_task, &t);
    assert_int_equal(atomic_load(&t.total), 40);
    pelt_pool_destroy(pool);
}

static void zero_workers_means_one_per_processor(void **state)
{
    (void)state;
    pelt_pool *pool = create(0);
    assert_true(pelt_pool_parallel(pool).worker_count >= 1);
    tally t = {0};
    pelt_parallel parallel = pelt_pool_parallel(pool);
    parallel.run(parallel.user, 100, count_task, &t);
    assert_int_equal(atomic_load(&t.total), 100);
    pelt_pool_destroy(pool);
}

static void waiting_burns_no_processor_time(void **state)
{
    (void)state;
    pelt_pool *pool = create(4);
    pelt_parallel parallel = pelt_pool_parallel(pool);
    tally t = {0};
    double start = peltt_processor_seconds();
    double wall = peltt_wall_seconds();
    parallel.run(parallel.user, 200, sleepy_task, &t);
    peltt_sleep(100);
    wall = peltt_wall_seconds() - wall;
    // Three spinning workers would burn at least the wall time together.
    assert_true(peltt_processor_seconds() - start < 0.5 * wall);
    assert_int_equal(atomic_load(&t.total), 200);
    pelt_pool_destroy(pool);
}

static void failed_allocation_is_memory_error(void **state)
{
    (void)state;
    peltt_alloc memory = {.fail_at = 1};
    pelt_allocator allocator = peltt_alloc_make(&memory);
    pelt_pool *pool = (pelt_pool *)&pool;
    assert_int_equal(pelt_pool_create(4, &allocator, &pool), PELT_ERROR_MEMORY);
    assert_null(pool);
    memory.fail_at = 0;
    assert_int_equal(pelt_pool_create(4, &allocator, &pool), PELT_OK);
    pelt_pool_destroy(pool);
    assert_int_equal(memory.live_bytes, 0);
}

static void failed_thread_creation_is_memory_error(void **state)
{
    (void)state;
    peltt_alloc memory = {0};
    pelt_allocator allocator = peltt_alloc_make(&memory);
    pelt_pool *pool = (pelt_pool *)&pool;
    if (!peltt_forbid_threads(true)) {
        skip(); // sanitizers reserve all the address space they like, and Windows limits no threads
    }
    pelt_result result = pelt_pool_create(4000, &allocator, &pool);
    peltt_forbid_threads(false);
    assert_int_equal(result, PELT_ERROR_MEMORY);
    assert_null(pool);
    assert_int_equal(memory.live_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool_refuses_wrong_arguments),
        cmocka_unit_test(every_task_runs_exactly_once),
        cmocka_unit_test(runs_follow_each_other_without_losing_writes),
        cmocka_unit_test(run_inside_a_task_does_not_hang),
        cmocka_unit_test(zero_workers_means_one_per_processor),
        cmocka_unit_test(waiting_burns_no_processor_time),
        cmocka_unit_test(failed_allocation_is_memory_error),
        cmocka_unit_test(failed_thread_creation_is_memory_error),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
