// SPDX-License-Identifier: MIT
// Compiles, links and calls the Vulkan backend without any Vulkan library.
#include <pelt/vulkan.h>

#include <stdio.h>

int main(void)
{
    pelt_vk_support support;
    pelt_error error;
    pelt_result result = pelt_vk_requirements(NULL, &support, &error);
    printf("%s: %s\n", pelt_result_name(result), error.message);
    pelt_vk_context_destroy(NULL);
    return result == PELT_ERROR_ARGUMENT && !support.usable ? 0 : 1;
}
