// SPDX-License-Identifier: MIT
// The man page in man(7) macros, made from the option table.
#include "options.h"

#include <ctype.h>
#include <string.h>

// Escapes what roff reads as more than text; a newline starts a new paragraph.
static void put(FILE *stream, const char *text)
{
    bool line_start = true;
    for (const char *at = text; *at; at++) {
        if (*at == '\n') {
            fprintf(stream, "\n.PP\n");
            line_start = true;
            continue;
        }
        if (line_start && (*at == '.' || *at == '\'')) {
            fprintf(stream, "\\&");
        }
        line_start = false;
        if (*at == '-') {
            fprintf(stream, "\\-");
        } else if (*at == '\\') {
            fprintf(stream, "\\e");
        } else if (*at == '\'') {
            fprintf(stream, "\\(aq");
        } else if (*at == '^') {
            fprintf(stream, "\\(ha");
        } else {
            fputc(*at, stream);
        }
    }
    fputc('\n', stream);
}

static void put_option(FILE *stream, const cli_option *option, bool with_verbs)
{
    fprintf(stream, ".TP\n\\fB");
    if (option->letter != '\0') {
        fprintf(stream, "\\-%c\\fR, \\fB", option->letter);
    }
    fprintf(stream, "\\-\\-");
    for (const char *at = option->name; *at; at++) {
        fprintf(stream, *at == '-' ? "\\-" : "%c", *at);
    }
    fprintf(stream, "\\fR");
    if (option->value) {
        fprintf(stream, " \\fI%s\\fR", option->value);
    }
    fprintf(stream, "\n");
    put(stream, option->help);
    char text[160];
    cli_option_remarks(option, text, sizeof text);
    if (text[0]) {
        put(stream, text);
    }
    if (with_verbs) {
        char verbs[80];
        cli_option_verbs(option, verbs, sizeof verbs);
        fprintf(stream, "Taken by %s.\n", verbs);
    }
}

static void put_upper(FILE *stream, const char *text)
{
    for (; *text; text++) {
        fputc(toupper((unsigned char)*text), stream);
    }
}

static void put_verbs(FILE *stream)
{
    fprintf(stream, ".SH VERBS\n");
    for (size_t i = 0; i < cli_verb_count; i++) {
        const cli_verb *verb = &cli_verb_table[i];
        fprintf(stream, ".SS ");
        put_upper(stream, verb->name);
        fprintf(stream, "\n\\fBpelt %s\\fR [\\fIoptions\\fR]", verb->name);
        if (verb->operand) {
            fprintf(stream, " %s\\fI%s\\fR%s%s", verb->optional ? "[" : "", verb->operand, verb->optional ? "]" : "",
                    verb->several ? "..." : "");
        }
        for (size_t k = 0; k < cli_option_count; k++) {
            if ((cli_option_table[k].required_by & verb->bit) != 0) {
                fprintf(stream, " \\fB\\-%c\\fR \\fI%s\\fR", cli_option_table[k].letter, cli_option_table[k].value);
            }
        }
        fprintf(stream, "\n.PP\n");
        put(stream, verb->text);
        fprintf(stream, ".PP\n.nf\n");
        for (size_t k = 0; verb->examples[k]; k++) {
            fprintf(stream, "    ");
            put(stream, verb->examples[k]);
        }
        fprintf(stream, ".fi\n");
    }
}

void cli_print_man(FILE *stream)
{
    fprintf(stream, ".\\\" Made by 'pelt --man'.\n.TH PELT 1 \"\" \"pelt %s\" \"User Commands\"\n", pelt_version());
    fprintf(stream, ".SH NAME\npelt \\- skin animated glTF meshes\n");
    fprintf(stream, ".SH SYNOPSIS\n\\fBpelt\\fR \\fIverb\\fR [\\fIoptions\\fR] \\fIfile\\fR\n.br\n");
    fprintf(stream, "\\fBpelt help\\fR [\\fIverb\\fR]\n.br\n\\fBpelt \\-\\-version\\fR\n");
    fprintf(stream, ".SH DESCRIPTION\n");
    put(stream, cli_summary);
    fprintf(stream, ".PP\n");
    put(stream,
        "Data goes to standard output, all else to standard error. A file is written under a temporary name beside "
        "its target and renamed when whole; an existing file stays unless --force is given.");
    put_verbs(stream);
    fprintf(stream, ".SH OPTIONS\n");
    for (size_t i = 0; i < cli_option_count; i++) {
        put_option(stream, &cli_option_table[i], cli_option_table[i].verbs != CLI_VERB_ALL);
    }
    fprintf(stream, ".PP\n");
    put(stream,
        "A value follows its option as the next word or after an equals sign. Of an option given twice the last one "
        "counts, but every --morph does. The word -- ends the options.");
    fprintf(stream, ".SH \"EXIT STATUS\"\n");
    for (size_t i = 0; i < cli_exit_term_count; i++) {
        fprintf(stream, ".TP\n\\fB%s\\fR\n", cli_exit_terms[i].term);
        put(stream, cli_exit_terms[i].text);
    }
    fprintf(stream, ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\n");
    put(stream, "If set and not empty, messages on a terminal have no colour.");
    fprintf(stream, ".TP\n\\fBPELT_ISA\\fR\n");
    put(stream, "What --isa takes, for where that is not given.");
    fprintf(stream, ".TP\n\\fBTERM\\fR\n");
    put(stream, "If dumb, messages have no colour and there is no progress bar.");
}
