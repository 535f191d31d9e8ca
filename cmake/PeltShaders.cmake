# The shaders: compiled by glslc while building, embedded as C initialisers of 32-bit words.
find_program(PELT_GLSLC glslc DOC "Compiler of the shaders (shaderc)")
if(NOT PELT_GLSLC)
  message(FATAL_ERROR "glslc is missing; on Debian: apt-get install glslc")
endif()
file(STRINGS ${PELT_VULKAN_HEADERS}/vulkan/vulkan_core.h vulkan_1_3 REGEX "define VK_VERSION_1_3 ")
if(NOT vulkan_1_3)
  message(FATAL_ERROR "The Vulkan headers in ${PELT_VULKAN_HEADERS} are older than 1.3")
endif()

# NAME.comp becomes NAME.comp.inc, which TARGET may include. -O also drops names and other debug information.
function(pelt_embed_shaders target)
  set(folder ${PROJECT_BINARY_DIR}/shaders)
  file(MAKE_DIRECTORY ${folder})
  set(embedded)
  foreach(source ${ARGN})
    get_filename_component(name ${source} NAME)
    add_custom_command(OUTPUT ${folder}/${name}.inc
      COMMAND ${PELT_GLSLC} --target-env=vulkan1.2 -O -Werror -mfmt=c -MD -MF ${folder}/${name}.d -MT ${folder}/${name}.inc
        -o ${folder}/${name}.inc ${source}
      DEPENDS ${source} DEPFILE ${folder}/${name}.d VERBATIM
      COMMENT "Compiling ${name}")
    list(APPEND embedded ${folder}/${name}.inc)
  endforeach()
  target_sources(${target} PRIVATE ${embedded})
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
