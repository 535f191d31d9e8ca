// SPDX-License-Identifier: MIT
// The plain structure of CPU skinning, as engines and animation libraries publish it: one vertex at a time, whole 4x4
// matrices, SSE on a vector's four components.
#include "baselines.h"

#if defined(__SSE2__)

#include <xmmintrin.h>

typedef struct matrix {
    __m128 columns[4];
} matrix;

bool baseline_plain_available(void)
{
    return true;
}

static inline __m128 scaled(__m128 v, float s)
{
    return _mm_mul_ps(v, _mm_set1_ps(s));
}

static inline matrix blend(const float *palette, const uint16_t *joints, const float *weights, uint32_t count)
{
    matrix sum;
    const float *first = palette + 16 * (size_t)joints[0];
    for (int c = 0; c < 4; c++) {
        sum.columns[c] = scaled(_mm_load_ps(first + 4 * (size_t)c), weights[0]);
    }
    for (uint32_t i = 1; i < count; i++) {
        const float *m = palette + 16 * (size_t)joints[i];
        for (int c = 0; c < 4; c++) {
            sum.columns[c] = _mm_add_ps(sum.columns[c], scaled(_mm_load_ps(m + 4 * (size_t)c), weights[i]));
        }
    }
    return sum;
}

static inline __m128 direction(const matrix *m, const float *v)
{
    return _mm_add_ps(_mm_add_ps(scaled(m->columns[0], v[0]), scaled(m->columns[1], v[1])),
                      scaled(m->columns[2], v[2]));
}

static inline void store3(float *out, __m128 v)
{
    _mm_storel_pi((__m64 *)(void *)out, v);
    _mm_store_ss(out + 2, _mm_movehl_ps(v, v));
}

static inline const float *at(const float *stream, size_t stride, size_t index)
{
    return (const float *)(const void *)((const char *)stream + stride * index);
}

static inline float *out_at(float *stream, size_t stride, size_t index)
{
    return (float *)(void *)((char *)stream + stride * index);
}

// Inlined with the number of influences known, so that the usual four have no loop.
static inline void skin(const baseline_skin_job *job, uint32_t influence_count)
{
    for (size_t v = 0; v < job->vertex_count; v++) {
        const char *joints = (const char *)job->joints + job->joints_stride * v;
        const matrix m = blend(job->palette, (const uint16_t *)(const void *)joints,
                               at(job->weights, job->weights_stride, v), influence_count);
        __m128 position = direction(&m, at(job->positions, job->positions_stride, v));
        store3(out_at(job->out_positions, job->out_positions_stride, v), _mm_add_ps(position, m.columns[3]));
        if (job->out_normals) {
            store3(out_at(job->out_normals, job->out_normals_stride, v),
                   direction(&m, at(job->normals, job->normals_stride, v)));
        }
        if (job->out_tangents) {
            const float *tangent = at(job->tangents, job->tangents_stride, v);
            float *out = out_at(job->out_tangents, job->out_tangents_stride, v);
            _mm_storeu_ps(out, direction(&m, tangent));
            out[3] = tangent[3];
        }
    }
}

void baseline_plain_skin(const baseline_skin_job *job)
{
    if (job->influence_count == 4) {
        skin(job, 4);
    } else if (job->influence_count == 8) {
        skin(job, 8);
    } else {
        skin(job, job->influence_count);
    }
}

static inline void multiply(const float *a, const float *b, float *out)
{
    __m128 columns[4] = {_mm_load_ps(a), _mm_load_ps(a + 4), _mm_load_ps(a + 8), _mm_load_ps(a + 12)};
    for (int c = 0; c < 4; c++) {
        const float *v = b + 4 * (size_t)c;
        __m128 sum = _mm_add_ps(scaled(columns[0], v[0]), scaled(columns[1], v[1]));
        sum = _mm_add_ps(sum, _mm_add_ps(scaled(columns[2], v[2]), scaled(columns[3], v[3])));
        _mm_store_ps(out + 4 * (size_t)c, sum);
    }
}

static inline void local_matrix(const pelt_trs *trs, float *out)
{
    const pelt_quat q = trs->rotation;
    const float x2 = q.x + q.x;
    const float y2 = q.y + q.y;
    const float z2 = q.z + q.z;
    const pelt_vec3 s = trs->scale;
    const pelt_vec3 t = trs->translation;
    _mm_store_ps(
        out, scaled(_mm_setr_ps(1.0F - (q.y * y2 + q.z * z2), q.x * y2 + q.w * z2, q.x * z2 - q.w * y2, 0.0F), s.x));
    _mm_store_ps(
        out + 4,
        scaled(_mm_setr_ps(q.x * y2 - q.w * z2, 1.0F - (q.x * x2 + q.z * z2), q.y * z2 + q.w * x2, 0.0F), s.y));
    _mm_store_ps(
        out + 8,
        scaled(_mm_setr_ps(q.x * z2 + q.w * y2, q.y * z2 - q.w * x2, 1.0F - (q.x * x2 + q.y * y2), 0.0F), s.z));
    _mm_store_ps(out + 12, _mm_setr_ps(t.x, t.y, t.z, 1.0F));
}

void baseline_plain_skeletons(const baseline_skeleton_job *job)
{
    for (uint32_t i = 0; i < job->instance_count; i++) {
        const pelt_trs *locals = job->locals[i];
        for (size_t j = 0; j < job->joint_count; j++) {
            float *world = job->worlds + 16 * j;
            if (job->parents[j] == PELT_NONE) {
                local_matrix(&locals[j], world);
            } else {
                _Alignas(16) float local[16];
                local_matrix(&locals[j], local);
                multiply(job->worlds + 16 * (size_t)job->parents[j], local, world);
            }
        }
        for (size_t j = 0; j < job->joint_count; j++) {
            multiply(job->worlds + 16 * j, job->joint_from_bind + 16 * j, job->palettes[i] + 16 * j);
        }
    }
}

#else

bool baseline_plain_available(void)
{
    return false;
}

void baseline_plain_skin(const baseline_skin_job *job)
{
    (void)job;
}

void baseline_plain_skeletons(const baseline_skeleton_job *job)
{
    (void)job;
}

#endif
