# Headers that are the same for every processor and system. A cross build that finds none of its own takes those of the
# machine that builds: through a folder of links, since the folder they lie in holds that machine's C library as well.
#
# pelt_find_headers(VARIABLE HEADER PACKAGE NAME...): VARIABLE becomes the folder of HEADER. NAMEs are the files and folders
# that belong to it.
function(pelt_find_headers variable header package)
  find_path(${variable} ${header} DOC "Folder of ${header}")
  if(NOT ${variable} AND CMAKE_CROSSCOMPILING)
    find_path(host_folder ${header} PATHS /usr/include /usr/local/include NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH NO_CACHE)
    set(links ${PROJECT_BINARY_DIR}/host-headers)
    file(MAKE_DIRECTORY ${links})
    foreach(name ${ARGN})
      if(host_folder AND EXISTS ${host_folder}/${name})
        file(CREATE_LINK ${host_folder}/${name} ${links}/${name} SYMBOLIC)
      endif()
    endforeach()
    if(host_folder)
      set_property(CACHE ${variable} PROPERTY VALUE ${links})
    endif()
  endif()
  if(NOT ${variable})
    message(FATAL_ERROR "${header} is missing; on Debian: apt-get install ${package}")
  endif()
endfunction()

pelt_find_headers(PELT_XXHASH_HEADERS xxhash.h libxxhash-dev xxhash.h xxh3.h)
pelt_find_headers(PELT_VULKAN_HEADERS vulkan/vulkan_core.h libvulkan-dev vulkan vk_video)
