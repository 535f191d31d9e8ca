// SPDX-License-Identifier: MIT
// Base64 (RFC 4648, section 4), four characters at a time.
#include "gltf_internal.h"

enum {
    BAD = 0xFF
};

static uint8_t value_of(uint8_t c)
{
    if (c >= 'A' && c <= 'Z') {
        return (uint8_t)(c - 'A');
    }
    if (c >= 'a' && c <= 'z') {
        return (uint8_t)(c - 'a' + 26);
    }
    if (c >= '0' && c <= '9') {
        return (uint8_t)(c - '0' + 52);
    }
    return c == '+' ? 62 : c == '/' ? 63 : BAD;
}

uint64_t pelti_gltf_base64_bound(uint64_t length)
{
    return length / 4 * 3 + length % 4;
}

// Length without padding; false where the padding does not fill the last group.
static bool strip_padding(const char *text, uint64_t *length)
{
    uint64_t kept = *length;
    while (kept > 0 && *length - kept < 2 && text[kept - 1] == '=') {
        kept--;
    }
    bool padded = kept < *length;
    bool fits = (!padded || *length % 4 == 0) && kept % 4 != 1;
    *length = kept;
    return fits;
}

bool pelti_gltf_base64_decode(const char *text, uint64_t length, uint8_t *out, uint64_t *out_size)
{
    uint8_t values[256];
    for (unsigned c = 0; c < 256; c++) {
        values[c] = value_of((uint8_t)c);
    }
    uint64_t used = length;
    bool fits = strip_padding(text, &used);
    const uint8_t *in = (const uint8_t *)text;
    uint64_t done = 0;
    uint64_t at = 0;
    for (; used - at >= 4; at += 4) {
        uint8_t a = values[in[at]];
        uint8_t b = values[in[at + 1]];
        uint8_t c = values[in[at + 2]];
        uint8_t d = values[in[at + 3]];
        // Values are below 64, BAD has the top bit set.
        if ((a | b | c | d) & 0x80) {
            break;
        }
        out[done++] = (uint8_t)(a << 2 | b >> 4);
        out[done++] = (uint8_t)(b << 4 | c >> 2);
        out[done++] = (uint8_t)(c << 6 | d);
    }
    uint64_t bad = at;
    while (bad < used && values[in[bad]] != BAD) {
        bad++;
    }
    if (bad < used || !fits) {
        *out_size = bad;
        return false;
    }
    if (used - at >= 2) {
        out[done++] = (uint8_t)(values[in[at]] << 2 | values[in[at + 1]] >> 4);
    }
    if (used - at == 3) {
        out[done++] = (uint8_t)(values[in[at + 1]] << 4 | values[in[at + 2]] >> 2);
    }
    *out_size = done;
    return true;
}
