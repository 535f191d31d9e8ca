// SPDX-License-Identifier: MIT
// Reads the command line by the option table.
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct parser {
    cli_parse_result result;
    cli_options *options;
    int count;
    char **arguments;
    int next; // index of the argument to read
    bool help;
    bool version;
    uint32_t seen_required; // verbs whose required option was given
} parser;

__attribute__((format(printf, 3, 4))) static void mistake(parser *p, const char *hint, const char *format, ...)
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

static void unknown_verb(parser *p, const char *name)
{
    char hint[160];
    const char *best = cli_nearest_verb(name);
    if (best) {
        snprintf(hint, sizeof hint, "did you mean %s? 'pelt --help' lists the verbs", best);
    } else {
        snprintf(hint, sizeof hint, "'pelt --help' lists the verbs");
    }
    if (name[0] == '-') {
        mistake(p, "the verb comes first: pelt VERB [OPTIONS] FILE; 'pelt --help' lists the verbs",
                "option %s stands before a verb", name);
    } else {
        mistake(p, hint, "unknown verb \"%s\"", name);
    }
}

static void unknown_option(parser *p, const char *text, size_t length)
{
    const char *verb = p->result.verb->name;
    char hint[200];
    const char *best = length > 2 ? cli_nearest_option(text + 2, length - 2, p->result.verb->bit) : NULL;
    if (best) {
        snprintf(hint, sizeof hint, "did you mean --%s? 'pelt %s --help' lists the options", best, verb);
    } else {
        snprintf(hint, sizeof hint, "'pelt %s --help' lists the options", verb);
    }
    mistake(p, hint, "unknown option %.*s", (int)(length > 200 ? 200 : length), text);
}

static void wrong_verb(parser *p, const cli_option *option)
{
    char takers[80];
    cli_option_verbs(option, takers, sizeof takers);
    char hint[200];
    snprintf(hint, sizeof hint, "it belongs to %s; 'pelt %s --help' lists what %s takes", takers, p->result.verb->name,
             p->result.verb->name);
    mistake(p, hint, "%s takes no option --%s", p->result.verb->name, option->name);
}

static void out_of_range(parser *p, const cli_option *option, const char *text)
{
    char low[32];
    char high[32];
    char hint[200] = "";
    if (option->suffixes) {
        snprintf(hint, sizeof hint, "K, M and G after the number multiply it by 1024, 1024^2 and 1024^3");
    }
    if (option->type == CLI_OPTION_REAL) {
        mistake(p, hint, "--%s takes a number from %g to %g, not \"%s\"", option->name, option->min, option->max, text);
    } else {
        mistake(p, hint, "--%s takes a whole number from %s to %s, not \"%s\"", option->name,
                cli_grouped((uint64_t)option->min, low), cli_grouped((uint64_t)option->max, high), text);
    }
}

static bool is_choice(const char *choices, const char *text)
{
    size_t length = strlen(text);
    for (const char *at = choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
        if (length == strcspn(at, "|") && memcmp(at, text, length) == 0) {
            return true;
        }
    }
    return false;
}

static void out_of_memory(parser *p)
{
    mistake(p, "", "out of memory");
    p->result.code = CLI_LIMIT;
}

static void add_morph(parser *p, const char *text)
{
    // The last '=' divides, so that a name may hold one.
    const char *equals = strrchr(text, '=');
    double value = 0;
    if (!equals || equals == text || !cli_read_real(equals + 1, &value) || !isfinite((float)value)) {
        mistake(p, "write --morph smile=0.8", "--morph takes NAME=V with a number V, not \"%s\"", text);
        return;
    }
    cli_options *o = p->options;
    cli_morph_setting *grown = realloc(o->morphs, (o->morph_count + 1) * sizeof *grown);
    char *name = malloc((size_t)(equals - text) + 1);
    if (grown) {
        o->morphs = grown;
    }
    if (!grown || !name) {
        free(name);
        out_of_memory(p);
        return;
    }
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = '\0';
    o->morphs[o->morph_count++] = (cli_morph_setting){name, (float)value};
}

static void set_number(parser *p, const cli_option *option, const char *text)
{
    char *field = (char *)p->options + option->offset;
    if (option->type == CLI_OPTION_REAL) {
        double value = 0;
        if (!cli_read_real(text, &value) || value < option->min || value > option->max) {
            out_of_range(p, option, text);
            return;
        }
        memcpy(field, &value, sizeof value);
        return;
    }
    uint64_t value = 0;
    if (!cli_read_count(text, option->suffixes, &value) || value < (uint64_t)option->min ||
        value > (uint64_t)option->max) {
        out_of_range(p, option, text);
        return;
    }
    if (option->type == CLI_OPTION_COUNT32) {
        uint32_t narrow = (uint32_t)value;
        memcpy(field, &narrow, sizeof narrow);
    } else {
        memcpy(field, &value, sizeof value);
    }
}

// "MIN:MAX"
static void set_range(parser *p, const cli_option *option, const char *text)
{
    double range[2] = {0, 0};
    char low[64];
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : sizeof low;
    bool fine = length < sizeof low;
    if (fine) {
        memcpy(low, text, length);
        low[length] = '\0';
        fine = cli_read_real(low, &range[0]) && cli_read_real(colon + 1, &range[1]);
    }
    if (!fine || range[0] < option->min || range[1] > option->max || !(range[0] < range[1])) {
        mistake(p, "write --morph-range -1:1", "--%s takes MIN:MAX, two numbers from %g to %g that rise, not \"%s\"",
                option->name, option->min, option->max, text);
        return;
    }
    memcpy((char *)p->options + option->offset, range, sizeof range);
}

// "I/N"
static void set_shard(parser *p, const cli_option *option, const char *text)
{
    char first[16];
    uint64_t index = 0;
    uint64_t count = 0;
    size_t length = strcspn(text, "/");
    bool fine = text[length] == '/' && length < sizeof first;
    if (fine) {
        memcpy(first, text, length);
        first[length] = '\0';
        fine = cli_read_count(first, false, &index) && cli_read_count(text + length + 1, false, &count);
    }
    if (!fine || index < 1 || index > count || (double)count > option->max) {
        char most[32];
        mistake(p, "write --shard 1/4 for the first of four",
                "--%s takes I/N, I from 1 to N and N up to %s, not \"%s\"", option->name,
                cli_grouped((uint64_t)option->max, most), text);
        return;
    }
    uint32_t shard[2] = {(uint32_t)index, (uint32_t)count};
    memcpy((char *)p->options + option->offset, shard, sizeof shard);
}

static void set_value(parser *p, const cli_option *option, const char *text)
{
    char *field = (char *)p->options + option->offset;
    switch (option->type) {
    case CLI_OPTION_CHOICE:
        if (!is_choice(option->choices, text)) {
            mistake(p, "", "--%s takes one of %s, not \"%s\"", option->name, option->choices, text);
            return;
        }
        break;
    case CLI_OPTION_TEXT:
        if (text[0] == '\0') {
            mistake(p, "", "--%s is empty", option->name);
            return;
        }
        break;
    case CLI_OPTION_MORPH:
        add_morph(p, text);
        return;
    case CLI_OPTION_RANGE:
        set_range(p, option, text);
        return;
    case CLI_OPTION_SHARD:
        set_shard(p, option, text);
        return;
    default:
        set_number(p, option, text);
        return;
    }
    memcpy(field, &text, sizeof text);
}

// value NULL: none was attached. The value may then be the next argument, unless that is an option itself.
static void apply(parser *p, const cli_option *option, const char *value)
{
    bool taken = (option->verbs & p->result.verb->bit) != 0;
    if (!taken) {
        wrong_verb(p, option);
    }
    if (!option->value) {
        if (value) {
            mistake(p, "", "--%s takes no value", option->name);
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
            mistake(p, hint, "--%s needs a value", option->name);
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
        set_value(p, option, value);
    }
}

static void read_long(parser *p, const char *text)
{
    size_t length = strcspn(text, "=");
    const cli_option *option = find_long(text + 2, length - 2);
    if (!option) {
        unknown_option(p, text, length);
        return;
    }
    apply(p, option, text[length] == '=' ? text + length + 1 : NULL);
}

static void read_letters(parser *p, const char *text)
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

static void read_operand(parser *p, const char *text)
{
    if (!p->result.verb->operand) {
        char hint[160];
        snprintf(hint, sizeof hint, "for example: %s", p->result.verb->examples[0]);
        mistake(p, hint, "%s takes options only, not \"%s\"", p->result.verb->name, text);
    } else if (text[0] == '\0') {
        mistake(p, "", "the %s is an empty text", p->result.verb->operand);
    } else if (p->options->input && !p->result.verb->several) {
        mistake(p, "one file at a time; quote names that have blanks", "one %s too many: \"%s\"",
                p->result.verb->operand, text);
    } else {
        cli_options *o = p->options;
        const char **grown = realloc(o->inputs, ((size_t)o->input_count + 1) * sizeof *grown);
        if (!grown) {
            out_of_memory(p);
            return;
        }
        o->inputs = grown;
        o->inputs[o->input_count++] = text;
        o->input = o->inputs[0];
    }
}

static void check_complete(parser *p)
{
    const cli_verb *verb = p->result.verb;
    const cli_options *o = p->options;
    char hint[320];
    if (!o->input && verb->operand && !verb->optional) {
        snprintf(hint, sizeof hint, "for example: %s", verb->examples[0]);
        mistake(p, hint, "%s needs a %s", verb->name, verb->operand);
    }
    for (uint32_t i = 0; verb->bit != CLI_VERB_GEN && i < o->input_count; i++) {
        if (strcmp(o->inputs[i], "-") == 0) {
            mistake(p, "save it to a file first; a file of that name is ./-", "%s cannot read from standard input",
                    verb->name);
        }
    }
    for (size_t i = 0; i < cli_option_count; i++) {
        const cli_option *option = &cli_option_table[i];
        if ((option->required_by & verb->bit) != 0 && (p->seen_required & verb->bit) == 0) {
            snprintf(hint, sizeof hint, "for example: %s", verb->examples[0]);
            mistake(p, hint, "%s needs --%s", verb->name, option->name);
        }
    }
    if (o->output && strcmp(o->output, "-") == 0) {
        mistake(p, "give a file name; a file of that name is ./-",
                "%s cannot write to standard output, which carries its report", verb->name);
    }
    if (verb->bit == CLI_VERB_POSE && o->time && !o->clip) {
        mistake(p, "add --clip NAME, or --clip #0 for the first; without a clip the rest pose is written",
                "--time needs --clip: the rest pose has no time");
    }
}

// "help [VERB]" and what may stand in place of a verb. True when that was all.
static bool read_first(parser *p)
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
                mistake(p, "", "one word too many: \"%s\"", p->arguments[3]);
            }
        }
        return true;
    }
    if (strcmp(first, "--version") == 0 || strcmp(first, "--man") == 0) {
        p->result.action = first[2] == 'v' ? CLI_ACTION_VERSION : CLI_ACTION_MAN;
        if (p->count > 2) {
            mistake(p, "", "%s stands alone", first);
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
    parser p = {.options = options, .count = argument_count, .arguments = arguments, .next = 2};
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
