# Owns: what a layer is: one static library, and a tree of headers that holds only what the layer may know.
#
# The tree, build/<preset>/include/<layer>/, is made of links into the source. A layer is compiled with this directory
# alone on its include path, so an include against the direction of the layers does not build; tests/layers_test.cc
# reads the includes as well and names the offending line. Layers pass no include directory on to those who link them.

# The leaf headers that every layer may include.
set(VARVE_LEAF_HEADERS varve/version.h varve/status.h varve/result.h varve/durability.h varve/date_time.h
  varve/property_type.h varve/statistics.h varve/repair.h)

# varve_link_into_tree(<tree> <path in the tree> <path in the source>)
function(varve_link_into_tree tree name path)
  get_filename_component(parent "${tree}/${name}" DIRECTORY)
  file(MAKE_DIRECTORY "${parent}")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${path}" "${tree}/${name}" SYMBOLIC)
endfunction()

# varve_layer(<name> SEES <layer>... LINKS <target>... [WITHOUT <directory>...] [READS <header>...]): the library
# varve_<name> of every *.cc below <name>/, save for those below <name>/<directory>/, which are another library's. READS
# are the headers that most of these files read, by whatever way.
function(varve_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "" "" "SEES;LINKS;WITHOUT;READS")
  set(target "varve_${name}")
  set(tree "${PROJECT_BINARY_DIR}/include/${name}")

  file(REMOVE_RECURSE "${tree}")  # removes the links, never what they point to
  foreach(visible IN ITEMS ${name} ${layer_SEES})
    varve_link_into_tree("${tree}" "${visible}" "${visible}")
  endforeach()
  if("${name}" STREQUAL "api")
    varve_link_into_tree("${tree}" varve api/include/varve)
  else()
    foreach(leaf IN LISTS VARVE_LEAF_HEADERS)
      varve_link_into_tree("${tree}" "${leaf}" "api/include/${leaf}")
    endforeach()
  endif()

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${name}/*.cc")
  foreach(directory IN LISTS layer_WITHOUT)
    list(FILTER sources EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/${name}/${directory}/")
  endforeach()
  if(NOT sources)
    set(empty "${PROJECT_BINARY_DIR}/generated/${name}_has_no_source.cc")
    file(WRITE "${empty}.in" "// This layer is headers only.\n")
    configure_file("${empty}.in" "${empty}" COPYONLY)
    set(sources "${empty}")
  endif()

  add_library(${target} STATIC ${sources})
  add_library(varve::${name} ALIAS ${target})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PRIVATE "${tree}")
  # The objects go into libvarve.so too; api's public headers say what is visible there.
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  # Debug information, asserts and coverage name the source, not the link to it.
  target_compile_options(${target} PRIVATE
    "-ffile-prefix-map=${tree}/=${PROJECT_SOURCE_DIR}/"
    "-ffile-prefix-map=${tree}/varve/=${PROJECT_SOURCE_DIR}/api/include/varve/"
    "$<$<BOOL:${VARVE_COVERAGE}>:-fcoverage-prefix-map=${tree}/=${PROJECT_SOURCE_DIR}/>"
    "$<$<BOOL:${VARVE_COVERAGE}>:-fcoverage-prefix-map=${tree}/varve/=${PROJECT_SOURCE_DIR}/api/include/varve/>")
  set(is_unity "${CMAKE_UNITY_BUILD}")
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    # Of a large file GCC inlines less: a scan of a partition takes 17 percent more instructions then, a get 7.
    set(is_unity OFF)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD "${is_unity}")
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    # tools/dev/tidy spends two thirds of its time with sixteen files on what they include. So a name of a source file
    # alone is one of its layer, too.
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 50)
  endif()
  if(NOT is_unity AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    # Reading headers takes three fifths of such a build. Not where tools/dev/tidy reads: Clang's tool has no use for them, and
    # finds an include that is missing.
    list(TRANSFORM layer_READS REPLACE "^(.+)$" "<\\1>")
    target_precompile_headers(${target} PRIVATE
      <algorithm> <array> <atomic> <chrono> <functional> <map> <memory> <optional> <span> <string> <vector> ${layer_READS})
  endif()
  target_link_libraries(${target} PUBLIC ${layer_LINKS})
  varve_house_rules(${target})
  set_property(GLOBAL APPEND PROPERTY VARVE_LAYERS ${name})
  set_property(GLOBAL PROPERTY VARVE_INCLUDE_TREE_${name} "${tree}")
endfunction()
