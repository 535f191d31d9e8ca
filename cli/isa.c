// SPDX-License-Identifier: MIT
// Which instruction sets the verbs that skin may use: --isa, or PELT_ISA where that is not given.
#include "cli.h"

#include <stdlib.h>
#include <string.h>

// The names that may be given: "scalar, sse2, ...".
static void list_names(char *out, size_t capacity)
{
    size_t used = 0;
    for (int i = PELT_ISA_SCALAR; i < PELT_ISA_COUNT && used < capacity; i++) {
        used += (size_t)snprintf(out + used, capacity - used, "%s%s", used ? ", " : "", pelt_isa_name((pelt_isa)i));
    }
}

// One NAME or -NAME of the list.
static bool take_word(cli_context *context, const char *word, size_t length)
{
    char name[16];
    bool disable = word[0] == '-';
    length -= disable;
    if (length == 0 || length >= sizeof name) {
        return false;
    }
    memcpy(name, word + disable, length);
    name[length] = '\0';
    pelt_isa isa = pelt_isa_parse(name);
    if (isa == PELT_ISA_COUNT || isa == PELT_ISA_BEST || (disable && isa == PELT_ISA_SCALAR)) {
        return false;
    }
    if (disable) {
        context->disabled_isas |= 1U << isa;
    } else {
        context->isa = isa;
    }
    return true;
}

int cli_select_isa(cli_context *context)
{
    const char *text = context->options.isa;
    const char *source = "--isa";
    if (!text) {
        text = getenv("PELT_ISA");
        source = "PELT_ISA";
    }
    if (!text || (text[0] == '\0' && source[0] == 'P')) {
        return CLI_DONE;
    }
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        if (!take_word(context, at, length)) {
            char names[80];
            list_names(names, sizeof names);
            return cli_fail(context, CLI_USAGE, NULL, NULL,
                            "a name is the highest one to use; with a dash before it (not scalar) it is left out",
                            "%s takes names out of %s, not \"%s\"", source, names, text);
        }
        at += length;
        if (*at == '\0') {
            break;
        }
    }
    pelt_isa chosen = pelt_isa_choose(context->isa, context->disabled_isas);
    if (context->isa != PELT_ISA_BEST && !pelt_isa_available(context->isa)) {
        cli_warn(context, NULL, NULL, "%s is not to be had here: %s is used", pelt_isa_name(context->isa),
                 pelt_isa_name(chosen));
    }
    return CLI_DONE;
}
