// SPDX-License-Identifier: MIT
// The validation layer is really listening: mistakes made on purpose are reported, so that silence means something.
#include "peltt_vk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void create(peltt_vk *vk)
{
    peltt_vk_create(vk, NULL);
    if (!vk->validated) {
        peltt_vk_destroy(vk);
        skip();
    }
}

static void expect_message(peltt_vk *vk, const char *text)
{
    assert_true(vk->message_count > 0);
    if (!strstr(vk->first_message, text)) {
        fail_msg("%s", vk->first_message);
    }
    vk->message_count = 0;
}

static void core_checks_are_on(void **state)
{
    (void)state;
    peltt_vk vk;
    create(&vk);
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    VkBuffer buffer = VK_NULL_HANDLE;
    VkResult result = PELTT_VK(&vk, vkCreateBuffer)(vk.device, &info, NULL, &buffer);
    expect_message(&vk, "VUID-VkBufferCreateInfo-size-00912");
    if (result == VK_SUCCESS) {
        PELTT_VK(&vk, vkDestroyBuffer)(vk.device, buffer, NULL);
    }
    peltt_vk_destroy(&vk);
}

static void synchronization_checks_are_on(void **state)
{
    (void)state;
    peltt_vk vk;
    create(&vk);
    VkBufferUsageFlags usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    peltt_vk_buffer buffer = peltt_vk_buffer_create(&vk, 256, usage, false);
    VkCommandBuffer cmd = peltt_vk_begin(&vk);
    VkBufferCopy copy = {0, 128, 64};
    PELTT_VK(&vk, vkCmdFillBuffer)(cmd, buffer.buffer, 0, 64, 1);
    PELTT_VK(&vk, vkCmdCopyBuffer)(cmd, buffer.buffer, buffer.buffer, 1, &copy);
    expect_message(&vk, "SYNC-HAZARD-READ");
    peltt_vk_run(&vk, cmd);
    peltt_vk_buffer_destroy(&vk, &buffer);
    peltt_vk_destroy(&vk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(core_checks_are_on),
        cmocka_unit_test(synchronization_checks_are_on),
    };
    return cmocka_run_group_tests_name("vk_layer", tests, NULL, NULL);
}
