// SPDX-License-Identifier: MIT
// Messages on standard error, with what files say made harmless for terminals.
#include "cli.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// Held over each message, so that those of several workers do not mix.
static pthread_mutex_t screen = PTHREAD_MUTEX_INITIALIZER;

void cli_screen_lock(void)
{
    pthread_mutex_lock(&screen);
}

void cli_screen_unlock(void)
{
    pthread_mutex_unlock(&screen);
}

// Length of the well-formed UTF-8 character at text and its code point; 0 where there is none. Shortest forms only,
// no surrogates: Unicode 15, table 3-7.
static size_t decode(const unsigned char *text, uint32_t *out)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = text[0] < 0x80 ? 1 : text[0] < 0xC2 ? 0 : text[0] < 0xE0 ? 2 : text[0] < 0xF0 ? 3 : 4;
    if (length == 0 || text[0] > 0xF4) {
        return 0;
    }
    uint32_t code = length == 1 ? text[0] : text[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80) {
            return 0;
        }
        code = code << 6 | (text[i] & 0x3Fu);
    }
    if (code < least[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
        return 0;
    }
    *out = code;
    return length;
}

// Control characters, line separators and marks that reorder text.
static bool is_harmful(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || (code >= 0x200E && code <= 0x200F) ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF ||
           (code >= 0xFFF9 && code <= 0xFFFB);
}

void cli_put(FILE *stream, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        uint32_t code = 0;
        size_t length = decode(at, &code);
        if (length == 0) {
            fprintf(stream, "\\x%02x", *at);
            length = 1;
        } else if (code == '\n' || code == '\t') {
            fprintf(stream, code == '\n' ? "\\n" : "\\t");
        } else if (is_harmful(code)) {
            fprintf(stream, code < 0x80 ? "\\x%02x" : "\\u%04x", code);
        } else {
            fwrite(at, 1, length, stream);
        }
        at += length;
    }
}

json_t *cli_json_text(const char *text)
{
    if (!text) {
        return json_null();
    }
    json_t *plain = json_string(text);
    if (plain) {
        return plain;
    }
    size_t capacity = strlen(text) * 3 + 1;
    char *fixed = malloc(capacity);
    if (!fixed) {
        return NULL;
    }
    size_t used = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        uint32_t code = 0;
        size_t length = decode(at, &code);
        memcpy(fixed + used, length ? (const char *)at : "\xEF\xBF\xBD", length ? length : 3);
        used += length ? length : 3;
        at += length ? length : 1;
    }
    json_t *value = json_stringn(fixed, used);
    free(fixed);
    return value;
}

static const char *color(const cli_context *context, const char *code)
{
    return context && context->color ? code : "";
}

static void heading(const cli_context *context, const char *code, const char *file, const char *where)
{
    cli_progress_hide();
    fprintf(stderr, "%spelt:%s ", color(context, code), color(context, "\033[0m"));
    if (file && *file) {
        cli_put(stderr, file);
        fputs(": ", stderr);
    }
    if (where && *where) {
        cli_put(stderr, where);
        fputs(": ", stderr);
    }
}

static const char *const exit_names[] = {"DONE",    "NEGATIVE",    "USAGE",     "IO",
                                         "INVALID", "UNSUPPORTED", "NO_DEVICE", "LIMIT"};

static json_t *failure_json(int code, const char *file, const char *where, const char *hint, const char *name,
                            const char *message)
{
    json_t *value = json_object();
    json_object_set_new(value, "schema", json_string("pelt/error/1"));
    json_object_set_new(value, "code", json_integer(code));
    json_object_set_new(value, "name", json_string(name));
    json_object_set_new(value, "file", cli_json_text(file && *file ? file : NULL));
    json_object_set_new(value, "where", cli_json_text(where && *where ? where : NULL));
    json_object_set_new(value, "message", cli_json_text(message));
    json_object_set_new(value, "hint", cli_json_text(hint && *hint ? hint : NULL));
    return value;
}

static void report(const cli_context *context, int code, const char *file, const char *where, const char *hint,
                   const char *name, const char *message)
{
    cli_screen_lock();
    heading(context, "\033[1;31m", file, where);
    cli_put(stderr, message);
    fputc('\n', stderr);
    if (hint && *hint) {
        fputs("  ", stderr);
        cli_put(stderr, hint);
        fputc('\n', stderr);
    }
    if (context && (context->options.json || context->failure)) {
        json_t *value = failure_json(code, file, where, hint, name, message);
        if (context->failure) {
            json_decref(*context->failure);
            *context->failure = value;
        } else {
            json_dumpf(value, stdout, JSON_INDENT(2));
            fputc('\n', stdout);
            json_decref(value);
        }
    }
    cli_screen_unlock();
}

// vsnprintf that leaves no part of a character at the end.
static void format_text(char *out, size_t capacity, const char *format, va_list arguments)
{
    int length = vsnprintf(out, capacity, format, arguments);
    if (length < 0) {
        out[0] = '\0';
    } else if ((size_t)length >= capacity) {
        size_t start = capacity - 1;
        while (start > 0 && ((unsigned char)out[start - 1] & 0xC0) == 0x80) {
            start--;
        }
        uint32_t code = 0;
        if (start > 0 && decode((unsigned char *)out + start - 1, &code) == 0) {
            out[start - 1] = '\0';
        }
    }
}

int cli_fail(const cli_context *context, int code, const char *file, const char *where, const char *hint,
             const char *format, ...)
{
    char message[2048];
    va_list arguments;
    va_start(arguments, format);
    format_text(message, sizeof message, format, arguments);
    va_end(arguments);
    report(context, code, file, where, hint, code >= 0 && code <= CLI_LIMIT ? exit_names[code] : "INTERNAL", message);
    return code;
}

int cli_exit_of(pelt_result result)
{
    switch (result) {
    case PELT_OK:
        return CLI_DONE;
    case PELT_ERROR_ARGUMENT:
        return CLI_USAGE;
    case PELT_ERROR_IO:
        return CLI_IO;
    case PELT_ERROR_INVALID:
        return CLI_INVALID;
    case PELT_ERROR_UNSUPPORTED:
        return CLI_UNSUPPORTED;
    case PELT_ERROR_LIMIT:
    case PELT_ERROR_MEMORY:
        return CLI_LIMIT;
    case PELT_ERROR_DEVICE:
        return CLI_NO_DEVICE;
    }
    return CLI_INVALID;
}

static const char *usual_hint(pelt_result result)
{
    switch (result) {
    case PELT_ERROR_IO:
        return "check the name, and that the file may be read";
    case PELT_ERROR_INVALID:
        return "export the file again, or repair what is named here; a glTF validator lists every fault";
    case PELT_ERROR_UNSUPPORTED:
        return "export the file without it, or convert it first";
    case PELT_ERROR_LIMIT:
        return "if the file is to be trusted, raise the limit: --max-file-size, --max-json-depth, --max-vertices, "
               "--max-joints or --max-memory";
    case PELT_ERROR_MEMORY:
        return "free memory, or split the file";
    case PELT_ERROR_DEVICE:
        return "update the driver, or choose another device; --device cpu needs none";
    case PELT_OK:
    case PELT_ERROR_ARGUMENT:
        break;
    }
    return NULL;
}

int cli_fail_result(const cli_context *context, const char *file, const pelt_error *error)
{
    int code = cli_exit_of(error->code);
    // A message that names the option says all that the usual hint would.
    bool complete = error->code == PELT_ERROR_LIMIT && strstr(error->message, "--max-") != NULL;
    const char *hint = error->hint[0] ? error->hint : complete ? NULL : usual_hint(error->code);
    report(context, code, file, error->where, hint, pelt_result_name(error->code),
           error->message[0] ? error->message : pelt_result_name(error->code));
    return code;
}

static void warn(cli_context *context, const char *file, const char *where, const char *message)
{
    if (context->warnings) {
        json_t *value = json_object();
        json_object_set_new(value, "where", cli_json_text(where && *where ? where : NULL));
        json_object_set_new(value, "message", cli_json_text(message));
        json_array_append_new(context->warnings, value);
    }
    if (!context->options.quiet) {
        cli_screen_lock();
        heading(context, "", file, where);
        fprintf(stderr, "%swarning:%s ", color(context, "\033[1;33m"), color(context, "\033[0m"));
        cli_put(stderr, message);
        fputc('\n', stderr);
        cli_screen_unlock();
    }
}

void cli_warn(cli_context *context, const char *file, const char *where, const char *format, ...)
{
    char message[2048];
    va_list arguments;
    va_start(arguments, format);
    format_text(message, sizeof message, format, arguments);
    va_end(arguments);
    warn(context, file, where, message);
}

static void log_write(void *user, pelt_log_level level, const pelt_error *message)
{
    cli_context *context = user;
    if (level == PELT_LOG_WARNING) {
        warn(context, context->options.input, message->where, message->message);
    }
}

pelt_log cli_log(cli_context *context)
{
    return (pelt_log){log_write, context};
}
