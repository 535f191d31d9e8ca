// SPDX-License-Identifier: MIT
// What tests ask of Windows.
#define WIN32_LEAN_AND_MEAN
#define _WIN32_WINNT 0x0601

#include "peltt_system.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <windows.h>

#include <cmocka.h>

enum {
    ALIGNMENT = 64,
    PATH_LIMIT = 1024
};

typedef struct wide_path {
    wchar_t text[PATH_LIMIT];
} wide_path;

static wide_path widen(const char *path)
{
    wide_path wide;
    assert_true(MultiByteToWideChar(CP_UTF8, 0, path, -1, wide.text, PATH_LIMIT) > 0);
    return wide;
}

static size_t page_size(void)
{
    SYSTEM_INFO system;
    GetSystemInfo(&system);
    return system.dwPageSize;
}

size_t peltt_pages_round(size_t size)
{
    return (size + page_size() - 1) / page_size() * page_size();
}

uint8_t *peltt_pages_map(size_t *size)
{
    DWORD before = 0;
    size_t page = page_size();
    *size = peltt_pages_round(*size);
    uint8_t *mapping = VirtualAlloc(NULL, *size + 2 * page, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    bool guarded = mapping && VirtualProtect(mapping, page, PAGE_NOACCESS, &before) &&
                   VirtualProtect(mapping + page + *size, page, PAGE_NOACCESS, &before);
    return guarded ? mapping + page : NULL;
}

void peltt_pages_unmap(uint8_t *pages, size_t size)
{
    (void)size; // the whole of it goes
    VirtualFree(pages - page_size(), 0, MEM_RELEASE);
}

void *peltt_aligned_allocate(size_t size)
{
    return _aligned_malloc(size > 0 ? size : 1, ALIGNMENT);
}

void peltt_aligned_free(void *memory)
{
    _aligned_free(memory);
}

const char *peltt_temporary_path(void)
{
    static char path[PATH_LIMIT];
    wchar_t folder[MAX_PATH + 1];
    char narrow[3 * MAX_PATH + 1];
    assert_true(GetTempPathW(MAX_PATH + 1, folder) > 0);
    assert_true(WideCharToMultiByte(CP_UTF8, 0, folder, -1, narrow, sizeof narrow, NULL, NULL) > 0);
    snprintf(path, sizeof path, "%spelt-ä-皮-%lu.tmp", narrow, GetCurrentProcessId());
    return path;
}

FILE *peltt_open(const char *path, const char *mode)
{
    wide_path wide = widen(path);
    wide_path wide_mode = widen(mode);
    return _wfopen(wide.text, wide_mode.text);
}

bool peltt_remove(const char *path)
{
    wide_path wide = widen(path);
    return DeleteFileW(wide.text);
}

const char *peltt_missing_text(void)
{
    static char text[3 * PATH_LIMIT];
    wchar_t wide[PATH_LIMIT];
    assert_true(FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, ERROR_PATH_NOT_FOUND,
                               0, wide, PATH_LIMIT, NULL) > 0);
    assert_true(WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, sizeof text, NULL, NULL) > 0);
    text[strcspn(text, ".\r\n")] = '\0';
    return text;
}

static HANDLE pipe_server = INVALID_HANDLE_VALUE;

const char *peltt_pipe_make(void)
{
    static char path[64];
    snprintf(path, sizeof path, "\\\\.\\pipe\\pelt-%lu", GetCurrentProcessId());
    pipe_server = CreateNamedPipeA(path, PIPE_ACCESS_OUTBOUND, PIPE_TYPE_BYTE, 1, 4096, 4096, 0, NULL);
    assert_true(pipe_server != INVALID_HANDLE_VALUE);
    return path;
}

void peltt_pipe_free(void)
{
    CloseHandle(pipe_server);
}

void peltt_sleep(uint32_t milliseconds)
{
    Sleep(milliseconds);
}

double peltt_wall_seconds(void)
{
    LARGE_INTEGER now;
    LARGE_INTEGER frequency;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&frequency);
    return (double)now.QuadPart / (double)frequency.QuadPart;
}

static double file_time_seconds(FILETIME time)
{
    return (time.dwHighDateTime * 4294967296.0 + time.dwLowDateTime) * 1e-7;
}

double peltt_processor_seconds(void)
{
    FILETIME made;
    FILETIME ended;
    FILETIME kernel;
    FILETIME user;
    assert_true(GetProcessTimes(GetCurrentProcess(), &made, &ended, &kernel, &user));
    return file_time_seconds(kernel) + file_time_seconds(user);
}

bool peltt_forbid_threads(bool forbid)
{
    (void)forbid;
    return false;
}
