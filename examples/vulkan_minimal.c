// SPDX-License-Identifier: MIT
// Skins the first mesh of a .pelt file on the first Vulkan device, at half a second of its first clip, and prints its
// exact box. The device is created with what the library requires and nothing else. usage: vulkan_minimal FILE.pelt
#include <pelt/pose.h>
#include <pelt/vulkan.h>

#include <stdio.h>
#include <stdlib.h>

static pelt_error e; // of the call that failed
#define CHECK(fine, what) ((fine) ? (void)0 : (fprintf(stderr, "vulkan_minimal: %s\n", what), exit(1)))
#define VK(call) CHECK((call) == VK_SUCCESS, #call)
#define PELT(call) CHECK((call) == PELT_OK, e.message)

static VkDevice create_device(pelt_vk_physical *physical, uint32_t *family)
{
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = physical->api_version};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    VK(vkCreateInstance(&info, NULL, &physical->instance));
    uint32_t count = 1;
    vkEnumeratePhysicalDevices(physical->instance, &count, &physical->device);
    CHECK(count == 1, "there is no Vulkan device");
    pelt_vk_support support;
    pelt_vk_features features;
    PELT(pelt_vk_requirements(physical, &support, &e)); // the error names what is missing
    VkQueueFamilyProperties families[16];
    count = 16;
    vkGetPhysicalDeviceQueueFamilyProperties(physical->device, &count, families);
    for (*family = 0; !(families[*family].queueFlags & VK_QUEUE_COMPUTE_BIT); ++*family) {
    } // there is such a family: it was required
    VkDeviceQueueCreateInfo queue = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, NULL, 0, *family, 1, &(float){1.0F}};
    VkDeviceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1};
    create.pQueueCreateInfos = &queue;
    create.pNext = pelt_vk_features_chain(&support, false, NULL, &features);
    create.enabledExtensionCount = support.required_extension_count;
    create.ppEnabledExtensionNames = support.extensions;
    VkDevice device;
    VK(vkCreateDevice(physical->device, &create, NULL, &device));
    return device;
}

// The first primitive of the first mesh in the scene, posed.
static pelt_vk_instance add_instance(pelt_vk_scene *scene, const pelt_cooked_data *data, const pelt_pose *pose)
{
    const pelt_asset_data *asset = pelt_asset_get(pelt_pose_asset(pose));
    CHECK(asset->instance_count > 0, "there is no mesh in the scene");
    const pelt_instance *placed = &asset->instances[0];
    bool rigid = placed->skin == PELT_NONE; // follows its node, like a skin of one joint
    const pelt_skin *skin = rigid ? NULL : &asset->skins[placed->skin];
    uint32_t first = 0; // primitive of the mesh
    for (; first < data->primitive_count && data->primitives[first].mesh != placed->mesh; first++) {
    }
    pelt_vk_skin vk_skin;
    pelt_vk_instance_options options = {.rigid = rigid, .omit = PELT_VK_OMIT_PREVIOUS};
    pelt_vk_instance instance;
    pelt_mat34 *worlds; // where the GPU reads them
    PELT(pelt_vk_mesh_add(scene, data, first, &options.mesh, &e));
    PELT(pelt_vk_skin_add(scene, rigid ? NULL : skin->inverse_binds, rigid ? 1 : skin->joint_count, &vk_skin, &e));
    PELT(pelt_vk_palette_add(scene, vk_skin, &options.palette, &e));
    PELT(pelt_vk_instance_add(scene, &options, &instance, &e));
    PELT(pelt_vk_palette_write(scene, options.palette, &worlds, &e));
    for (uint32_t j = 0; j < (rigid ? 1 : skin->joint_count); j++) {
        worlds[j] = pelt_pose_world(pose, rigid ? placed->node : skin->joints[j]);
    }
    uint32_t weight_count = asset->nodes[placed->node].weight_count;
    CHECK(!pelt_vk_instance_set_weights(scene, instance, pelt_pose_weights(pose, placed->node), weight_count), "morph");
    return instance;
}

// A buffer for one box, mapped for the CPU.
static VkBuffer create_readback(VkPhysicalDevice physical, VkDevice device, VkDeviceMemory *memory, void **box)
{
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = sizeof(pelt_box)};
    info.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    VkBuffer buffer;
    VkMemoryRequirements needs;
    VkPhysicalDeviceMemoryProperties has;
    VK(vkCreateBuffer(device, &info, NULL, &buffer));
    vkGetBufferMemoryRequirements(device, buffer, &needs);
    vkGetPhysicalDeviceMemoryProperties(physical, &has);
    const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    for (; !(needs.memoryTypeBits >> type & 1) || (has.memoryTypes[type].propertyFlags & wanted) != wanted; type++) {
    } // there is such a type: Vulkan promises it
    VkMemoryAllocateInfo allocate = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, NULL, needs.size, type};
    VK(vkAllocateMemory(device, &allocate, NULL, memory));
    VK(vkBindBufferMemory(device, buffer, *memory, 0));
    VK(vkMapMemory(device, *memory, 0, VK_WHOLE_SIZE, 0, box));
    return buffer;
}

int main(int argument_count, char **arguments)
{
    pelt_cooked *cooked;
    pelt_asset *asset;
    pelt_pose *pose;
    CHECK(argument_count == 2, "usage: vulkan_minimal FILE.pelt");
    PELT(pelt_cooked_open_file(arguments[1], NULL, &cooked, &e));
    PELT(pelt_cooked_import(cooked, &asset, &e));
    CHECK(pelt_pose_create(asset, NULL, &pose) == PELT_OK, "out of memory");
    pelt_clip_sample(asset, 0, 0.5, pelt_pose_locals(pose)); // without clips the pose stays as it rests
    pelt_pose_update(pose, NULL);

    uint32_t family = 0;
    pelt_vk_context_options options = {.physical = {vkGetInstanceProcAddr, NULL, VK_API_VERSION_1_2, NULL}};
    VkDevice device = options.device = create_device(&options.physical, &family);
    pelt_vk_context *context;
    pelt_vk_scene *scene;
    PELT(pelt_vk_context_create(&options, &context, &e));
    PELT(pelt_vk_scene_create(context, NULL, &scene, &e));
    pelt_vk_instance instance = add_instance(scene, pelt_cooked_get(cooked), pose);
    VkDeviceMemory memory;
    void *box;
    VkBuffer readback = create_readback(options.physical.device, device, &memory, &box);
    VkCommandPool pool;
    VkCommandBuffer cmd;
    VkCommandPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, NULL, 0, family};
    VK(vkCreateCommandPool(device, &pool_info, NULL, &pool));
    VkCommandBufferAllocateInfo cmd_info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, NULL, pool, 0, 1};
    VK(vkAllocateCommandBuffers(device, &cmd_info, &cmd));
    VK(vkBeginCommandBuffer(cmd, &(VkCommandBufferBeginInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO}));
    PELT(pelt_vk_record(scene, cmd, 1, NULL, &e));
    pelt_vk_view view;
    CHECK(pelt_vk_instance_view(scene, instance, &view) == PELT_OK, "the instance is gone");
    vkCmdCopyBuffer(cmd, view.box.buffer, readback, 1, &(VkBufferCopy){view.box.offset, 0, sizeof(pelt_box)});
    VkMemoryBarrier b = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT};
    b.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(cmd, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &b, 0, NULL, 0, NULL);
    VK(vkEndCommandBuffer(cmd));
    VkQueue queue;
    vkGetDeviceQueue(device, family, 0, &queue);
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &cmd};
    VK(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE));
    VK(vkQueueWaitIdle(queue));
    for (int k = 0; k < 6; k++) {
        printf("%s %.9g%s", k % 3 ? "" : k ? " max" : "min", (double)((float *)box)[k], k < 5 ? "" : "\n");
    }
    pelt_vk_scene_destroy(scene);
    pelt_vk_context_destroy(context);
    vkDestroyBuffer(device, readback, NULL);
    vkFreeMemory(device, memory, NULL);
    vkDestroyCommandPool(device, pool, NULL);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(options.physical.instance, NULL);
    pelt_pose_destroy(pose);
    pelt_asset_destroy(asset);
    pelt_cooked_close(cooked);
    return 0;
}
