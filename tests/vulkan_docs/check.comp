// SPDX-License-Identifier: MIT
// Appended to the GLSL of docs/vulkan.md: runs every function of it on each vertex and writes what it gives.
// read_streams.c has the same layouts.
layout(local_size_x = 64) in;

const uint MOST_EXTRAS = 12u;
const uint MOST_TARGETS = 4u;

struct Target {
    uvec2 vertices; // zero unless sparse
    uvec2 positions;
    uint count;
    float scale;
    uint is_16bit;
    uint reserved;
};

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Job {
    uvec2 positions;
    uvec2 normals;
    uvec2 tangents;
    uvec2 weights;
    uvec2 joints;
    uvec2 runs;
    uvec2 run_joints;
    uvec2 extra_offsets;
    uvec2 extras;
    uvec2 matrices;
    uvec2 boxes;
    uvec2 results;
    Target targets[MOST_TARGETS];
    uint vertex_count;
    uint run_count;
    uint plain;
    uint ordered;
    uint target_count;
    float half_size; // of the box that is_visible looks at
};

layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer Results { float at[]; };

layout(push_constant, scalar) uniform Push {
    uvec2 job;
};

Results results;
uint next;

void put(float value)
{
    results.at[next++] = value;
}

void put3(vec3 value)
{
    put(value.x);
    put(value.y);
    put(value.z);
}

void put4(vec4 value)
{
    put3(value.xyz);
    put(value.w);
}

vec3 displacement(Target target, uint vertex)
{
    uint entry = vertex;
    if (target.vertices != uvec2(0u)) {
        entry = find_entry(Words(target.vertices), target.count, vertex);
    }
    if (entry >= target.count || target.positions == uvec2(0u)) {
        return vec3(0.0);
    }
    return target.is_16bit != 0u ? read_displacement_16(Words(target.positions), target.scale, entry)
                                 : read_position(Floats(target.positions), entry);
}

void put_influences(Job j, uint vertex, vec3 position)
{
    uint r = 0u;
    while (r + 1u < j.run_count && Runs(j.runs).at[r + 1u].first_vertex <= vertex) {
        r++;
    }
    Run run = Runs(j.runs).at[r];
    vec4 weights = decode_weights(Words(j.weights).at[vertex], j.plain != 0u);
    uvec4 joints = read_joints(run, Words(j.joints), Words(j.run_joints), vertex);
    uvec2 range = read_extra_range(run, j.ordered != 0u, Words(j.extra_offsets), vertex);
    put4(weights);
    put4(vec4(joints));
    put(float(range.y - range.x));
    for (uint i = 0u; i < MOST_EXTRAS; i++) {
        uint extra = range.x + i < range.y ? Words(j.extras).at[range.x + i] : 0u;
        put(float(extra_joint(extra)));
        put(extra_weight(extra));
    }
    put3(transform(blend(Matrices(j.matrices), joints, weights), position));
}

void main()
{
    Job j = Job(job);
    uint vertex = gl_GlobalInvocationID.x;
    if (vertex >= j.vertex_count) {
        return;
    }
    results = Results(j.results);
    next = vertex * 64u;
    vec3 position = read_position(Floats(j.positions), vertex);
    put3(position);
    put3(j.normals != uvec2(0u) ? read_normal(Words(j.normals), vertex) : vec3(0.0));
    put4(j.tangents != uvec2(0u) ? read_tangent(Words(j.tangents), vertex) : vec4(0.0));
    vec3 centre = 2.0 * position;
    vec4 planes[6];
    for (int i = 0; i < 3; i++) {
        vec3 axis = vec3(i == 0, i == 1, i == 2);
        planes[2 * i] = vec4(axis, j.half_size - centre[i]);
        planes[2 * i + 1] = vec4(-axis, j.half_size + centre[i]);
    }
    put(is_visible(Boxes(j.boxes), 1u, planes) ? 1.0 : 0.0);
    for (uint t = 0u; t < MOST_TARGETS; t++) {
        put3(t < j.target_count ? displacement(j.targets[t], vertex) : vec3(0.0));
    }
    if (j.weights != uvec2(0u)) {
        put_influences(j, vertex, position);
    }
}
