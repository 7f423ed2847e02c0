# Owns: what a user of the library gets: its headers, the layers merged into one static and one shared library, and what
# tells CMake and pkg-config where these lie.
# Must never: show a user a header or a symbol that is not of api's public headers.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/varve")

set(layer_objects)
get_property(layers GLOBAL PROPERTY VARVE_LAYERS)
foreach(layer IN LISTS layers)
  list(APPEND layer_objects "$<TARGET_OBJECTS:varve_${layer}>")
endforeach()

# varve_merged_library(<kind> STATIC|SHARED): the target varve_<kind>, installed as varve::varve_<kind>.
function(varve_merged_library kind type)
  set(target "varve_${kind}")
  add_library(${target} ${type} ${layer_objects})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME varve
    LINKER_LANGUAGE CXX
    VERSION "${PROJECT_VERSION}"
    SOVERSION "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")  # before 1.0 each minor version may break
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_include_directories(${target} INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_link_libraries(${target} PRIVATE Threads::Threads PkgConfig::uring PkgConfig::xxhash PkgConfig::zstd)
  install(TARGETS ${target} EXPORT varve-${kind}-targets)
  install(EXPORT varve-${kind}-targets NAMESPACE varve:: DESTINATION "${package_dir}")
endfunction()

# Without this, a program that links the library is seven times as large, most of it a description of our sources.
# Names of functions stay.
function(varve_without_debug_information target)
  if(CMAKE_STRIP)
    add_custom_command(TARGET ${target} POST_BUILD VERBATIM
      COMMAND "${CMAKE_STRIP}" --strip-debug "$<TARGET_FILE:${target}>")
  endif()
endfunction()

varve_merged_library(static STATIC)
varve_without_debug_information(varve_static)
varve_merged_library(shared SHARED)
set(exported_symbols "${CMAKE_CURRENT_LIST_DIR}/libvarve.map")
target_link_options(varve_shared PRIVATE
  -Wl,--no-undefined -Wl,--exclude-libs,ALL "-Wl,--version-script=${exported_symbols}")
set_target_properties(varve_shared PROPERTIES LINK_DEPENDS "${exported_symbols}")

# varve_side_package(<name> HEADERS <folder> OBJECTS <target>... LINKS <target>...): varve_<name>, which goes with one of them.
function(varve_side_package name)
  if(NOT TARGET varve_${name})
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 side "" "HEADERS" "OBJECTS;LINKS")
  set(target "varve_${name}_package")
  list(TRANSFORM side_OBJECTS REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  add_library(${target} STATIC ${side_OBJECTS})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME varve_${name} EXPORT_NAME ${name} LINKER_LANGUAGE CXX)
  target_compile_features(${target} INTERFACE cxx_std_20)
  varve_without_debug_information(${target})
  target_link_libraries(${target} INTERFACE ${side_LINKS})
  install(TARGETS ${target} EXPORT varve-${name}-targets)
  install(EXPORT varve-${name}-targets NAMESPACE varve:: DESTINATION "${package_dir}")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${side_HEADERS}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/varve"
    FILES_MATCHING PATTERN "*.h")
endfunction()

# These two need nothing of the core but what its public headers show, and go with the static and the shared library.
varve_side_package(security HEADERS api/include/varve/security OBJECTS varve_security LINKS OpenSSL::Crypto)
varve_side_package(encryption HEADERS api/include/varve/encryption OBJECTS varve_encryption LINKS OpenSSL::Crypto)
# The simulator and the connection to Ceph implement interfaces of the core, so they go with the static library alone.
varve_side_package(testing HEADERS api/testing/include/varve/ OBJECTS varve_testing varve_simulated)
varve_side_package(ceph HEADERS api/rados/include/varve/ OBJECTS varve_ceph varve_rados)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/api/include/varve" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h" PATTERN security EXCLUDE PATTERN encryption EXCLUDE)

# All that an installation copies, beside the program.
add_custom_target(varve_installed DEPENDS varve_static varve_shared)
foreach(name IN ITEMS security encryption testing ceph)
  if(TARGET varve_${name}_package)
    add_dependencies(varve_installed varve_${name}_package)
  endif()
endforeach()

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/varve-config.cmake.in"
  "${PROJECT_BINARY_DIR}/package/varve-config.cmake" INSTALL_DESTINATION "${package_dir}"
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/varve-config-version.cmake"
  VERSION "${PROJECT_VERSION}" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/varve-config.cmake" "${PROJECT_BINARY_DIR}/package/varve-config-version.cmake"
  DESTINATION "${package_dir}")

# From the directory of varve.pc up to the prefix, wherever that is when it is installed.
file(RELATIVE_PATH VARVE_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file("${CMAKE_CURRENT_LIST_DIR}/varve.pc.in" "${PROJECT_BINARY_DIR}/package/varve.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/varve.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

if(TARGET varve)
  install(TARGETS varve)
endif()
# The program writes its own manual pages and completions.
if(TARGET varve AND VARVE_BUILD_SERVER AND NOT CMAKE_CROSSCOMPILING)
  set(manual "${PROJECT_BINARY_DIR}/manual")
  add_custom_command(OUTPUT "${manual}/written"
    COMMAND varve manual "${manual}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${manual}/written"
    DEPENDS varve VERBATIM)
  add_custom_target(varve_manual ALL DEPENDS "${manual}/written")
  add_dependencies(varve_installed varve_manual)
  install(DIRECTORY "${manual}/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}")
  install(DIRECTORY "${manual}/bash-completion" "${manual}/fish" "${manual}/zsh" DESTINATION "${CMAKE_INSTALL_DATADIR}")
endif()
# The licence goes wherever the library goes: Apache-2.0 asks for both files, and so do the licences of what is inside.
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/NOTICE" "${PROJECT_SOURCE_DIR}/README.md"
  "${PROJECT_SOURCE_DIR}/FORMAT.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}")
# README.md links to these pages and shows a picture of theirs.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png")
