// SPDX-License-Identifier: MIT
// The pelt command: reads the command line, runs one verb, and sees to it that its output arrived.
#include "gpu.h"
#include "options.h"
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A closed standard stream would hand its number to the next file opened, and messages would end up in there.
static void reserve_standard_streams(void)
{
    for (int i = 0; i <= STDERR_FILENO; i++) {
        if (fcntl(i, F_GETFD) == -1 && errno == EBADF) {
            // Opened the wrong way round, so that using it still fails.
            if (open("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) {
                return;
            }
        }
    }
}

static bool wants_color(void)
{
    const char *none = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) == 1 && !(none && *none) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

// Makes the pool on first use, so that verbs and files that need no threads start none. Without a pool the work is done
// here; the result is the same.
static void run_parallel(void *user, uint32_t task_count, pelt_task task, void *task_context)
{
    cli_context *context = user;
    if (!context->pool && context->parallel.worker_count > 1 &&
        pelt_pool_create(context->parallel.worker_count, NULL, &context->pool) != PELT_OK) {
        context->parallel.worker_count = 1;
    }
    if (context->pool) {
        pelt_parallel pool = pelt_pool_parallel(context->pool);
        pool.run(pool.user, task_count, task, task_context);
        return;
    }
    for (uint32_t i = 0; i < task_count; i++) {
        task(task_context, i);
    }
}

static void set_up_parallel(cli_context *context)
{
    uint32_t workers = context->options.threads;
    if (workers == 0) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);
        workers = processors < 1 ? 1 : processors > 1024 ? 1024 : (uint32_t)processors;
    }
    context->parallel = (pelt_parallel){run_parallel, context, workers};
}

static int run_verb(cli_context *context, const cli_verb *verb)
{
    set_up_parallel(context);
    context->warnings = json_array();
    int code = context->warnings ? CLI_DONE : cli_fail(context, CLI_LIMIT, NULL, NULL, NULL, "out of memory");
    if (code == CLI_DONE && (verb->bit & CLI_VERBS_WORKING) != 0) {
        code = cli_select_isa(context);
    }
    code = code == CLI_DONE ? verb->run(context) : code;
    json_decref(context->warnings);
    context->warnings = NULL;
    cli_release_device(context);
    pelt_cooked_close(context->cooked);
    context->cooked = NULL;
    pelt_pool_destroy(context->pool);
    context->pool = NULL;
    return code;
}

static int run(cli_context *context, const cli_parse_result *parsed)
{
    context->verb = parsed->verb ? parsed->verb->name : NULL;
    switch (parsed->action) {
    case CLI_ACTION_HELP:
        cli_print_help(stdout, parsed->verb);
        return CLI_DONE;
    case CLI_ACTION_VERSION:
        printf("pelt %s\n", pelt_version());
        return CLI_DONE;
    case CLI_ACTION_MAN:
        cli_print_man(stdout);
        return CLI_DONE;
    case CLI_ACTION_NOTHING:
        cli_print_help(stderr, NULL);
        return CLI_USAGE;
    case CLI_ACTION_FAIL:
        return cli_fail(context, parsed->code, NULL, NULL, parsed->hint, "%s", parsed->message);
    case CLI_ACTION_RUN:
        break;
    }
    return run_verb(context, parsed->verb);
}

int main(int argument_count, char **arguments)
{
    reserve_standard_streams();
    cli_signals_init();
    cli_json_init();
    cli_context context = {.color = wants_color()};
    cli_parse_result parsed = cli_parse(argument_count, arguments, &context.options);
    int code = run(&context, &parsed);
    errno = 0;
    bool failed = fflush(stdout) != 0 || ferror(stdout) != 0;
    int error = errno;
    if (failed && !context.stdout_failed) {
        // Not as JSON: that would go where nothing can be written.
        context.options.json = false;
        int io = cli_fail(&context, CLI_IO, NULL, NULL, NULL, "cannot write to standard output: %s",
                          error ? strerror(error) : "a write failed");
        code = code == CLI_DONE || code == CLI_NEGATIVE ? io : code;
    }
    cli_options_release(&context.options);
    return code;
}
