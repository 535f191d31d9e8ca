// SPDX-License-Identifier: MIT
// Inside every module: allocation through pelt_allocator, checked sizes, error and warning texts. Header-only, so that
// the import library needs nothing of the runtime library but its public functions.
#ifndef PELTI_BASE_H
#define PELTI_BASE_H

#include <pelt/base.h>

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// MinGW's GCC takes printf for Microsoft's, which has formats of its own.
#if defined(__MINGW32__) && !defined(__clang__)
#define PELTI_PRINTF(format_index, first) __attribute__((format(gnu_printf, format_index, first), unused))
#elif defined(__GNUC__)
#define PELTI_PRINTF(format_index, first) __attribute__((format(printf, format_index, first), unused))
#else
#define PELTI_PRINTF(format_index, first)
#endif

#if defined(__GNUC__)
#define PELTI_UNUSED __attribute__((unused))
#else
#define PELTI_UNUSED
#endif

// a * b in 64 bits; false when it overflows.
static inline bool pelti_mul(uint64_t a, uint64_t b, uint64_t *out)
{
    if (b != 0 && a > UINT64_MAX / b) {
        return false;
    }
    *out = a * b;
    return true;
}

// a + b in 64 bits; false when it overflows.
static inline bool pelti_add(uint64_t a, uint64_t b, uint64_t *out)
{
    if (a > UINT64_MAX - b) {
        return false;
    }
    *out = a + b;
    return true;
}

static inline void *pelti_resize(const pelt_allocator *allocator, void *memory, size_t old_size, size_t new_size)
{
    if (allocator->resize) {
        return allocator->resize(allocator->user, memory, old_size, new_size);
    }
    if (new_size == 0) {
        free(memory);
        return NULL;
    }
    return realloc(memory, new_size);
}

// count * size bytes, not cleared; NULL on overflow, failure, or when it would be 0 bytes.
static inline void *pelti_allocate(const pelt_allocator *allocator, uint64_t count, size_t size)
{
    uint64_t total = 0;
    if (!pelti_mul(count, size, &total) || total == 0 || total > SIZE_MAX / 2) {
        return NULL;
    }
    return pelti_resize(allocator, NULL, 0, (size_t)total);
}

static inline void pelti_release(const pelt_allocator *allocator, void *memory, uint64_t count, size_t size)
{
    if (memory) {
        pelti_resize(allocator, memory, (size_t)(count * size), 0);
    }
}

// Bytes of text up to limit that end on a UTF-8 character's border.
static inline size_t pelti_utf8_cut(const char *text, size_t length, size_t limit)
{
    if (length <= limit) {
        return length;
    }
    size_t cut = limit;
    while (cut > 0 && ((unsigned char)text[cut] & 0xC0) == 0x80) {
        cut--;
    }
    return cut;
}

PELTI_UNUSED static void pelti_format(char *out, size_t capacity, const char *format, va_list arguments)
{
    int written = vsnprintf(out, capacity, format, arguments);
    if (written < 0) {
        out[0] = '\0';
    } else if ((size_t)written >= capacity && capacity > 1) {
        // vsnprintf may have split a character: drop its first bytes too.
        size_t end = capacity - 1;
        size_t start = end;
        while (start > 0 && ((unsigned char)out[start - 1] & 0xC0) == 0x80) {
            start--;
        }
        if (start > 0 && (unsigned char)out[start - 1] >= 0xC0) {
            start--;
        }
        unsigned char lead = (unsigned char)out[start];
        size_t need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
        if (need > end - start) {
            out[start] = '\0';
        }
    }
}

static inline void pelti_error_clear(pelt_error *error)
{
    if (error) {
        error->code = PELT_OK;
        error->message[0] = '\0';
        error->where[0] = '\0';
        error->hint[0] = '\0';
        error->mesh = PELT_NONE;
        error->primitive = PELT_NONE;
        error->vertex = PELT_NONE;
        error->joint = PELT_NONE;
    }
}

// Fills *error (may be NULL) anew and returns code, so that a refusal is one statement. where is a finished text, "" if
// none.
PELTI_PRINTF(4, 5)
static pelt_result pelti_fail(pelt_error *error, pelt_result code, const char *where, const char *format, ...)
{
    if (error) {
        pelti_error_clear(error);
        error->code = code;
        snprintf(error->where, sizeof error->where, "%s", where);
        va_list arguments;
        va_start(arguments, format);
        pelti_format(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return code;
}

// Adds what the user can do to an error already filled.
PELTI_PRINTF(2, 3)
static void pelti_hint(pelt_error *error, const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        pelti_format(error->hint, sizeof error->hint, format, arguments);
        va_end(arguments);
    }
}

// Sends one warning.
PELTI_PRINTF(3, 4)
static void pelti_warn(const pelt_log *log, const char *where, const char *format, ...)
{
    if (!log->write) {
        return;
    }
    pelt_error message;
    pelti_error_clear(&message);
    snprintf(message.where, sizeof message.where, "%s", where);
    va_list arguments;
    va_start(arguments, format);
    pelti_format(message.message, sizeof message.message, format, arguments);
    va_end(arguments);
    log->write(log->user, PELT_LOG_WARNING, &message);
}

// task_count calls of task through *parallel, or on the calling thread where it is NULL or {0}.
static inline void pelti_parallel_run(const pelt_parallel *parallel, uint32_t task_count, pelt_task task, void *context)
{
    if (parallel && parallel->run && task_count > 1) {
        parallel->run(parallel->user, task_count, task, context);
        return;
    }
    for (uint32_t i = 0; i < task_count; i++) {
        task(context, i);
    }
}

#endif
