# Language level, warnings and sanitizers of every target.
if(MINGW AND CMAKE_C_COMPILER_ID STREQUAL GNU)
  # GCC keeps 32- and 64-byte vectors on a stack that Windows aligns to 16 (GCC bug 54412), so the assembler must write moves
  # that work at any address; where the address is aligned they cost the same.
  include(CheckCCompilerFlag)
  check_c_compiler_flag(-Wa,-muse-unaligned-vector-move PELT_HAS_UNALIGNED_VECTOR_MOVE)
  if(NOT PELT_HAS_UNALIGNED_VECTOR_MOVE)
    message(FATAL_ERROR "Building for Windows with GCC needs binutils 2.38 or later (-muse-unaligned-vector-move)")
  endif()
endif()

function(pelt_compile_options target)
  target_compile_features(${target} PRIVATE c_std_17)
  set_target_properties(${target} PROPERTIES C_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wcast-align -Wdouble-promotion)
  target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L)
  if(MINGW)
    # isfinite and isnan of these headers convert a double to float in branches that are not taken.
    target_compile_options(${target} PRIVATE -Wno-float-conversion)
    target_compile_definitions(${target} PRIVATE __USE_MINGW_ANSI_STDIO=1)
    if(CMAKE_C_COMPILER_ID STREQUAL GNU)
      target_compile_options(${target} PRIVATE -Wa,-muse-unaligned-vector-move)
    endif()
  endif()
  if(PELT_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(PELT_SANITIZE)
    # Assertions belong to what a sanitizer build looks for, whatever the build type.
    target_compile_options(${target} PRIVATE -fsanitize=${PELT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
      -UNDEBUG)
    target_compile_definitions(${target} PRIVATE PELTI_SANITIZED)
    # GCC's documentation warns of false ones with sanitizers.
    target_compile_options(${target} PRIVATE $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    target_link_options(${target} PRIVATE -fsanitize=${PELT_SANITIZE})
  endif()
endfunction()
