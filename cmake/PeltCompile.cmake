# Language level, warnings and sanitizers of every target.
function(pelt_compile_options target)
  target_compile_features(${target} PRIVATE c_std_17)
  set_target_properties(${target} PROPERTIES C_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wcast-align -Wdouble-promotion)
  target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L)
  if(PELT_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(PELT_SANITIZE)
    # Assertions belong to what a sanitizer build looks for, whatever the build type.
    target_compile_options(${target} PRIVATE -fsanitize=${PELT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
      -UNDEBUG)
    target_link_options(${target} PRIVATE -fsanitize=${PELT_SANITIZE})
  endif()
endfunction()
