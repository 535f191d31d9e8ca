# Toolchain: 64-bit Windows by Debian's gcc-mingw-w64-x86-64. Tests run under Wine where it is installed.
#   cmake -S . -B build/windows -G Ninja --toolchain cmake/mingw-w64.cmake
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)

set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# Debian's wine64 puts nothing on the path.
find_program(PELT_WINE NAMES wine64 wine PATHS /usr/lib/wine DOC "Wine, which runs the tests")
if(PELT_WINE)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${PELT_WINE})
endif()
