// SPDX-License-Identifier: MIT
// Numbers as people write them in options, and as reports print them. Nothing here depends on the locale.
#include "cli.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool cli_read_count(const char *text, bool suffixes, uint64_t *out)
{
    uint64_t value = 0;
    const char *at = text;
    for (; isdigit((unsigned char)*at); at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    if (at == text) {
        return false;
    }
    unsigned shift = 0;
    if (suffixes && *at != '\0') {
        int suffix = toupper((unsigned char)*at);
        shift = suffix == 'K' ? 10 : suffix == 'M' ? 20 : suffix == 'G' ? 30 : 0;
        at += shift != 0;
    }
    if (*at != '\0' || value > UINT64_MAX >> shift) {
        return false;
    }
    *out = value << shift;
    return true;
}

bool cli_read_real(const char *text, double *out)
{
    if (text[0] == '\0' || text[strspn(text, "0123456789+-.eE")] != '\0') {
        return false;
    }
    char *end = NULL;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*out);
}

bool cli_read_index(const char *text, uint64_t *out)
{
    if (text[0] != '#' || text[1] == '\0' || text[1 + strspn(text + 1, "0123456789")] != '\0') {
        return false;
    }
    // Digits alone fail by overflow only: an index that no list reaches.
    *out = UINT64_MAX;
    cli_read_count(text + 1, false, out);
    return true;
}

const char *cli_grouped(uint64_t number, char out[32])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    char *at = out;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            *at++ = ',';
        }
        *at++ = digits[i];
    }
    *at = '\0';
    return out;
}
