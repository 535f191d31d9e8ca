// SPDX-License-Identifier: MIT
// Finds the verb or option that a mistyped word was meant to be. Optimal string alignment distance: R. Lowrance and
// R. Wagner, "An Extension of the String-to-String Correction Problem", 1975, restricted to one swap per place.
#include "options.h"

#include <string.h>

// More than any limit below where a word is too long.
static unsigned distance(const char *a, size_t a_length, const char *b)
{
    enum {
        LONGEST = 40
    };
    size_t b_length = strlen(b);
    if (a_length > LONGEST || b_length > LONGEST) {
        return LONGEST + 1;
    }
    unsigned rows[3][LONGEST + 1];
    for (size_t j = 0; j <= b_length; j++) {
        rows[0][j] = (unsigned)j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *above = rows[(i + 2) % 3];
        const unsigned *second = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            unsigned best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = above[j] + 1 < best ? above[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && second[j - 2] + 1 < best) {
                best = second[j - 2] + 1;
            }
            row[j] = best;
        }
    }
    return rows[a_length % 3][b_length];
}

// Lower is nearer; a name that the text begins is as near as one slip.
static unsigned nearness(const char *text, size_t length, const char *name)
{
    if (length >= 3 && strncmp(name, text, length) == 0) {
        return 1;
    }
    return distance(text, length, name);
}

const char *cli_nearest_option(const char *text, size_t length, uint32_t verb)
{
    const char *best = NULL;
    unsigned least = length < 4 ? 2 : 3;
    for (size_t i = 0; i < cli_option_count; i++) {
        unsigned d = nearness(text, length, cli_option_table[i].name);
        if (d < least && (cli_option_table[i].verbs & verb) != 0) {
            least = d;
            best = cli_option_table[i].name;
        }
    }
    return best;
}

const char *cli_nearest_verb(const char *name)
{
    const char *best = NULL;
    unsigned least = 3;
    for (size_t i = 0; i < cli_verb_count; i++) {
        unsigned d = nearness(name, strlen(name), cli_verb_table[i].name);
        if (d < least) {
            least = d;
            best = cli_verb_table[i].name;
        }
    }
    return best;
}
