// SPDX-License-Identifier: MIT
// Files of Windows.
#define WIN32_LEAN_AND_MEAN
#define _WIN32_WINNT 0x0601

#include "base/file.h"

#include "base/base.h"

#include <windows.h>

enum {
    PATH_CAPACITY = 32768, // UTF-16 units, the zero included: no path of Windows is longer
    REASON_CAPACITY = 128
};

static HANDLE handle_of(pelti_file file)
{
    return (HANDLE)file.handle;
}

// The system's sentence without its full stop, as UTF-8.
static pelt_result fail_system(DWORD code, pelt_error *error)
{
    wchar_t sentence[REASON_CAPACITY];
    char reason[3 * REASON_CAPACITY + 1];
    DWORD length =
        FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS | FORMAT_MESSAGE_MAX_WIDTH_MASK, NULL,
                       code, 0, sentence, REASON_CAPACITY, NULL);
    while (length > 0 && (sentence[length - 1] == L' ' || sentence[length - 1] == L'.')) {
        length--;
    }
    int size = length == 0
                   ? 0
                   : WideCharToMultiByte(CP_UTF8, 0, sentence, (int)length, reason, 3 * REASON_CAPACITY, NULL, NULL);
    reason[size] = '\0';
    if (size == 0) {
        snprintf(reason, sizeof reason, "error %lu", code);
    }
    return pelti_fail(error, PELT_ERROR_IO, "", "the file cannot be read: %s", reason);
}

static pelt_result fail_kind(const char *kind, pelt_error *error)
{
    return pelti_fail(error, PELT_ERROR_IO, "", "the file cannot be read: it is %s, not a file", kind);
}

// A pipe's server may not act in the name of who opens it (SECURITY_ANONYMOUS).
static pelt_result open_wide(const wchar_t *path, HANDLE *out, pelt_error *error)
{
    HANDLE handle =
        CreateFileW(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                    FILE_ATTRIBUTE_NORMAL | SECURITY_SQOS_PRESENT | SECURITY_ANONYMOUS, NULL);
    if (handle == INVALID_HANDLE_VALUE) {
        DWORD code = GetLastError();
        DWORD attributes = GetFileAttributesW(path);
        bool folder = attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
        return folder ? fail_kind("a directory", error) : fail_system(code, error);
    }
    if (GetFileType(handle) != FILE_TYPE_DISK) {
        CloseHandle(handle);
        return fail_kind("a pipe or a device", error);
    }
    *out = handle;
    return PELT_OK;
}

pelt_result pelti_file_open(const char *path, pelti_file *out, uint64_t *out_size, pelt_error *error)
{
    wchar_t wide[PATH_CAPACITY];
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, PATH_CAPACITY) == 0) {
        return fail_system(GetLastError(), error);
    }
    HANDLE handle = NULL;
    LARGE_INTEGER size;
    pelt_result result = open_wide(wide, &handle, error);
    if (result != PELT_OK) {
        return result;
    }
    if (!GetFileSizeEx(handle, &size)) {
        result = fail_system(GetLastError(), error);
        CloseHandle(handle);
        return result;
    }
    out->handle = (intptr_t)handle;
    *out_size = (uint64_t)size.QuadPart;
    return PELT_OK;
}

void pelti_file_close(pelti_file file)
{
    CloseHandle(handle_of(file));
}

pelt_result pelti_file_read(pelti_file file, uint64_t offset, void *memory, uint64_t size, pelt_error *error)
{
    uint64_t done = 0;
    while (done < size) {
        DWORD wanted = size - done < (1U << 30) ? (DWORD)(size - done) : 1U << 30;
        DWORD got = 0;
        OVERLAPPED at = {0};
        at.Offset = (DWORD)(offset + done);
        at.OffsetHigh = (DWORD)((offset + done) >> 32);
        bool read = ReadFile(handle_of(file), (uint8_t *)memory + done, wanted, &got, &at);
        DWORD code = read ? ERROR_SUCCESS : GetLastError();
        if (got == 0 && (read || code == ERROR_HANDLE_EOF)) {
            return pelti_fail(error, PELT_ERROR_IO, "", "the file became shorter while it was read");
        }
        if (!read) {
            return fail_system(code, error);
        }
        done += got;
    }
    return PELT_OK;
}

void *pelti_file_map(pelti_file file, uint64_t size)
{
    HANDLE mapping = CreateFileMappingW(handle_of(file), NULL, PAGE_READONLY, 0, 0, NULL);
    if (!mapping) {
        return NULL;
    }
    void *memory = size <= SIZE_MAX / 2 ? MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, (size_t)size) : NULL;
    CloseHandle(mapping); // the view keeps it
    return memory;
}

void pelti_file_unmap(void *memory, uint64_t size)
{
    (void)size; // views are unmapped whole
    UnmapViewOfFile(memory);
}
