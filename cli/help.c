// SPDX-License-Identifier: MIT
// Help texts, made from the option table.
#include "options.h"

#include <string.h>

enum {
    WIDTH = 80
};

int cli_option_heading(const cli_option *option, char *out, size_t capacity)
{
    char letter[8] = "";
    if (option->letter != '\0') {
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    }
    return snprintf(out, capacity, "%s--%s%s%s", letter, option->name, option->value ? " " : "",
                    option->value ? option->value : "");
}

void cli_option_verbs(const cli_option *option, char *out, size_t capacity)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < cli_verb_count && used < capacity; i++) {
        if ((option->verbs & cli_verb_table[i].bit) != 0) {
            used += (size_t)snprintf(out + used, capacity - used, "%s%s", used ? ", " : "", cli_verb_table[i].name);
        }
    }
}

void cli_option_remarks(const cli_option *option, char *out, size_t capacity)
{
    char range[96] = "";
    char low[32];
    char high[32];
    bool whole = option->type == CLI_OPTION_COUNT32 || option->type == CLI_OPTION_COUNT64;
    if (whole && option->max < 9e18) {
        snprintf(range, sizeof range, "%s to %s", cli_grouped((uint64_t)option->min, low),
                 cli_grouped((uint64_t)option->max, high));
    } else if (option->type == CLI_OPTION_REAL) {
        snprintf(range, sizeof range, "%g to %g", option->min, option->max);
    }
    out[0] = '\0';
    if (option->fallback || range[0]) {
        snprintf(out, capacity, "[%s%s%s%s]", range, range[0] && option->fallback ? "; " : "",
                 option->fallback ? "default: " : "", option->fallback ? option->fallback : "");
    }
}

// Prints words of text between column indent and the right edge; column is where the cursor stands.
static void wrap(FILE *stream, const char *text, size_t indent, size_t *column)
{
    while (*text) {
        if (*text == '\n') {
            fprintf(stream, "\n");
            *column = 0;
            text++;
            continue;
        }
        size_t length = strcspn(text, " \n");
        if (*column > indent && *column + 1 + length > WIDTH) {
            fprintf(stream, "\n");
            *column = 0;
        }
        if (*column < indent) {
            fprintf(stream, "%*s", (int)(indent - *column), "");
            *column = indent;
        } else if (*column > indent) {
            fprintf(stream, " ");
            (*column)++;
        }
        fprintf(stream, "%.*s", (int)length, text);
        *column += length;
        text += length;
        text += strspn(text, " ");
    }
}

static void entry(FILE *stream, const char *heading, size_t indent, const char *text, const char *remarks)
{
    int length = fprintf(stream, "  %s", heading);
    size_t column = length < 0 ? 0 : (size_t)length;
    if (column + 2 > indent) {
        fprintf(stream, "\n");
        column = 0;
    }
    wrap(stream, text, indent, &column);
    wrap(stream, remarks, indent, &column);
    fprintf(stream, "\n");
}

static void print_option(FILE *stream, const cli_option *option)
{
    char heading[64];
    char padded[80];
    char remarks[160];
    cli_option_heading(option, heading, sizeof heading);
    cli_option_remarks(option, remarks, sizeof remarks);
    snprintf(padded, sizeof padded, "%s%s", option->letter != '\0' ? "" : "    ", heading);
    entry(stream, padded, 30, option->help, remarks);
}

static void print_verb_help(FILE *stream, const cli_verb *verb)
{
    fprintf(stream, "Usage: pelt %s [OPTIONS]%s%s%s%s%s", verb->name, verb->operand ? " " : "",
            verb->optional ? "[" : "", verb->operand ? verb->operand : "", verb->optional ? "]" : "",
            verb->several ? "..." : "");
    for (size_t i = 0; i < cli_option_count; i++) {
        const cli_option *option = &cli_option_table[i];
        if ((option->required_by & verb->bit) != 0) {
            fprintf(stream, " -%c %s", option->letter, option->value);
        }
    }
    fprintf(stream, "\n\n");
    size_t column = 0;
    wrap(stream, verb->text, 0, &column);
    fprintf(stream, "\n\nOptions:\n");
    for (size_t i = 0; i < cli_option_count; i++) {
        if ((cli_option_table[i].verbs & verb->bit) != 0) {
            print_option(stream, &cli_option_table[i]);
        }
    }
    fprintf(stream, "\nExamples:\n");
    for (size_t i = 0; verb->examples[i]; i++) {
        fprintf(stream, "  %s\n", verb->examples[i]);
    }
}

static void print_command_help(FILE *stream)
{
    fprintf(stream, "Usage: pelt VERB [OPTIONS] FILE\n\n");
    size_t column = 0;
    wrap(stream, cli_summary, 0, &column);
    fprintf(stream, "\n\nVerbs:\n");
    for (size_t i = 0; i < cli_verb_count; i++) {
        entry(stream, cli_verb_table[i].name, 14, cli_verb_table[i].summary, "");
    }
    entry(stream, "help", 14, "print help, of one verb: pelt help pose", "");
    fprintf(stream, "\nOptions of every verb:\n");
    for (size_t i = 0; i < cli_option_count; i++) {
        if (cli_option_table[i].verbs == CLI_VERB_ALL) {
            print_option(stream, &cli_option_table[i]);
        }
    }
    fprintf(stream, "\nOptions of some verbs ('pelt VERB --help' explains them):\n");
    for (size_t i = 0; i < cli_option_count; i++) {
        const cli_option *option = &cli_option_table[i];
        if (option->verbs == CLI_VERB_ALL) {
            continue;
        }
        char heading[64];
        char padded[80];
        char verbs[80];
        cli_option_heading(option, heading, sizeof heading);
        snprintf(padded, sizeof padded, "%s%s", option->letter != '\0' ? "" : "    ", heading);
        cli_option_verbs(option, verbs, sizeof verbs);
        entry(stream, padded, 30, verbs, "");
    }
    fprintf(stream, "\nExit codes:\n");
    for (size_t i = 0; i < cli_exit_term_count; i++) {
        entry(stream, cli_exit_terms[i].term, 6, cli_exit_terms[i].text, "");
    }
    fprintf(stream, "\nExamples:\n");
    for (size_t i = 0; i < cli_verb_count; i++) {
        fprintf(stream, "  %s\n", cli_verb_table[i].examples[0]);
    }
}

void cli_print_help(FILE *stream, const cli_verb *verb)
{
    if (verb) {
        print_verb_help(stream, verb);
    } else {
        print_command_help(stream);
    }
}
