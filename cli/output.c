// SPDX-License-Identifier: MIT
// Output files, written under a temporary name beside the target and renamed when whole.
#define _XOPEN_SOURCE 700 // realpath
#include "cli.h"
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char force_hint[] = "add --force to replace it, or give another name";

static int fail_errno(const cli_context *context, const char *path, int error)
{
    const char *hint = NULL;
    if (error == ENOENT || error == ENOTDIR) {
        hint = "make the folder first, or give another one";
    } else if (error == EACCES || error == EPERM || error == EROFS) {
        hint = "write to a folder that you may change";
    } else if (error == ENOSPC || error == EDQUOT) {
        hint = "free some space, or write to another disk";
    }
    return cli_fail(context, error == ENOMEM ? CLI_LIMIT : CLI_IO, path, NULL, hint, "cannot write: %s",
                    strerror(error));
}

// What stands at path may be replaced, as far as its contents go.
static bool may_replace(const cli_context *context, const char *path)
{
    return context->options.force || (context->replace_cooked && cli_is_cooked(path));
}

// Refuses what cannot be replaced by a rename, devices above all: renaming over /dev/null would destroy it.
static int check_target(cli_context *context, const char *path)
{
    struct stat info;
    size_t length = strlen(path);
    bool exists = lstat(path, &info) == 0;
    if (exists && S_ISLNK(info.st_mode)) {
        struct stat target;
        if (stat(path, &target) == 0) {
            info = target;
        }
    }
    if (length > 0 && path[length - 1] == '/' && !(exists && S_ISDIR(info.st_mode))) {
        return cli_fail(context, CLI_IO, path, NULL, "give a file name", "cannot write: the name ends in a slash");
    }
    if (!exists) {
        return CLI_DONE;
    }
    if (S_ISDIR(info.st_mode)) {
        return cli_fail(context, CLI_IO, path, NULL, "give a file name in it", "cannot write: this is a folder");
    }
    if (!S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode)) {
        return cli_fail(context, CLI_IO, path, NULL, "give the name of a plain file",
                        "cannot write: this is a device, a pipe or a socket");
    }
    if (!may_replace(context, path)) {
        return cli_fail(context, CLI_IO, path, NULL, force_hint, "the file exists already");
    }
    return CLI_DONE;
}

// The file that a rename is to replace: where path is a link to a file, that file, so that the link stays.
static char *resolve(const char *path)
{
    struct stat info;
    if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode)) {
        char *target = realpath(path, NULL);
        if (target) {
            return target;
        }
    }
    return strdup(path);
}

static uint64_t mix(uint64_t x)
{
    // The finaliser of splitmix64, by S. Vigna.
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

// Opens a new file in path's folder. Its name does not grow with the target's, which may be as long as names can be.
static int open_temporary(cli_output *out)
{
    enum {
        SUFFIX = 40,
        TRIES = 64
    };
    const char *slash = strrchr(out->path, '/');
    size_t folder = slash ? (size_t)(slash - out->path) + 1 : 0;
    out->temporary = malloc(folder + SUFFIX);
    if (!out->temporary) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(out->temporary, out->path, folder);
    struct timespec t = {0};
    clock_gettime(CLOCK_REALTIME, &t);
    uint64_t seed = mix((uint64_t)t.tv_nsec ^ (uint64_t)t.tv_sec << 30) ^ mix((uint64_t)getpid());
    for (int i = 0; i < TRIES; i++) {
        seed = mix(seed);
        snprintf(out->temporary + folder, SUFFIX, ".pelt-%016llx.tmp", (unsigned long long)seed);
        int descriptor = cli_signals_create(out->temporary, &out->slot);
        if (descriptor >= 0 || errno != EEXIST) {
            return descriptor;
        }
    }
    return -1;
}

int cli_output_open(cli_context *context, const char *path, cli_output *out)
{
    *out = (cli_output){.context = context, .slot = -1};
    int code = check_target(context, path);
    if (code != CLI_DONE) {
        return code;
    }
    out->path = resolve(path);
    if (!out->path) {
        return cli_fail(context, CLI_LIMIT, path, NULL, NULL, "out of memory");
    }
    int descriptor = open_temporary(out);
    out->file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (!out->file) {
        int error = errno;
        if (descriptor >= 0) {
            close(descriptor);
            unlink(out->temporary);
        }
        cli_signals_remove(out->slot);
        free(out->temporary);
        free(out->path);
        *out = (cli_output){.context = context, .slot = -1};
        return fail_errno(context, path, error);
    }
    return CLI_DONE;
}

bool cli_output_write(void *output, const void *data, size_t size)
{
    cli_output *out = output;
    if (out->failed || !out->file) {
        return false;
    }
    if (size > 0 && fwrite(data, 1, size, out->file) != size) {
        out->error = errno;
        out->failed = true;
    }
    return !out->failed;
}

// Gives the finished file its name; 0 or an errno. What may not be replaced must not stand there, also against someone
// who takes the name at this moment, so a link is made, which fails where rename would replace.
static int publish(cli_output *out)
{
    if (!out->context->options.force && link(out->temporary, out->path) == 0) {
        unlink(out->temporary);
        return 0;
    }
    int link_error = errno;
    if (may_replace(out->context, out->path)) {
        return rename(out->temporary, out->path) == 0 ? 0 : errno;
    }
    errno = link_error;
    if (errno == EEXIST || errno == ENOSPC || errno == EDQUOT || errno == EROFS) {
        return errno;
    }
    // A file system without hard links: take the name with an empty file of our own, then replace that.
    int descriptor = open(out->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        return errno;
    }
    close(descriptor);
    if (rename(out->temporary, out->path) != 0) {
        int error = errno;
        unlink(out->path);
        return error;
    }
    return 0;
}

bool cli_output_finish(cli_output *out)
{
    if (out->file && fclose(out->file) != 0 && !out->failed) {
        out->failed = true;
        out->error = errno;
    }
    out->file = NULL;
    return !out->failed;
}

int cli_output_commit(cli_output *out)
{
    if (!out->temporary) {
        return cli_fail(out->context, CLI_IO, out->path, NULL, NULL, "cannot write: no file is open");
    }
    if (cli_output_finish(out)) {
        out->error = publish(out);
        out->failed = out->error != 0;
    }
    int code = CLI_DONE;
    if (out->failed && out->error == EEXIST) {
        code = cli_fail(out->context, CLI_IO, out->path, NULL, force_hint, "the file exists already");
    } else if (out->failed) {
        code = fail_errno(out->context, out->path, out->error);
    }
    if (!out->failed) {
        cli_signals_remove(out->slot);
        out->slot = -1;
        free(out->temporary);
        out->temporary = NULL;
    }
    cli_output_abort(out);
    return code;
}

void cli_output_abort(cli_output *out)
{
    if (out->file) {
        fclose(out->file);
    }
    if (out->temporary) {
        unlink(out->temporary);
        cli_signals_remove(out->slot);
    }
    free(out->temporary);
    free(out->path);
    *out = (cli_output){.context = out->context, .slot = -1};
}
