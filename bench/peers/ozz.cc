// SPDX-License-Identifier: MIT
// Calls of ozz-animation, the only file that sees it.
#include "ozz.h"

#include <ozz/animation/offline/raw_skeleton.h>
#include <ozz/animation/offline/skeleton_builder.h>
#include <ozz/animation/runtime/local_to_model_job.h>
#include <ozz/animation/runtime/skeleton.h>
#include <ozz/base/maths/simd_math.h>
#include <ozz/base/maths/soa_transform.h>
#include <ozz/geometry/runtime/skinning_job.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

using ozz::math::Float4x4;
using ozz::math::SoaTransform;

namespace
{

const Float4x4 *matrices_at(const float *floats)
{
    return reinterpret_cast<const Float4x4 *>(floats);
}

// From the first element's first component to the last element's last.
template <typename T> ozz::span<T> stream(T *first, uint32_t count, size_t stride, size_t components)
{
    return first ? ozz::span<T>(first, (count - 1) * (stride / sizeof(T)) + components) : ozz::span<T>();
}

} // namespace

const char *ozz_instructions(void)
{
    return ozz::math::SimdImplementationName();
}

bool ozz_skin(const ozz_skin_job *job)
{
    const uint32_t n = job->vertex_count;
    const size_t influences = job->influence_count;
    ozz::geometry::SkinningJob skinning;
    skinning.vertex_count = static_cast<int>(n);
    skinning.influences_count = static_cast<int>(influences);
    skinning.joint_matrices = {matrices_at(job->matrices), job->matrix_count};
    if (job->inverse_transposes) {
        skinning.joint_inverse_transpose_matrices = {matrices_at(job->inverse_transposes), job->matrix_count};
    }
    skinning.joint_indices = stream(job->joints, n, job->joints_stride, influences);
    skinning.joint_indices_stride = job->joints_stride;
    skinning.joint_weights = stream(job->weights, n, job->weights_stride, influences - 1);
    skinning.joint_weights_stride = job->weights_stride;
    skinning.in_positions = stream(job->positions, n, job->positions_stride, 3);
    skinning.in_positions_stride = job->positions_stride;
    skinning.in_normals = stream(job->normals, n, job->normals_stride, 3);
    skinning.in_normals_stride = job->normals_stride;
    skinning.in_tangents = stream(job->tangents, n, job->tangents_stride, 3);
    skinning.in_tangents_stride = job->tangents_stride;
    skinning.out_positions = stream(job->out_positions, n, job->out_positions_stride, 3);
    skinning.out_positions_stride = job->out_positions_stride;
    skinning.out_normals = stream(job->out_normals, n, job->out_normals_stride, 3);
    skinning.out_normals_stride = job->out_normals_stride;
    skinning.out_tangents = stream(job->out_tangents, n, job->out_tangents_stride, 3);
    skinning.out_tangents_stride = job->out_tangents_stride;
    return skinning.Run();
}

// ---- skeletons

struct ozz_skeleton {
    ozz::unique_ptr<ozz::animation::Skeleton> runtime;
    std::vector<uint32_t> joints; // in ozz's order
};

ozz_skeleton *ozz_skeleton_create(uint32_t joint_count, const uint32_t *parents)
{
    // Joints are named by their numbers, so that their order can be read back.
    std::vector<ozz::animation::offline::RawSkeleton::Joint> joints(joint_count);
    for (uint32_t j = joint_count; j-- > 0;) {
        joints[j].name = std::to_string(j).c_str();
        joints[j].transform = ozz::math::Transform::identity();
        if (j > 0) {
            auto &siblings = joints[parents[j]].children;
            siblings.insert(siblings.begin(), std::move(joints[j]));
        }
    }
    ozz::animation::offline::RawSkeleton raw;
    raw.roots.push_back(std::move(joints[0]));
    auto runtime = ozz::animation::offline::SkeletonBuilder()(raw);
    if (!runtime) {
        return nullptr;
    }
    auto *skeleton = new ozz_skeleton{std::move(runtime), {}};
    for (const char *name : skeleton->runtime->joint_names()) {
        skeleton->joints.push_back(static_cast<uint32_t>(std::atoi(name)));
    }
    return skeleton;
}

void ozz_skeleton_destroy(ozz_skeleton *skeleton)
{
    delete skeleton;
}

uint32_t ozz_skeleton_joint(const ozz_skeleton *skeleton, uint32_t place)
{
    return skeleton->joints[place];
}

size_t ozz_locals_size(const ozz_skeleton *skeleton)
{
    return static_cast<size_t>(skeleton->runtime->num_soa_joints()) * sizeof(SoaTransform);
}

void ozz_locals_fill(const ozz_skeleton *skeleton, const pelt_trs *locals, void *out)
{
    auto *structures = static_cast<SoaTransform *>(out);
    const size_t joint_count = skeleton->joints.size();
    const size_t lanes = 4;
    for (size_t i = 0; i < joint_count; i += lanes) {
        float values[10][lanes];
        for (size_t lane = 0; lane < lanes; lane++) {
            const size_t place = i + lane < joint_count ? i + lane : joint_count - 1;
            const pelt_trs &t = locals[skeleton->joints[place]];
            const float one[10] = {t.translation.x, t.translation.y, t.translation.z, t.rotation.x, t.rotation.y,
                                   t.rotation.z,    t.rotation.w,    t.scale.x,       t.scale.y,    t.scale.z};
            for (size_t k = 0; k < 10; k++) {
                values[k][lane] = one[k];
            }
        }
        ozz::math::SimdFloat4 v[10];
        for (size_t k = 0; k < 10; k++) {
            v[k] = ozz::math::simd_float4::LoadPtrU(values[k]);
        }
        structures[i / lanes] = SoaTransform{{v[0], v[1], v[2]}, {v[3], v[4], v[5], v[6]}, {v[7], v[8], v[9]}};
    }
}

bool ozz_skeleton_evaluate(const ozz_skeleton *skeleton, const void *locals, const float *joint_from_bind,
                           float *models, float *palette)
{
    const size_t joint_count = skeleton->joints.size();
    ozz::animation::LocalToModelJob job;
    job.skeleton = skeleton->runtime.get();
    job.input = {static_cast<const SoaTransform *>(locals), static_cast<size_t>(skeleton->runtime->num_soa_joints())};
    job.output = {reinterpret_cast<Float4x4 *>(models), joint_count};
    if (!job.Run()) {
        return false;
    }
    auto *out = reinterpret_cast<Float4x4 *>(palette);
    for (size_t i = 0; i < joint_count; i++) {
        out[i] = matrices_at(models)[i] * matrices_at(joint_from_bind)[i];
    }
    return true;
}
