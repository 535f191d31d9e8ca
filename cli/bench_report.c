// SPDX-License-Identifier: MIT
// What `pelt bench` tells of a scene: a table, or an entry of pelt/bench/1.
#include "bench.h"

static const char *const role_names[] = {"kernel", "baseline", "ceiling"};

static double per_element(const bench_setup *setup, uint64_t bytes)
{
    return (double)bytes / (double)setup->element_count;
}

// How many times as fast as the baseline; 0 where there is none.
static double times_baseline(const bench_setup *setup, const bench_contender *c)
{
    const bench_contender *baseline = bench_baseline(setup);
    return baseline && c->role != BENCH_CEILING ? baseline->time.median / c->time.median : 0;
}

static double share_of_ceiling(const bench_setup *setup, const bench_contender *c)
{
    const bench_contender *ceiling = bench_ceiling(setup, c->threads);
    return ceiling ? bench_bandwidth(setup, c) / bench_bandwidth(setup, ceiling) : 0;
}

static void print_heading(const bench_setup *setup)
{
    const bench_scene *scene = setup->scene;
    char number[3][32];
    printf("%s: %s\n  ", scene->name, scene->text);
    if (scene->kind == BENCH_SKELETON) {
        printf("%s joints of %s skeleton%s", cli_grouped(setup->element_count, number[0]),
               cli_grouped(scene->instance_count, number[1]), scene->instance_count == 1 ? "" : "s");
    } else {
        printf("%s vertices in %s primitive%s, %s joint%s", cli_grouped(setup->element_count, number[0]),
               cli_grouped(setup->mesh_count, number[1]), setup->mesh_count == 1 ? "" : "s",
               cli_grouped(setup->joint_count, number[2]), setup->joint_count == 1 ? "" : "s");
    }
    printf("; kernels read %.1f and write %.1f bytes a %s\n", per_element(setup, setup->bytes_read),
           per_element(setup, setup->bytes_written), setup->element);
    printf("  %-29s %9s %9s %9s %9s %9s %9s\n", "", "ns a", "", "", "", "of", "times");
    printf("  %-29s %9s %9s %9s %9s %9s %9s\n", "", setup->element, "least", "spread", "GB/s", "ceiling", "plain");
}

void bench_print_scene(const bench_setup *setup)
{
    print_heading(setup);
    for (uint32_t i = 0; i < setup->contender_count; i++) {
        const bench_contender *c = &setup->contenders[i];
        const bench_statistics *t = &c->time;
        double times = times_baseline(setup, c);
        printf("  %-29s %9.3f %9.3f %7.1f %% %9.1f %7.1f %%", c->name, t->median, t->least,
               100 * (t->quartiles[1] - t->quartiles[0]) / t->median, bench_bandwidth(setup, c),
               100 * share_of_ceiling(setup, c));
        if (times > 0) {
            printf(" %9.2f\n", times);
        } else {
            printf(" %9s\n", "-");
        }
    }
    printf("\n");
    fflush(stdout);
}

static json_t *contender_json(const bench_setup *setup, const bench_contender *c)
{
    const bench_statistics *t = &c->time;
    double times = times_baseline(setup, c);
    bool is_kernel = c->role == BENCH_KERNEL;
    json_t *value = json_object();
    json_object_set_new(value, "name", json_string(c->name));
    json_object_set_new(value, "role", json_string(role_names[c->role]));
    json_object_set_new(value, "isa", is_kernel ? json_string(pelt_isa_name(c->isa)) : json_null());
    json_object_set_new(value, "threads", json_integer(c->threads));
    json_object_set_new(value, "repeats", json_integer(c->repeats));
    json_t *ns = json_pack("{s:f, s:[f, f], s:f, s:f}", "median", t->median, "quartiles", t->quartiles[0],
                           t->quartiles[1], "least", t->least, "most", t->most);
    json_object_set_new(value, "ns", ns);
    json_object_set_new(value, "bytes_read", json_real(per_element(setup, c->bytes_read)));
    json_object_set_new(value, "bytes_written", json_real(per_element(setup, c->bytes_written)));
    json_object_set_new(value, "gb_per_s", json_real(bench_bandwidth(setup, c)));
    json_object_set_new(value, "share_of_ceiling", json_real(share_of_ceiling(setup, c)));
    json_object_set_new(value, "times_baseline", times > 0 ? json_real(times) : json_null());
    return value;
}

json_t *bench_json_scene(const bench_setup *setup)
{
    const bench_scene *scene = setup->scene;
    json_t *value = json_object();
    json_t *contenders = json_array();
    for (uint32_t i = 0; i < setup->contender_count; i++) {
        json_array_append_new(contenders, contender_json(setup, &setup->contenders[i]));
    }
    json_object_set_new(value, "name", json_string(scene->name));
    json_object_set_new(value, "text", json_string(scene->text));
    json_object_set_new(value, "element", json_string(setup->element));
    json_object_set_new(value, "elements", json_integer((json_int_t)setup->element_count));
    json_object_set_new(value, "instances", json_integer(scene->kind == BENCH_SKELETON ? scene->instance_count : 1));
    json_object_set_new(value, "primitives", json_integer(setup->mesh_count));
    json_object_set_new(value, "joints", json_integer(setup->joint_count));
    json_object_set_new(value, "bytes_read", json_real(per_element(setup, setup->bytes_read)));
    json_object_set_new(value, "bytes_written", json_real(per_element(setup, setup->bytes_written)));
    json_object_set_new(value, "contenders", contenders);
    return value;
}
