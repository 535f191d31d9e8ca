// SPDX-License-Identifier: MIT
// An order by growth: a run begins with the joint that fewest vertices still wait for, and takes in one joint after
// the other, each time the one that completes the joint sets of most vertices for what it leaves behind. Greedy, in a
// window of groups and with a bounded number of steps, so that time is linear for any input.
#include "cook/order.h"

enum {
    WINDOW_GROUPS = 16384,
    REFILL_GROUPS = WINDOW_GROUPS / 4, // a window is filled up again when so few groups are left in it
    STEPS_PER_VERTEX = 32              // real meshes take 0.1 to 25; past that the rest stays in the given order
};

typedef struct grown_group {
    const joint_group *group;
    uint32_t placed; // vertices in finished runs
    uint32_t taken;  // and in the run at hand
    uint32_t run;    // that joints_in counts for
    uint32_t joints_in;
} grown_group;

typedef struct grown_joint {
    uint32_t first_member; // in members: the window's groups that use it
    uint32_t member_count;
    uint64_t open; // vertices of these groups outside finished runs
    uint32_t run;  // that it is in
    uint32_t gain_run;
    uint64_t gain; // vertices that lack only this joint to be in run gain_run
} grown_joint;

typedef struct taken_part {
    uint32_t group; // in the window
    uint32_t count; // of vertices
} taken_part;

struct cook_growth {
    const joint_groups *groups;
    grown_group *window;
    uint32_t window_count;
    uint32_t live_count;   // groups that are not all in finished runs
    uint64_t vertex_count; // of theirs, outside finished runs
    grown_joint *joints;   // by rank
    uint32_t *members;
    uint64_t steps_left;
    uint32_t *out;
    uint32_t out_count;
    // The run at hand.
    uint32_t run; // its number, from 1 on
    uint32_t joint_count;
    uint32_t joint_limit;
    uint32_t count;    // of vertices
    uint32_t *touched; // groups that use a joint of the run
    uint32_t touched_count;
    uint32_t *complete; // groups whose joints are all in the run
    uint32_t complete_count;
    uint32_t complete_next;
    uint32_t *candidates; // joints with a gain
    uint32_t candidate_count;
    taken_part *parts;
    uint32_t part_count;
    uint32_t first_open; // no group of the window before it has vertices left
};

cook_growth *pelti_growth_create(const joint_groups *groups, cook_arena *arena)
{
    uint32_t window = groups->group_count < WINDOW_GROUPS ? groups->group_count : WINDOW_GROUPS;
    cook_growth *growth = pelti_cook_allocate(arena, 1, sizeof *growth);
    if (!growth) {
        return NULL;
    }
    growth->groups = groups;
    growth->window = pelti_cook_allocate(arena, window, sizeof *growth->window);
    growth->joints = pelti_cook_allocate(arena, groups->rank_count, sizeof *growth->joints);
    growth->members = pelti_cook_allocate(arena, 4 * (uint64_t)window, sizeof *growth->members);
    growth->touched = pelti_cook_allocate(arena, window, sizeof *growth->touched);
    growth->complete = pelti_cook_allocate(arena, window, sizeof *growth->complete);
    growth->candidates = pelti_cook_allocate(arena, groups->rank_count, sizeof *growth->candidates);
    // A fill may take from a group that the run already took from.
    growth->parts = pelti_cook_allocate(arena, (uint64_t)window + PELT_RUN_STEP, sizeof *growth->parts);
    return arena->failed ? NULL : growth;
}

static uint32_t left(const grown_group *g)
{
    return g->group->count - g->taken;
}

static void spend(cook_growth *growth, uint64_t steps)
{
    growth->steps_left -= steps < growth->steps_left ? steps : growth->steps_left;
}

// Drops what is finished from the window, fills it up from the list, and lists the groups of each joint anew.
static uint32_t refill(cook_growth *growth, const uint32_t *list, uint32_t list_count, uint32_t next)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < growth->window_count; i++) {
        if (left(&growth->window[i]) > 0) {
            growth->window[count++] = growth->window[i];
        }
    }
    for (; count < WINDOW_GROUPS && next < list_count; next++) {
        growth->window[count++] = (grown_group){.group = &growth->groups->groups[list[next]]};
    }
    growth->window_count = count;
    growth->live_count = count;
    growth->vertex_count = 0;
    growth->first_open = 0;
    memset(growth->joints, 0, sizeof *growth->joints * growth->groups->rank_count);
    for (uint32_t i = 0; i < count; i++) {
        const grown_group *g = &growth->window[i];
        growth->vertex_count += left(g);
        for (uint32_t k = 0; k < g->group->joint_count; k++) {
            grown_joint *joint = &growth->joints[pelti_group_rank(g->group, k)];
            joint->member_count++;
            joint->open += left(g);
        }
    }
    uint32_t first = 0;
    for (uint32_t r = 0; r < growth->groups->rank_count; r++) {
        growth->joints[r].first_member = first;
        first += growth->joints[r].member_count;
        growth->joints[r].member_count = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const joint_group *group = growth->window[i].group;
        for (uint32_t k = 0; k < group->joint_count; k++) {
            grown_joint *joint = &growth->joints[pelti_group_rank(group, k)];
            growth->members[joint->first_member + joint->member_count++] = i;
        }
    }
    return next;
}

// One joint of the group has come into the run: it is complete, or the one joint it lacks gains its vertices.
static void touch(cook_growth *growth, uint32_t index)
{
    grown_group *g = &growth->window[index];
    if (g->run != growth->run) {
        g->run = growth->run;
        g->joints_in = 0;
        growth->touched[growth->touched_count++] = index;
    }
    g->joints_in++;
    uint32_t missing = g->group->joint_count - g->joints_in;
    if (missing == 0) {
        growth->complete[growth->complete_count++] = index;
    }
    for (uint32_t k = 0; missing == 1 && k < g->group->joint_count; k++) {
        uint32_t rank = pelti_group_rank(g->group, k);
        grown_joint *joint = &growth->joints[rank];
        if (joint->run == growth->run) {
            continue;
        }
        if (joint->gain_run != growth->run) {
            joint->gain_run = growth->run;
            joint->gain = 0;
            growth->candidates[growth->candidate_count++] = rank;
        }
        joint->gain += left(g);
    }
}

static void add_joint(cook_growth *growth, uint32_t rank)
{
    grown_joint *joint = &growth->joints[rank];
    if (joint->run == growth->run) {
        return;
    }
    joint->run = growth->run;
    growth->joint_count++;
    uint32_t *members = growth->members + joint->first_member;
    uint32_t kept = 0;
    spend(growth, joint->member_count);
    for (uint32_t i = 0; i < joint->member_count; i++) {
        uint32_t index = members[i];
        if (growth->window[index].placed < growth->window[index].group->count) {
            members[kept++] = index;
            touch(growth, index);
        }
    }
    joint->member_count = kept;
}

static void add_group(cook_growth *growth, uint32_t index)
{
    const joint_group *group = growth->window[index].group;
    for (uint32_t k = 0; k < group->joint_count; k++) {
        add_joint(growth, pelti_group_rank(group, k));
    }
}

static void take(cook_growth *growth, uint32_t index, uint32_t limit)
{
    grown_group *g = &growth->window[index];
    uint32_t room = limit - growth->count;
    uint32_t count = left(g) < room ? left(g) : room;
    growth->parts[growth->part_count++] = (taken_part){index, count};
    g->taken += count;
    growth->count += count;
}

// Of the joints that complete a group, the one with the most vertices, and few others waiting for it: gain squared
// over open lies between the most vertices now and the largest share of the joint's own.
static uint32_t choose_joint(cook_growth *growth)
{
    uint32_t best = PELT_NONE;
    double best_score = 0;
    spend(growth, growth->candidate_count);
    for (uint32_t i = 0; i < growth->candidate_count; i++) {
        uint32_t rank = growth->candidates[i];
        const grown_joint *joint = &growth->joints[rank];
        if (joint->run == growth->run) {
            continue;
        }
        double score = (double)joint->gain * (double)joint->gain / (double)joint->open;
        if (best == PELT_NONE || score > best_score || (score == best_score && rank < best)) {
            best = rank;
            best_score = score;
        }
    }
    return best;
}

// Of the groups that share a joint with the run and fit, one that lacks the fewest, the largest of these.
static uint32_t choose_neighbour(cook_growth *growth)
{
    uint32_t best = PELT_NONE;
    uint32_t best_missing = 0;
    spend(growth, growth->touched_count);
    for (uint32_t i = 0; i < growth->touched_count; i++) {
        const grown_group *g = &growth->window[growth->touched[i]];
        uint32_t missing = g->group->joint_count - g->joints_in;
        if (missing == 0 || growth->joint_count + missing > growth->joint_limit) {
            continue;
        }
        if (best == PELT_NONE || missing < best_missing ||
            (missing == best_missing && left(g) > left(&growth->window[best]))) {
            best = growth->touched[i];
            best_missing = missing;
        }
    }
    return best;
}

// The largest group of the joint that fewest vertices wait for: starting at the ends leaves no scattered rest.
static uint32_t choose_seed(cook_growth *growth)
{
    const grown_joint *rarest = NULL;
    if (growth->joint_count + 4 > growth->joint_limit) {
        return PELT_NONE;
    }
    spend(growth, growth->groups->rank_count);
    for (uint32_t r = 0; r < growth->groups->rank_count; r++) {
        const grown_joint *joint = &growth->joints[r];
        if (joint->open > 0 && joint->run != growth->run && (!rarest || joint->open < rarest->open)) {
            rarest = joint;
        }
    }
    if (!rarest) {
        return PELT_NONE;
    }
    uint32_t best = PELT_NONE;
    const uint32_t *members = growth->members + rarest->first_member;
    spend(growth, rarest->member_count);
    for (uint32_t i = 0; i < rarest->member_count; i++) {
        if (best == PELT_NONE || left(&growth->window[members[i]]) > left(&growth->window[best])) {
            best = members[i];
        }
    }
    return best;
}

// Brings the next joints into the run; false when none fit.
static bool grow(cook_growth *growth)
{
    if (growth->joint_count == growth->joint_limit) {
        return false;
    }
    uint32_t rank = choose_joint(growth);
    if (rank != PELT_NONE) {
        add_joint(growth, rank);
        return true;
    }
    uint32_t index = choose_neighbour(growth);
    if (index == PELT_NONE) {
        index = choose_seed(growth);
    }
    if (index != PELT_NONE) {
        add_group(growth, index);
        return true;
    }
    return false;
}

static void fill_run(cook_growth *growth)
{
    growth->run++;
    growth->joint_count = 0;
    growth->joint_limit = COOK_NARROW_JOINTS;
    growth->count = 0;
    growth->touched_count = 0;
    growth->complete_count = 0;
    growth->complete_next = 0;
    growth->candidate_count = 0;
    growth->part_count = 0;
    uint32_t limit = PELT_RUN_VERTICES;
    for (;;) {
        while (growth->complete_next < growth->complete_count && growth->count < limit) {
            take(growth, growth->complete[growth->complete_next++], limit);
        }
        if (growth->count == limit || growth->count == growth->vertex_count) {
            return;
        }
        if (grow(growth)) {
            continue;
        }
        if (growth->count >= PELT_RUN_STEP || growth->joint_limit == PELT_RUN_JOINTS) {
            return;
        }
        // Not one block of 16 joints: one block of 32, and then 16 again.
        growth->joint_limit = PELT_RUN_JOINTS;
        limit = PELT_RUN_STEP;
    }
}

// A block that 32 joints cannot fill takes what comes next.
static void fill_block(cook_growth *growth)
{
    while (growth->count < PELT_RUN_STEP && growth->count < growth->vertex_count) {
        while (left(&growth->window[growth->first_open]) == 0) {
            growth->first_open++;
        }
        take(growth, growth->first_open, PELT_RUN_STEP);
    }
}

// Gives the last vertices back, so that runs are whole blocks and the next one does not begin with their joints.
static void trim(cook_growth *growth)
{
    uint32_t surplus = growth->count % PELT_RUN_STEP;
    growth->count -= surplus;
    while (surplus > 0) {
        taken_part *part = &growth->parts[growth->part_count - 1];
        uint32_t count = part->count < surplus ? part->count : surplus;
        growth->window[part->group].taken -= count;
        growth->first_open = part->group < growth->first_open ? part->group : growth->first_open;
        part->count -= count;
        surplus -= count;
        growth->part_count -= part->count == 0;
    }
}

static void place(cook_growth *growth)
{
    for (uint32_t i = 0; i < growth->part_count; i++) {
        const taken_part *part = &growth->parts[i];
        grown_group *g = &growth->window[part->group];
        memcpy(growth->out + growth->out_count, growth->groups->vertices + g->group->first + g->placed,
               sizeof *growth->out * part->count);
        growth->out_count += part->count;
        g->placed += part->count;
        growth->live_count -= part->count > 0 && g->placed == g->group->count;
        for (uint32_t k = 0; k < g->group->joint_count; k++) {
            growth->joints[pelti_group_rank(g->group, k)].open -= part->count;
        }
    }
    growth->vertex_count -= growth->count;
}

// What is left, in the order given.
static void place_rest(cook_growth *growth, const uint32_t *list, uint32_t list_count, uint32_t next)
{
    uint32_t window_count = growth->window_count;
    for (uint32_t i = 0; i < window_count + (list_count - next); i++) {
        bool started = i < window_count;
        const joint_group *group =
            started ? growth->window[i].group : &growth->groups->groups[list[next + (i - window_count)]];
        uint32_t placed = started ? growth->window[i].placed : 0;
        memcpy(growth->out + growth->out_count, growth->groups->vertices + group->first + placed,
               sizeof *growth->out * (group->count - placed));
        growth->out_count += group->count - placed;
    }
}

uint32_t pelti_growth_order(cook_growth *growth, const uint32_t *list, uint32_t list_count, uint32_t *out)
{
    growth->out = out;
    growth->out_count = 0;
    growth->window_count = 0;
    growth->run = 0;
    growth->steps_left = 0;
    for (uint32_t i = 0; i < list_count; i++) {
        growth->steps_left += (uint64_t)STEPS_PER_VERTEX * growth->groups->groups[list[i]].count;
    }
    uint32_t next = refill(growth, list, list_count, 0);
    while (growth->live_count > 0 && growth->steps_left > 0) {
        fill_run(growth);
        bool last = next == list_count && growth->count == growth->vertex_count;
        if (growth->count < PELT_RUN_STEP) {
            fill_block(growth);
        } else if (!last) {
            trim(growth);
        }
        place(growth);
        if (next < list_count && growth->live_count <= REFILL_GROUPS) {
            next = refill(growth, list, list_count, next);
        }
    }
    place_rest(growth, list, list_count, next);
    return growth->out_count;
}
