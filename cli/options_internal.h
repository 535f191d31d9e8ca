// SPDX-License-Identifier: MIT
// Inside the reading of the command line: its state, mistakes, and the values of options.
#ifndef PELT_CLI_OPTIONS_INTERNAL_H
#define PELT_CLI_OPTIONS_INTERNAL_H

#include "options.h"

typedef struct cli_parser {
    cli_parse_result result;
    cli_options *options;
    int count;
    char **arguments;
    int next; // index of the argument to read
    bool help;
    bool version;
    uint32_t seen_required; // verbs whose required option was given
} cli_parser;

// The first one is kept.
__attribute__((format(printf, 3, 4))) void cli_mistake(cli_parser *p, const char *hint, const char *format, ...);
void cli_out_of_memory(cli_parser *p);

// option_value.c: reads the text as the option's type says, into its field.
void cli_set_value(cli_parser *p, const cli_option *option, const char *text);

#endif
