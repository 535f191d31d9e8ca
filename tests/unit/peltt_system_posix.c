// SPDX-License-Identifier: MIT
// What tests ask of POSIX systems.
#include "peltt_system.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    ALIGNMENT = 64
};

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

size_t peltt_pages_round(size_t size)
{
    return (size + page_size() - 1) / page_size() * page_size();
}

uint8_t *peltt_pages_map(size_t *size)
{
    size_t page = page_size();
    *size = peltt_pages_round(*size);
    int zero = open("/dev/zero", O_RDWR);
    void *mapping = zero < 0 ? MAP_FAILED : mmap(NULL, *size + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);
    close(zero);
    if (mapping == MAP_FAILED) {
        return NULL;
    }
    uint8_t *pages = (uint8_t *)mapping + page;
    bool guarded = mprotect(mapping, page, PROT_NONE) == 0 && mprotect(pages + *size, page, PROT_NONE) == 0;
    return guarded ? pages : NULL;
}

void peltt_pages_unmap(uint8_t *pages, size_t size)
{
    munmap(pages - page_size(), size + 2 * page_size());
}

void *peltt_aligned_allocate(size_t size)
{
    void *memory = NULL;
    return posix_memalign(&memory, ALIGNMENT, size > 0 ? size : 1) == 0 ? memory : NULL;
}

void peltt_aligned_free(void *memory)
{
    free(memory);
}

const char *peltt_temporary_path(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/pelt-ä-皮-%ld.tmp", (long)getpid());
    return path;
}

FILE *peltt_open(const char *path, const char *mode)
{
    return fopen(path, mode);
}

bool peltt_remove(const char *path)
{
    return unlink(path) == 0;
}

const char *peltt_missing_text(void)
{
    return strerror(ENOENT);
}

static const char *pipe_path(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/pelt-%ld.pipe", (long)getpid());
    return path;
}

const char *peltt_pipe_make(void)
{
    assert_int_equal(mkfifo(pipe_path(), 0600), 0);
    return pipe_path();
}

void peltt_pipe_free(void)
{
    unlink(pipe_path());
}

void peltt_sleep(uint32_t milliseconds)
{
    struct timespec moment = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    nanosleep(&moment, NULL);
}

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double peltt_wall_seconds(void)
{
    return seconds(CLOCK_MONOTONIC);
}

double peltt_processor_seconds(void)
{
    return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

// A stack that no thread can have: the address space is limited to little more than what is in use.
bool peltt_forbid_threads(bool forbid)
{
    static struct rlimit before;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false; // sanitizers reserve terabytes of address space
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return false;
#endif
#endif
    if (!forbid) {
        assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
        return true;
    }
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    struct rlimit tight = before;
    tight.rlim_cur = (rlim_t)1 << 30;
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    return true;
}
