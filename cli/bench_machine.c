// SPDX-License-Identifier: MIT
// What measured: processor, instruction sets, compiler, threads and runs, as text and as members of JSON.
#include "bench.h"

#include <string.h>

// The processor's name as the system tells it; "" where it does not.
static void find_processor(char *out, size_t capacity)
{
    char line[256];
    out[0] = '\0';
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && out[0] == '\0' && fgets(line, sizeof line, file)) {
        const char *name = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (name) {
            name += strspn(name, ": \t");
            snprintf(out, capacity, "%.*s", (int)strcspn(name, "\n"), name);
        }
    }
    if (file) {
        fclose(file);
    }
}

void bench_print_machine(const cli_context *context)
{
    char processor[128];
    pelt_isa isas[PELT_ISA_COUNT];
    uint32_t count = bench_isas(context, isas);
    find_processor(processor, sizeof processor);
    if (processor[0]) {
        cli_put(stdout, processor);
        printf("; ");
    }
    for (uint32_t i = 0; i < count; i++) {
        printf("%s%s", i ? ", " : "", pelt_isa_name(isas[i]));
    }
    unsigned threads = (unsigned)context->parallel.worker_count;
    unsigned runs = (unsigned)bench_run_count(context);
    printf("; %u thread%s; medians of %u run%s, spread between the quartiles\n\n", threads, threads == 1 ? "" : "s",
           runs, runs == 1 ? "" : "s");
}

void bench_json_machine(const cli_context *context, json_t *root)
{
    char processor[128];
    pelt_isa isas[PELT_ISA_COUNT];
    uint32_t count = bench_isas(context, isas);
    json_t *names = json_array();
    for (uint32_t i = 0; i < count; i++) {
        json_array_append_new(names, json_string(pelt_isa_name(isas[i])));
    }
    find_processor(processor, sizeof processor);
    json_object_set_new(root, "processor", cli_json_text(processor[0] ? processor : NULL));
    json_object_set_new(root, "compiler", json_string(BENCH_COMPILER));
    json_object_set_new(root, "isas", names);
    json_object_set_new(root, "threads", json_integer(context->parallel.worker_count));
    json_object_set_new(root, "runs", json_integer(bench_run_count(context)));
}
