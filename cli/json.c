// SPDX-License-Identifier: MIT
// JSON on standard output.
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// Trees are built without looking at each call's result, so a failed allocation is noted here instead.
static atomic_bool allocation_failed;

static void *noting_malloc(size_t size)
{
    void *memory = malloc(size);
    if (!memory) {
        allocation_failed = true;
    }
    return memory;
}

void cli_json_init(void)
{
    json_set_alloc_funcs(noting_malloc, free);
}

bool cli_json_out_of_memory(void)
{
    return allocation_failed;
}

json_t *cli_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *cli_json_index(uint32_t index)
{
    return index == PELT_NONE ? json_null() : json_integer(index);
}

json_t *cli_json_box(const pelt_box *box)
{
    if (pelt_box_is_empty(box)) {
        return json_null();
    }
    json_t *value = json_object();
    json_t *low = json_array();
    json_t *high = json_array();
    for (int i = 0; i < 3; i++) {
        json_array_append_new(low, cli_json_real((double)box->min[i]));
        json_array_append_new(high, cli_json_real((double)box->max[i]));
    }
    json_object_set_new(value, "min", low);
    json_object_set_new(value, "max", high);
    return value;
}

int cli_print_json(cli_context *context, json_t *value)
{
    if (value && context->warnings) {
        json_object_set(value, "warnings", context->warnings);
    }
    if (!value || allocation_failed) {
        json_decref(value);
        return cli_fail(context, CLI_LIMIT, NULL, NULL, NULL, "out of memory while making JSON");
    }
    errno = 0;
    // Nine digits bring every float back exactly.
    int written = json_dumpf(value, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    json_decref(value);
    if (allocation_failed) {
        return cli_fail(context, CLI_LIMIT, NULL, NULL, NULL, "out of memory while printing JSON");
    }
    if (written != 0 || fputc('\n', stdout) == EOF || fflush(stdout) != 0) {
        context->stdout_failed = true;
        return cli_fail(context, CLI_IO, NULL, NULL, NULL, "cannot write to standard output: %s",
                        errno ? strerror(errno) : "unknown reason");
    }
    return CLI_DONE;
}
