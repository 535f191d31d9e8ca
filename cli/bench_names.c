// SPDX-License-Identifier: MIT
// Lists of names on the command line: of scenes, and of contenders on a Vulkan device.
#include "bench.h"

#include <string.h>

static bool matches(const char *name, const char *pattern, size_t length)
{
    if (length > 0 && pattern[length - 1] == '*') {
        return strncmp(name, pattern, length - 1) == 0;
    }
    return strlen(name) == length && memcmp(name, pattern, length) == 0;
}

static int select_pattern(const cli_context *context, const char *pattern, size_t length, const bench_names *names,
                          bool wanted[])
{
    uint32_t found = 0;
    const char *unmet = NULL; // the first that needs a FILE
    for (uint32_t i = 0; i < names->count; i++) {
        const char *name = names->name(i);
        if (!matches(name, pattern, length)) {
            continue;
        }
        bool without_file = names->needs_file && names->needs_file(i) && !context->options.input;
        wanted[i] = !without_file;
        found += !without_file;
        unmet = without_file && !unmet ? name : unmet;
    }
    if (found == 0 && unmet) {
        return cli_fail(context, CLI_USAGE, NULL, NULL, names->example, "scene %s needs a FILE", unmet);
    }
    if (found == 0) {
        int shown = length > 100 ? 100 : (int)length;
        return cli_fail(context, CLI_USAGE, NULL, NULL, names->hint, "no %s is named \"%.*s\"", names->what, shown,
                        pattern);
    }
    return CLI_DONE;
}

int bench_select_names(const cli_context *context, const char *list, const bench_names *names, bool wanted[])
{
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ",");
        int code = select_pattern(context, at, length, names, wanted);
        at += length;
        if (code != CLI_DONE || *at == '\0') {
            return code;
        }
    }
}
