// SPDX-License-Identifier: MIT
// Reads the command line by the option table.
#include "options_internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void cli_mistake(cli_parser *p, const char *hint, const char *format, ...)
{
    if (p->result.action == CLI_ACTION_FAIL) {
        return;
    }
    p->result.action = CLI_ACTION_FAIL;
    p->result.code = CLI_USAGE;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->result.message, sizeof p->result.message, format, arguments);
    va_end(arguments);
    snprintf(p->result.hint, sizeof p->result.hint, "%s", hint);
}

void cli_out_of_memory(cli_parser *p)
{
    cli_mistake(p, "", "out of memory");
    p->result.code = CLI_LIMIT;
}

const cli_verb *cli_find_verb(const char *name)
{
    for (size_t i = 0; i < cli_verb_count; i++) {
        if (strcmp(cli_verb_table[i].name, name) == 0) {
            return &cli_verb_table[i];
        }
    }
    return NULL;
}

static const cli_option *find_long(const char *name, size_t length)
{
    for (size_t i = 0; i < cli_option_count; i++) {
        if (strlen(cli_option_table[i].name) == length && memcmp(cli_option_table[i].name, name, length) == 0) {
            return &cli_option_table[i];
        }
    }
    return NULL;
}

static const cli_option *find_letter(char letter)
{
    for (size_t i = 0; i < cli_option_count; i++) {
        if (letter != '\0' && cli_option_table[i].letter == letter) {
            return &cli_option_table[i];
        }
    }
    return NULL;
}

static void unknown_verb(cli_parser *p, const char *name)
{
    char hint[160];
    const char *best = cli_nearest_verb(name);
    if (best) {
        snprintf(hint, sizeof hint, "did you mean %s? 'pelt --help' lists the verbs", best);
    } else {
        snprintf(hint, sizeof hint, "'pelt --help' lists the verbs");
    }
    if (name[0] == '-') {
        cli_mistake(p, "the verb comes first: pelt VERB [OPTIONS] FILE; 'pelt --help' lists the verbs",
                    "option %s stands before a verb", name);
    } else {
        cli_mistake(p, hint, "unknown verb \"%s\"", name);
    }
}

static void unknown_option(cli_parser *p, const char *text, size_t length)
{
    const char *verb = p->result.verb->name;
    char hint[200];
    const char *best = length > 2 ? cli_nearest_option(text + 2, length - 2, p->result.verb->bit) : NULL;
    if (best) {
        snprintf(hint, sizeof hint, "did you mean --%s? 'pelt %s --help' lists the options", best, verb);
    } else {
        snprintf(hint, sizeof hint, "'pelt %s --help' lists the options", verb);
    }
    cli_mistake(p, hint, "unknown option %.*s", (int)(length > 200 ? 200 : length), text);
}

static void wrong_verb(cli_parser *p, const cli_option *option)
{
    char takers[80];
    cli_option_verbs(option, takers, sizeof takers);
    char hint[200];
    snprintf(hint, sizeof hint, "it belongs to %s; 'pelt %s --help' lists what %s takes", takers, p->result.verb->name,
             p->result.verb->name);
    cli_mistake(p, hint, "%s takes no option --%s", p->result.verb->name, option->name);
}

// value NULL: none was attached. The value may then be the next argument, unless that is an option itself.
static void apply(cli_parser *p, const cli_option *option, const char *value)
{
    bool taken = (option->verbs & p->result.verb->bit) != 0;
    if (!taken) {
        wrong_verb(p, option);
    }
    if (!option->value) {
        if (value) {
            cli_mistake(p, "", "--%s takes no value", option->name);
        } else if (option->type == CLI_OPTION_HELP) {
            p->help = true;
        } else if (option->type == CLI_OPTION_VERSION) {
            p->version = true;
        } else if (taken) {
            *(bool *)(void *)((char *)p->options + option->offset) = true;
        }
        return;
    }
    if (!value) {
        const char *next = p->next < p->count ? p->arguments[p->next] : NULL;
        bool is_option = next && next[0] == '-' &&
                         (next[1] == '-' ? next[2] == '\0' || find_long(next + 2, strcspn(next + 2, "=")) != NULL
                                         : next[1] != '\0' && next[2] == '\0' && find_letter(next[1]) != NULL);
        if (!next || is_option) {
            char hint[160];
            snprintf(hint, sizeof hint, "write --%s=%s", option->name, option->value);
            cli_mistake(p, hint, "--%s needs a value", option->name);
            return;
        }
        value = next;
        p->next++;
    }
    if (taken) {
        p->seen_required |= option->required_by;
        if (option->given) {
            *(bool *)(void *)((char *)p->options + option->given) = true;
        }
        cli_set_value(p, option, value);
    }
}

static void read_long(cli_parser *p, const char *text)
{
    size_t length = strcspn(text, "=");
    const cli_option *option = find_long(text + 2, length - 2);
    if (!option) {
        unknown_option(p, text, length);
        return;
    }
    apply(p, option, text[length] == '=' ? text + length + 1 : NULL);
}

static void read_letters(cli_parser *p, const char *text)
{
    for (const char *at = text + 1; *at; at++) {
        const cli_option *option = find_letter(*at);
        if (!option) {
            unknown_option(p, text, strlen(text));
            return;
        }
        if (option->value) {
            apply(p, option, at[1] ? at + 1 + (at[1] == '=') : NULL);
            return;
        }
        apply(p, option, NULL);
    }
}

static void read_operand(cli_parser *p, const char *text)
{
    if (!p->result.verb->operand) {
        char hint[160];
        snprintf(hint, sizeof hint, "for example: %s", p->result.verb->examples[0]);
        cli_mistake(p, hint, "%s takes options only, not \"%s\"", p->result.verb->name, text);
    } else if (text[0] == '\0') {
        cli_mistake(p, "", "the %s is an empty text", p->result.verb->operand);
    } else if (p->options->input && !p->result.verb->several) {
        cli_mistake(p, "one file at a time; quote names that have blanks", "one %s too many: \"%s\"",
                    p->result.verb->operand, text);
    } else {
        cli_options *o = p->options;
        const char **grown = realloc(o->inputs, ((size_t)o->input_count + 1) * sizeof *grown);
        if (!grown) {
            cli_out_of_memory(p);
            return;
        }
        o->inputs = grown;
        o->inputs[o->input_count++] = text;
        o->input = o->inputs[0];
    }
}

static void check_complete(cli_parser *p)
{
    const cli_verb *verb = p->result.verb;
    const cli_options *o = p->options;
    char hint[320];
    if (!o->input && verb->operand && !verb->optional) {
        snprintf(hint, sizeof hint, "for example: %s", verb->examples[0]);
        cli_mistake(p, hint, "%s needs a %s", verb->name, verb->operand);
    }
    for (uint32_t i = 0; verb->bit != CLI_VERB_GEN && i < o->input_count; i++) {
        if (strcmp(o->inputs[i], "-") == 0) {
            cli_mistake(p, "save it to a file first; a file of that name is ./-", "%s cannot read from standard input",
                        verb->name);
        }
    }
    for (size_t i = 0; i < cli_option_count; i++) {
        const cli_option *option = &cli_option_table[i];
        if ((option->required_by & verb->bit) != 0 && (p->seen_required & verb->bit) == 0) {
            snprintf(hint, sizeof hint, "for example: %s", verb->examples[0]);
            cli_mistake(p, hint, "%s needs --%s", verb->name, option->name);
        }
    }
    if (o->output && strcmp(o->output, "-") == 0) {
        cli_mistake(p, "give a file name; a file of that name is ./-",
                    "%s cannot write to standard output, which carries its report", verb->name);
    }
    if (verb->bit == CLI_VERB_POSE && o->time && !o->clip) {
        cli_mistake(p, "add --clip NAME, or --clip #0 for the first; without a clip the rest pose is written",
                    "--time needs --clip: the rest pose has no time");
    }
}

// "help [VERB]" and what may stand in place of a verb. True when that was all.
static bool read_first(cli_parser *p)
{
    if (p->count < 2) {
        p->result.action = CLI_ACTION_NOTHING;
        return true;
    }
    const char *first = p->arguments[1];
    bool help = strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0;
    if (help || strcmp(first, "help") == 0) {
        p->result.action = CLI_ACTION_HELP;
        const char *name = p->count > 2 ? p->arguments[2] : NULL;
        if (name && strcmp(name, "--help") != 0 && strcmp(name, "-h") != 0 && strcmp(name, "help") != 0) {
            p->result.verb = cli_find_verb(name);
            if (!p->result.verb) {
                unknown_verb(p, name);
            } else if (p->count > 3) {
                cli_mistake(p, "", "one word too many: \"%s\"", p->arguments[3]);
            }
        }
        return true;
    }
    if (strcmp(first, "--version") == 0 || strcmp(first, "--man") == 0) {
        p->result.action = first[2] == 'v' ? CLI_ACTION_VERSION : CLI_ACTION_MAN;
        if (p->count > 2) {
            cli_mistake(p, "", "%s stands alone", first);
        }
        return true;
    }
    p->result.verb = cli_find_verb(first);
    if (!p->result.verb) {
        for (int i = 1; i < p->count; i++) {
            p->options->json = p->options->json || strcmp(p->arguments[i], "--json") == 0;
        }
        unknown_verb(p, first);
        return true;
    }
    return false;
}

cli_parse_result cli_parse(int argument_count, char **arguments, cli_options *options)
{
    cli_parser p = {.options = options, .count = argument_count, .arguments = arguments, .next = 2};
    if (read_first(&p)) {
        return p.result;
    }
    bool options_over = false;
    while (p.next < p.count) {
        const char *text = p.arguments[p.next++];
        if (options_over || text[0] != '-' || text[1] == '\0') {
            read_operand(&p, text);
        } else if (strcmp(text, "--") == 0) {
            options_over = true;
        } else if (text[1] == '-') {
            read_long(&p, text);
        } else {
            read_letters(&p, text);
        }
    }
    if (p.result.action == CLI_ACTION_RUN && p.help) {
        p.result.action = CLI_ACTION_HELP;
    } else if (p.result.action == CLI_ACTION_RUN && p.version) {
        p.result.action = CLI_ACTION_VERSION;
    } else {
        check_complete(&p);
    }
    return p.result;
}

void cli_options_release(cli_options *options)
{
    for (uint32_t i = 0; i < options->morph_count; i++) {
        free((void *)(uintptr_t)options->morphs[i].name);
    }
    free(options->morphs);
    free(options->inputs);
    options->inputs = NULL;
    options->input_count = 0;
    options->morphs = NULL;
    options->morph_count = 0;
}
