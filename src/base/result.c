// SPDX-License-Identifier: MIT
// Names of the result codes and the version text.
#include "base/base.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

const char *pelt_result_name(pelt_result result)
{
    switch (result) {
    case PELT_OK:
        return "OK";
    case PELT_ERROR_ARGUMENT:
        return "ARGUMENT";
    case PELT_ERROR_IO:
        return "IO";
    case PELT_ERROR_INVALID:
        return "INVALID";
    case PELT_ERROR_UNSUPPORTED:
        return "UNSUPPORTED";
    case PELT_ERROR_LIMIT:
        return "LIMIT";
    case PELT_ERROR_MEMORY:
        return "MEMORY";
    case PELT_ERROR_DEVICE:
        return "DEVICE";
    }
    return "UNKNOWN";
}

const char *pelt_version(void)
{
    return TEXT(PELT_VERSION_MAJOR) "." TEXT(PELT_VERSION_MINOR) "." TEXT(PELT_VERSION_PATCH);
}
