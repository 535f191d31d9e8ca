// SPDX-License-Identifier: MIT
// Values of options: read as their type in the option table says, checked against its range, and set.
#include "options_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void out_of_range(cli_parser *p, const cli_option *option, const char *text)
{
    char low[32];
    char high[32];
    char hint[200] = "";
    if (option->suffixes) {
        snprintf(hint, sizeof hint, "K, M and G after the number multiply it by 1024, 1024^2 and 1024^3");
    }
    if (option->type == CLI_OPTION_REAL) {
        cli_mistake(p, hint, "--%s takes a number from %g to %g, not \"%s\"", option->name, option->min, option->max,
                    text);
    } else {
        cli_mistake(p, hint, "--%s takes a whole number from %s to %s, not \"%s\"", option->name,
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

static void add_morph(cli_parser *p, const char *text)
{
    // The last '=' divides, so that a name may hold one.
    const char *equals = strrchr(text, '=');
    double value = 0;
    if (!equals || equals == text || !cli_read_real(equals + 1, &value) || !isfinite((float)value)) {
        cli_mistake(p, "write --morph smile=0.8", "--morph takes NAME=V with a number V, not \"%s\"", text);
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
        cli_out_of_memory(p);
        return;
    }
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = '\0';
    o->morphs[o->morph_count++] = (cli_morph_setting){name, (float)value};
}

static void set_number(cli_parser *p, const cli_option *option, const char *text)
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
static void set_range(cli_parser *p, const cli_option *option, const char *text)
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
        cli_mistake(p, "write --morph-range -1:1",
                    "--%s takes MIN:MAX, two numbers from %g to %g that rise, not \"%s\"", option->name, option->min,
                    option->max, text);
        return;
    }
    memcpy((char *)p->options + option->offset, range, sizeof range);
}

// "I/N"
static void set_shard(cli_parser *p, const cli_option *option, const char *text)
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
        cli_mistake(p, "write --shard 1/4 for the first of four",
                    "--%s takes I/N, I from 1 to N and N up to %s, not \"%s\"", option->name,
                    cli_grouped((uint64_t)option->max, most), text);
        return;
    }
    uint32_t shard[2] = {(uint32_t)index, (uint32_t)count};
    memcpy((char *)p->options + option->offset, shard, sizeof shard);
}

void cli_set_value(cli_parser *p, const cli_option *option, const char *text)
{
    char *field = (char *)p->options + option->offset;
    switch (option->type) {
    case CLI_OPTION_CHOICE:
        if (!is_choice(option->choices, text)) {
            cli_mistake(p, "", "--%s takes one of %s, not \"%s\"", option->name, option->choices, text);
            return;
        }
        break;
    case CLI_OPTION_TEXT:
        if (text[0] == '\0') {
            cli_mistake(p, "", "--%s is empty", option->name);
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
