// SPDX-License-Identifier: MIT
// The Vulkan backend: all instances of a scene skinned in one pass into buffers that stay, with exact boxes.
//
// The caller brings instance, device and command buffer; the library creates buffers, memory, pipelines and records
// commands. It never submits, waits or creates queues, links no libvulkan and keeps no global state. docs/vulkan.md
// explains requirements, lifetimes, barriers and the layouts of all streams.
//
//     once:       pelt_vk_requirements, create the device, pelt_vk_context_create, pelt_vk_scene_create,
//                 pelt_vk_mesh_add, pelt_vk_skin_add, pelt_vk_palette_add, pelt_vk_instance_add
//     each frame: pelt_vk_palette_write for skeletons that moved, pelt_vk_record, submit,
//                 pelt_vk_retire for frames whose fence has signalled
#ifndef PELT_VULKAN_H
#define PELT_VULKAN_H

#include <pelt/cook.h>

#include <vulkan/vulkan_core.h>

#if defined(PELT_BUILDS_VULKAN)
#define PELT_VULKAN_API PELT_EXPORTED
#else
#define PELT_VULKAN_API PELT_IMPORTED
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---- Before the device is created

// A physical device and how to reach it. All handles stay the caller's.
typedef struct pelt_vk_physical {
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    VkInstance instance;
    uint32_t api_version; // VkApplicationInfo.apiVersion that the instance was created with; 0 = Vulkan 1.2
    VkPhysicalDevice device;
} pelt_vk_physical;

typedef enum pelt_vk_need_kind {
    PELT_VK_NEED_VERSION = 0,
    PELT_VK_NEED_EXTENSION,
    PELT_VK_NEED_FEATURE,
    PELT_VK_NEED_LIMIT
} pelt_vk_need_kind;

// One thing that the library needs of a device, or can make use of.
typedef struct pelt_vk_need {
    const char *name; // Vulkan's, such as "bufferDeviceAddress"; static
    pelt_vk_need_kind kind;
    bool required;    // false: optional
    bool present;     // the device offers it
    uint64_t wanted;  // limits and versions; else 1
    uint64_t found;   // limits and versions; else 0 or 1
    const char *lost; // what goes without it; static
} pelt_vk_need;

enum {
    PELT_VK_NEED_CAPACITY = 24,
    PELT_VK_EXTENSION_CAPACITY = 8
};

// What a device has of it.
typedef struct pelt_vk_support {
    bool usable; // everything required is present
    uint32_t need_count;
    pelt_vk_need needs[PELT_VK_NEED_CAPACITY];
    uint32_t extension_count; // device extensions to enable: the required ones and the optional ones that are present
    const char *extensions[PELT_VK_EXTENSION_CAPACITY];
    uint32_t required_extension_count; // the first of them; the rest is optional
    uint32_t api_version;              // the lower of the device's and the instance's
    uint32_t subgroup_size;
    uint32_t subgroup_capacity; // subgroups that the device has room for at a time, as an extension tells; 0: none does
    bool acceleration_structure; // optional: outputs can be build inputs
    bool ray_tracing_pipeline;   // optional: the default release covers ray-tracing shaders
} pelt_vk_support;

// Compares a physical device with what the library needs; any thread. out is filled in either case. Errors: ARGUMENT;
// UNSUPPORTED, whose error names the first required thing that is missing; MEMORY; DEVICE.
PELT_VULKAN_API pelt_result pelt_vk_requirements(const pelt_vk_physical *physical, pelt_vk_support *out,
                                                 pelt_error *error);

// Feature structs for VkDeviceCreateInfo.pNext. The chain points into this struct, which must stay where it is until
// the device was created. Callers who chain VkPhysicalDeviceVulkan12Features or ...13Features set bufferDeviceAddress,
// scalarBlockLayout and synchronization2 there instead: Vulkan forbids both.
typedef struct pelt_vk_features {
    VkPhysicalDeviceBufferDeviceAddressFeatures buffer_device_address;
    VkPhysicalDeviceScalarBlockLayoutFeatures scalar_block_layout;
    VkPhysicalDeviceSynchronization2Features synchronization2;
    VkPhysicalDeviceAccelerationStructureFeaturesKHR acceleration_structure; // chained where support says so
    VkPhysicalDeviceRayTracingPipelineFeaturesKHR ray_tracing_pipeline;      // chained where support says so
} pelt_vk_features;

// Fills features and returns the head of their chain, which ends in next. optional: chain the optional ones that are
// present too; enable the extensions accordingly. Any thread.
PELT_VULKAN_API void *pelt_vk_features_chain(const pelt_vk_support *support, bool optional, void *next,
                                             pelt_vk_features *features);

// ---- Context

// Memory for one buffer.
typedef struct pelt_vk_memory {
    VkDeviceMemory memory;
    VkDeviceSize offset;
    void *mapped; // where offset is mapped; needed where HOST_VISIBLE was required, else NULL is fine
    void *user;   // the caller's
} pelt_vk_memory;

// How the library gets device memory. {0} = vkAllocateMemory, once for each block. The memory must allow device
// addresses (VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT) and, where required asks for it, stay mapped until released.
// allocate returns a VkResult; preferred properties may be missing. Called from the thread that called the library.
typedef struct pelt_vk_memory_callbacks {
    VkResult (*allocate)(void *user, const VkMemoryRequirements *requirements, VkMemoryPropertyFlags required,
                         VkMemoryPropertyFlags preferred, pelt_vk_memory *out_memory);
    void (*release)(void *user, const pelt_vk_memory *memory);
    void *user;
} pelt_vk_memory_callbacks;

typedef struct pelt_vk_context_options {
    pelt_vk_physical physical;
    VkDevice device;
    PFN_vkGetDeviceProcAddr get_device_proc_addr; // NULL = asked of the instance
    bool acceleration_structure;                  // the feature is enabled on device
    bool ray_tracing_pipeline;                    // the same
    const VkAllocationCallbacks *vk_allocator;    // NULL = the driver's own; must outlive the context
    pelt_allocator allocator;
    pelt_vk_memory_callbacks memory;
    VkDeviceSize block_size;        // of device memory blocks that ranges are cut from; 0 = 64 MiB
    VkPipelineCache pipeline_cache; // VK_NULL_HANDLE = none; used during creation only
    uint32_t queue_family_count;    // 2 or more: buffers are shared between these families (VK_SHARING_MODE_CONCURRENT)
    const uint32_t *queue_families; // read during creation only
} pelt_vk_context_options;

// Functions and pipelines of one device. Immutable; threads may share it.
typedef struct pelt_vk_context pelt_vk_context;

// Errors: ARGUMENT; UNSUPPORTED (names what the device lacks); MEMORY; DEVICE.
PELT_VULKAN_API pelt_result pelt_vk_context_create(const pelt_vk_context_options *options,
                                                   pelt_vk_context **out_context, pelt_error *error);
// NULL is accepted. Its scenes must be destroyed before.
PELT_VULKAN_API void pelt_vk_context_destroy(pelt_vk_context *context);

// ---- Scene

typedef enum pelt_vk_bounds {
    PELT_VK_BOUNDS_DEFAULT = 0,  // instances: what the scene says; scenes: exact
    PELT_VK_BOUNDS_EXACT,        // min and max over the positions that were written, bit for bit
    PELT_VK_BOUNDS_CONSERVATIVE, // from joint boxes, no vertex read; never smaller, whatever the morph weights
    PELT_VK_BOUNDS_BOTH,
    PELT_VK_BOUNDS_NONE,
    PELT_VK_BOUNDS_AUTO // exact or conservative by the number of the mesh's vertices, as the scene's rules say
} pelt_vk_bounds;

// What PELT_VK_BOUNDS_AUTO means for meshes of at most vertex_count vertices. `pelt bench --tune` measures rules for a
// device.
typedef struct pelt_vk_bounds_rule {
    uint32_t vertex_count;
    pelt_vk_bounds bounds; // EXACT or CONSERVATIVE
} pelt_vk_bounds_rule;

typedef struct pelt_vk_scene_options {
    pelt_vk_bounds bounds; // of instances that leave it to the scene
    // Instances may ask for conservative boxes even where bounds does not: keeps world matrices, 48 bytes more a joint.
    bool allow_conservative;
    // Who reads the outputs after pelt_vk_record, in this command buffer or a later one of the same queue: the
    // releasing barrier's destination, and the source of the next update's first barrier. Both 0 = vertex and index
    // input, compute and transfer, and where the context says that the device has them, acceleration-structure build
    // and ray-tracing shaders. Vertex and fragment shaders that read by address are to be named; so are all of them on
    // a queue family without graphics, which knows no vertex input. Accesses without stages are refused.
    VkPipelineStageFlags2 consumer_stages;
    VkAccessFlags2 consumer_access;
    uint32_t item_vertices; // most vertices that one workgroup works through, 64 to 1,024; 0 = 1,024
    // For automatic bounds, by ascending vertex count: a mesh takes the first rule that is not below its own count, and
    // exact boxes where there is none, where it has no joint boxes of the instance's skin or where the scene does not
    // allow conservative boxes. Copied. No rules = the library's own, measured as docs/benchmarks.md says.
    uint32_t bounds_rule_count;
    const pelt_vk_bounds_rule *bounds_rules;
} pelt_vk_scene_options;

// Meshes, skins, palettes and instances with their buffers. One thread at a time.
typedef struct pelt_vk_scene pelt_vk_scene;

// options may be NULL. The context must outlive the scene. Errors: ARGUMENT, MEMORY, DEVICE.
PELT_VULKAN_API pelt_result pelt_vk_scene_create(pelt_vk_context *context, const pelt_vk_scene_options *options,
                                                 pelt_vk_scene **out_scene, pelt_error *error);
// NULL is accepted. The GPU must have finished every frame that was recorded, and every reader of the outputs.
PELT_VULKAN_API void pelt_vk_scene_destroy(pelt_vk_scene *scene);

// Handles: {0} is none. A handle whose object was removed stays invalid for good, whatever takes its slot.
typedef struct pelt_vk_mesh {
    uint32_t index;
    uint32_t generation;
} pelt_vk_mesh;

typedef struct pelt_vk_skin {
    uint32_t index;
    uint32_t generation;
} pelt_vk_skin;

typedef struct pelt_vk_palette {
    uint32_t index;
    uint32_t generation;
} pelt_vk_palette;

typedef struct pelt_vk_instance {
    uint32_t index;
    uint32_t generation;
} pelt_vk_instance;

// Adds data->primitives[primitive] with its joint boxes. Its streams are copied before the call returns and uploaded by
// the next pelt_vk_record. Errors: ARGUMENT, LIMIT (a stream over what the device can hold in one buffer), MEMORY,
// DEVICE.
PELT_VULKAN_API pelt_result pelt_vk_mesh_add(pelt_vk_scene *scene, const pelt_cooked_data *data, uint32_t primitive,
                                             pelt_vk_mesh *out_mesh, pelt_error *error);
// Its memory is reused once the frames in flight have retired. Errors: ARGUMENT (not a mesh, or instances use it).
PELT_VULKAN_API pelt_result pelt_vk_mesh_remove(pelt_vk_scene *scene, pelt_vk_mesh mesh);

// Adds a skin: joint_count inverse bind matrices (joint_from_bind), copied; NULL = identity. Errors: ARGUMENT (none or
// more than 65,536 joints), MEMORY, DEVICE.
PELT_VULKAN_API pelt_result pelt_vk_skin_add(pelt_vk_scene *scene, const pelt_mat34 *inverse_binds,
                                             uint32_t joint_count, pelt_vk_skin *out_skin, pelt_error *error);
// Errors: ARGUMENT (not a skin, or palettes use it).
PELT_VULKAN_API pelt_result pelt_vk_skin_remove(pelt_vk_scene *scene, pelt_vk_skin skin);

// Adds a palette source: the skinning matrices of one skeleton in one pose, for any number of instances. Holds identity
// world matrices until the first write. For a rigid mesh: a palette of a skin with one joint. Errors: ARGUMENT, MEMORY,
// DEVICE.
PELT_VULKAN_API pelt_result pelt_vk_palette_add(pelt_vk_scene *scene, pelt_vk_skin skin, pelt_vk_palette *out_palette,
                                                pelt_error *error);
// Errors: ARGUMENT (not a palette, or instances use it).
PELT_VULKAN_API pelt_result pelt_vk_palette_remove(pelt_vk_scene *scene, pelt_vk_palette palette);
// Where to write world_from_joint of all joints, in the skin's order, before the next pelt_vk_record: mapped memory,
// 48 bytes a joint, to be written whole and never read. A second call before that record gives the same address. Marks
// the palette's instances for an update. Errors: ARGUMENT, MEMORY, DEVICE.
PELT_VULKAN_API pelt_result pelt_vk_palette_write(pelt_vk_scene *scene, pelt_vk_palette palette, pelt_mat34 **out_world,
                                                  pelt_error *error);

enum { // pelt_vk_instance_options.omit
    PELT_VK_OMIT_PREVIOUS = 1,
    PELT_VK_OMIT_NORMALS = 2,
    PELT_VK_OMIT_TANGENTS = 4
};

typedef struct pelt_vk_instance_options {
    pelt_vk_mesh mesh;
    pelt_vk_palette palette; // with at least the joints that the mesh uses
    uint32_t omit;           // outputs not wanted: they take no memory and no time
    bool rigid;              // every vertex follows the palette's first matrix, whatever influences the mesh has
    pelt_vk_bounds bounds;
    // Conservative: index in the cooked file of the skin whose joint boxes are used; the palette's skin must have its
    // inverse bind matrices. Rigid instances do not read it.
    uint32_t skin;
} pelt_vk_instance_options;

// Morph weights start at zero. The first update happens in the next pelt_vk_record. Errors: ARGUMENT (also a skin
// without joint boxes, or conservative boxes where the scene does not allow them), MEMORY, DEVICE.
PELT_VULKAN_API pelt_result pelt_vk_instance_add(pelt_vk_scene *scene, const pelt_vk_instance_options *options,
                                                 pelt_vk_instance *out_instance, pelt_error *error);
// Slot and ranges are reused once the frames in flight have retired; no other instance moves. Errors: ARGUMENT.
PELT_VULKAN_API pelt_result pelt_vk_instance_remove(pelt_vk_scene *scene, pelt_vk_instance instance);
// Errors: ARGUMENT.
PELT_VULKAN_API pelt_result pelt_vk_instance_set_palette(pelt_vk_scene *scene, pelt_vk_instance instance,
                                                         pelt_vk_palette palette);
// weight_count must be the mesh's target count; all finite. The same weights again mark nothing. Errors: ARGUMENT,
// MEMORY, DEVICE.
PELT_VULKAN_API pelt_result pelt_vk_instance_set_weights(pelt_vk_scene *scene, pelt_vk_instance instance,
                                                         const float *weights, uint32_t weight_count);
// The next update's previous positions are not valid. Marks the instance for an update. Errors: ARGUMENT.
PELT_VULKAN_API pelt_result pelt_vk_instance_teleport(pelt_vk_scene *scene, pelt_vk_instance instance);

// A range of a buffer. All zero where the instance has no such output.
typedef struct pelt_vk_stream {
    VkBuffer buffer;
    VkDeviceSize offset; // bytes, a multiple of 16; of boxes, of 8
    VkDeviceSize size;
    VkDeviceAddress address; // of offset
    uint32_t stride;
    VkFormat format; // VK_FORMAT_R32_UINT for tangents, which no format describes
} pelt_vk_stream;

// What pelt_vk_record has written, or will have written when it has run, for one instance.
typedef struct pelt_vk_view {
    uint64_t generation; // grows with each update; 0 = never updated, nothing is there yet
    bool updated;        // by the last pelt_vk_record: only then do previous positions tell a motion of that frame
    uint32_t vertex_count;
    pelt_vk_stream positions;          // float x 3, tight: 12 bytes
    pelt_vk_stream previous_positions; // of the update before
    bool previous_valid;               // false before the second update and after a teleport
    pelt_vk_stream normals;            // octahedral, VK_FORMAT_R16G16_SNORM
    pelt_vk_stream tangents;           // octahedral 16 + 15 bits and the sign of w (see pelt_tangent_decode)
    pelt_vk_stream box;                // VkAabbPositionsKHR
    pelt_vk_stream conservative_box;   // VkAabbPositionsKHR
    pelt_vk_stream indices;            // the mesh's, stride 2 or 4; none where it has no indices
    VkIndexType index_type;            // VK_INDEX_TYPE_NONE_KHR where there are none
    uint32_t index_count;              // vertex_count where there are none
} pelt_vk_view;

// As of the last pelt_vk_record; ask again after each that updated the instance: positions and previous positions
// change places, and boxes can move when instances were added. Errors: ARGUMENT.
PELT_VULKAN_API pelt_result pelt_vk_instance_view(const pelt_vk_scene *scene, pelt_vk_instance instance,
                                                  pelt_vk_view *out);

// Boxes of all instances, for culling on the GPU: entry i, 24 bytes, belongs to the instance with index i. Entries of
// free slots and of instances without that kind of box hold anything. Size 0 before the first record.
typedef struct pelt_vk_boxes {
    pelt_vk_stream exact;
    pelt_vk_stream conservative; // none unless the scene allows conservative boxes
    uint32_t count;
} pelt_vk_boxes;
// Errors: ARGUMENT.
PELT_VULKAN_API pelt_result pelt_vk_scene_boxes(const pelt_vk_scene *scene, pelt_vk_boxes *out);

// ---- Recording

// What one pelt_vk_record did.
typedef struct pelt_vk_statistics {
    uint32_t palette_count;  // palettes computed
    uint64_t joint_count;    // matrices in them
    uint32_t instance_count; // instances updated
    uint64_t item_count;     // slices skinned, each by one workgroup, or by several where there are few
    uint64_t vertex_count;
    uint32_t reduced_count;      // instances that needed the second step of exact boxes
    uint32_t conservative_count; // instances with conservative boxes
    uint64_t written_bytes;      // that the GPU reads from mapped memory
    uint64_t copied_bytes;       // by transfer commands, tables that grew included
    uint32_t dispatch_count;
    uint32_t barrier_count;
} pelt_vk_statistics;

// Records uploads and the passes for everything that was marked since the last call, outside a render pass; nothing at
// all when nothing was. frame must be greater than in any call before. The command buffer must be submitted once, to a
// queue with compute (and transfer) that runs the scene's command buffers in the order of their frames, before anything
// that was recorded here can be relied on. statistics may be NULL. Errors, with nothing recorded and every mark kept:
// ARGUMENT, LIMIT, MEMORY, DEVICE.
PELT_VULKAN_API pelt_result pelt_vk_record(pelt_vk_scene *scene, VkCommandBuffer cmd, uint64_t frame,
                                           pelt_vk_statistics *statistics, pelt_error *error);

// Where pelt_vk_record_timed writes timestamps: each once everything before it is done.
enum {
    PELT_VK_TIMESTAMP_BEGIN = 0, // all that was submitted before the record's own commands
    PELT_VK_TIMESTAMP_UPLOADS,   // copies
    PELT_VK_TIMESTAMP_PALETTES,  // palettes
    PELT_VK_TIMESTAMP_ITEMS,     // the list of work items, where it is made; it begins while palettes are computed
    PELT_VK_TIMESTAMP_SKIN,      // skin pass, and conservative boxes
    PELT_VK_TIMESTAMP_REDUCE,    // second step of exact boxes, and the releasing barrier
    PELT_VK_TIMESTAMP_COUNT
};

// Queries [first, first + PELT_VK_TIMESTAMP_COUNT) of a pool of VK_QUERY_TYPE_TIMESTAMP.
typedef struct pelt_vk_timestamps {
    VkQueryPool pool; // VK_NULL_HANDLE = no timestamps
    uint32_t first;
    uint32_t left_out; // bit i: timestamp i is not written. Each one waits, which takes time of its own
} pelt_vk_timestamps;

// pelt_vk_record with timestamps: all that are not left out, also where a step, or everything, has nothing to do. The
// queries must have been reset, and the queue family must have timestamps (timestampValidBits is not 0). timestamps may
// be NULL. In a record that is refused none is written.
PELT_VULKAN_API pelt_result pelt_vk_record_timed(pelt_vk_scene *scene, VkCommandBuffer cmd, uint64_t frame,
                                                 const pelt_vk_timestamps *timestamps, pelt_vk_statistics *statistics,
                                                 pelt_error *error);
// Says that the GPU has finished every frame up to and including this one, and readers of its outputs too: what they
// used can be reused.
PELT_VULKAN_API void pelt_vk_retire(pelt_vk_scene *scene, uint64_t frame);

#ifdef __cplusplus
}
#endif
#endif
