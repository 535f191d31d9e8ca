# Install rules, the CMake package (find_package(Pelt)) and the pkg-config files pelt, pelt-import and
# pelt-vulkan.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Pelt)
set_target_properties(pelt_vulkan PROPERTIES EXPORT_NAME vulkan)
add_library(Pelt::pelt ALIAS pelt)
add_library(Pelt::vulkan ALIAS pelt_vulkan)
if(PELT_IMPORT)
  set_target_properties(pelt_import PROPERTIES EXPORT_NAME import)
  add_library(Pelt::import ALIAS pelt_import)
endif()

install(TARGETS ${PELT_LIBRARIES} EXPORT PeltTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/pelt DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT PeltTargets NAMESPACE Pelt:: DESTINATION ${package_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/PeltConfig.cmake.in ${PROJECT_BINARY_DIR}/PeltConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/PeltConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/PeltConfig.cmake ${PROJECT_BINARY_DIR}/PeltConfigVersion.cmake
  DESTINATION ${package_dir})

# A static archive carries no dependencies of its own, so its users link them.
if(BUILD_SHARED_LIBS)
  if(WIN32)
    set(pc_flags " -DPELT_SHARED")
  endif()
else()
  set(pc_runtime_libs " -lm")
  if(NOT WIN32)
    string(PREPEND pc_runtime_libs " -pthread")
  endif()
  set(pc_import_libs " -ljansson -lmeshoptimizer -lm")
  set(pc_vulkan_libs " -lm")
endif()
# Folders are told from where the file itself lies, so that any prefix given at installation holds and an installed tree
# can be moved; but distributions may give absolute ones.
set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  file(RELATIVE_PATH pc_up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" pc_up "${pc_up}")
  set(pc_prefix "\${pcfiledir}/${pc_up}")
endif()
foreach(folder LIBDIR INCLUDEDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
    set(pc_${folder} "${CMAKE_INSTALL_${folder}}")
  else()
    set(pc_${folder} "\${prefix}/${CMAKE_INSTALL_${folder}}")
  endif()
endforeach()
foreach(library ${PELT_LIBRARIES})
  string(REPLACE _ - name ${library})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

if(PELT_TOOLS)
  install(TARGETS pelt_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(NOT CMAKE_CROSSCOMPILING)
    install(FILES ${PROJECT_BINARY_DIR}/cli/pelt.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endif()
endif()
