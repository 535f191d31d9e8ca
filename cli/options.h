// SPDX-License-Identifier: MIT
// The option and verb tables, from which parsing, help texts and the man page are made.
#ifndef PELT_CLI_OPTIONS_H
#define PELT_CLI_OPTIONS_H

#include "cli.h"

enum {
    CLI_VERB_INSPECT = 1,
    CLI_VERB_POSE = 2,
    CLI_VERB_BOUNDS = 4,
    CLI_VERB_GEN = 8,
    CLI_VERB_COOK = 16,
    CLI_VERB_DEVICES = 32,
    CLI_VERB_VERIFY = 64,
    CLI_VERB_BENCH = 128,
    CLI_VERB_ALL = 255,
    CLI_VERBS_WORKING = CLI_VERB_POSE | CLI_VERB_BOUNDS | CLI_VERB_COOK | CLI_VERB_VERIFY | CLI_VERB_BENCH // that skin
};

typedef enum cli_option_type {
    CLI_OPTION_FLAG = 0, // bool
    CLI_OPTION_TEXT,     // const char *
    CLI_OPTION_CHOICE,   // const char *, one of choices
    CLI_OPTION_COUNT32,  // uint32_t; suffixes K, M, G where the table says so
    CLI_OPTION_COUNT64,  // uint64_t; the same
    CLI_OPTION_REAL,     // double
    CLI_OPTION_MORPH,    // appended to cli_options.morphs
    CLI_OPTION_RANGE,    // double[2]: MIN:MAX
    CLI_OPTION_SHARD,    // uint32_t[2]: I/N
    CLI_OPTION_HELP,
    CLI_OPTION_VERSION
} cli_option_type;

typedef struct cli_option {
    const char *name;  // long name without dashes
    char letter;       // 0 = none
    const char *value; // value name; NULL = takes none
    cli_option_type type;
    size_t offset; // in cli_options
    size_t given;  // of a bool there that is set with it, where no value can say "not given"; 0 = none
    uint32_t verbs;
    uint32_t required_by; // verbs that cannot go without
    double min;           // of numbers, inclusive
    double max;
    bool suffixes;        // K, M and G are powers of 1024
    const char *choices;  // "a|b"
    const char *fallback; // the default, in words; NULL = nothing to say
    const char *help;
} cli_option;

typedef struct cli_verb {
    const char *name;
    uint32_t bit;
    cli_run run;
    const char *operand; // NULL: takes none
    bool optional;       // can do without
    bool several;        // takes more than one operand
    const char *summary;
    const char *text;        // paragraphs, one a line
    const char *examples[5]; // up to the first NULL
} cli_verb;

// A term with its meaning, for sections of the help text and of the man page.
typedef struct cli_term {
    const char *term;
    const char *text;
} cli_term;

extern const cli_option cli_option_table[];
extern const size_t cli_option_count;
extern const cli_verb cli_verb_table[];
extern const size_t cli_verb_count;
extern const cli_term cli_exit_terms[];
extern const size_t cli_exit_term_count;
extern const char cli_summary[];

typedef enum cli_action {
    CLI_ACTION_RUN = 0,
    CLI_ACTION_HELP, // of verb, or of the whole command where it is NULL
    CLI_ACTION_VERSION,
    CLI_ACTION_MAN,
    CLI_ACTION_NOTHING, // no arguments at all
    CLI_ACTION_FAIL     // message and hint are set
} cli_action;

typedef struct cli_parse_result {
    cli_action action;
    const cli_verb *verb;
    int code; // of CLI_ACTION_FAIL
    char message[640];
    char hint[320];
} cli_parse_result;

// Reads the command line into options. Only the first mistake is kept, but reading goes on, so that options.json is
// right in every case.
cli_parse_result cli_parse(int argument_count, char **arguments, cli_options *options);
void cli_options_release(cli_options *options);

const cli_verb *cli_find_verb(const char *name);

// suggest.c: the verb, or the option of that verb, that the text is at most a few slips away from; NULL if none is.
const char *cli_nearest_verb(const char *name);
const char *cli_nearest_option(const char *text, size_t length, uint32_t verb);

// help.c and man.c; they print to stream.
void cli_print_help(FILE *stream, const cli_verb *verb);
void cli_print_man(FILE *stream);
// "-o, --output FILE" without padding; returns its length.
int cli_option_heading(const cli_option *option, char *out, size_t capacity);
// Names of the verbs that take it: "pose, bounds".
void cli_option_verbs(const cli_option *option, char *out, size_t capacity);
// Default and range of an option as one text in brackets, "" if there is nothing to say.
void cli_option_remarks(const cli_option *option, char *out, size_t capacity);
#endif
