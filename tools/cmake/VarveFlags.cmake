# Owns: how everything of ours is compiled: warnings, asserts, sanitizers, coverage. One interface target,
# varve_flags, carries it, so that a program that embeds the store inherits none of it.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, RelWithDebInfo or Release" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g -DNDEBUG")

# A second build of nearly the same tree takes a fraction of the first where ccache is installed. Another launcher, or an
# empty one, is respected. Precompiled headers need the first two of these settings, generated files the others.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(VARVE_CCACHE ccache DOC "Compiler cache; VARVE_CCACHE=OFF builds without it")
  if(VARVE_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime "${VARVE_CCACHE}")
  endif()
endif()

add_library(varve_flags INTERFACE)
target_compile_options(varve_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual
  -Werror
  -UNDEBUG                    # asserts guard our own mistakes and stay in release builds
  -fno-omit-frame-pointer)    # a profile or a crash report without frames is worth little

if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(varve_flags INTERFACE -Wthread-safety)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 guesses wrong on these two in optimised builds: std::optional looks uninitialised, std::string + looks
  # overlapping. Clang's flow analysis and the sanitizers find the true ones.
  target_compile_options(varve_flags INTERFACE -Wno-maybe-uninitialized -Wno-restrict)
  # GCC collects its garbage each time its heap has grown by a third from 4 MiB on; started at 512 MiB (in KiB here) it
  # seldom collects at all, which takes about a seventh off the build for a few hundred MiB a compiler.
  target_compile_options(varve_flags INTERFACE --param=ggc-min-heapsize=524288)
  if(CMAKE_UNITY_BUILD)
    # A class of a source file may have members of types that are local to the file; here GCC takes it for a header.
    target_compile_options(varve_flags INTERFACE -Wno-subobject-linkage)
  endif()
endif()
if(VARVE_VERIFY)
  target_compile_definitions(varve_flags INTERFACE VARVE_VERIFY=1)
endif()

if(VARVE_SANITIZE)
  target_compile_options(varve_flags INTERFACE -g1)  # names and lines are enough there, and cost less time
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    find_program(VARVE_LLD NAMES ld.lld-14 ld.lld DOC "LLVM's linker, which links these large programs in a fraction of the time")
    if(VARVE_LLD)
      target_link_options(varve_flags INTERFACE "--ld-path=${VARVE_LLD}")
    endif()
  endif()
  target_compile_options(varve_flags INTERFACE "-fsanitize=${VARVE_SANITIZE}" -fno-sanitize-recover=all)
  target_link_options(varve_flags INTERFACE "-fsanitize=${VARVE_SANITIZE}")
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND VARVE_SANITIZE MATCHES "undefined")
    # What Clang 14 puts before functions for this check it cannot put before the parts of a coroutine.
    target_compile_options(varve_flags INTERFACE -fno-sanitize=function)
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND VARVE_SANITIZE STREQUAL "thread")
    # Clang links the run-time library with an operator new that cannot be replaced, and tests count allocations by
    # replacing it: so the library is linked by hand, without that part.
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.tsan-x86_64.a
      OUTPUT_VARIABLE tsan_runtime OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    target_link_options(varve_flags INTERFACE -fno-sanitize-link-runtime
      "LINKER:--whole-archive,${tsan_runtime},--no-whole-archive,--export-dynamic")
    target_link_libraries(varve_flags INTERFACE dl rt m pthread resolv)
  endif()
  target_compile_definitions(varve_flags INTERFACE _GLIBCXX_ASSERTIONS)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The instrumentation makes GCC 12 see accesses out of bounds that the plain build shows are not there.
    target_compile_options(varve_flags INTERFACE -Wno-array-bounds -Wno-stringop-overflow)
  endif()
endif()

if(VARVE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "VARVE_FUZZ needs Clang for libFuzzer; configure with: cmake --preset fuzz")
  endif()
  target_compile_options(varve_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

if(VARVE_COVERAGE)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "VARVE_COVERAGE needs Clang for llvm-cov; use: tools/dev/coverage")
  endif()
  # Atomic: of counts that threads race on, those of branches, which are differences, would not be true. Relocated: they
  # can lie in the profile's file, so that a process that is killed, or that ends without a word, is counted too.
  target_compile_options(varve_flags INTERFACE -fprofile-instr-generate -fcoverage-mapping -fprofile-update=atomic
    "SHELL:-mllvm -runtime-counter-relocation")
  target_link_options(varve_flags INTERFACE -fprofile-instr-generate)
endif()

# Optimised builds are hardened: a stack that was overwritten, or a C function that would write past the end of its
# buffer, ends the process. Sanitizers see more. A target that is compiled without optimisation sets
# VARVE_NOT_HARDENED.
set(VARVE_HARDENED OFF)
if(CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$" AND
    NOT (VARVE_SANITIZE OR VARVE_FUZZ OR VARVE_COVERAGE))
  set(VARVE_HARDENED ON)
  foreach(option IN ITEMS -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
    target_compile_options(varve_flags INTERFACE
      "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:VARVE_NOT_HARDENED>>>:${option}>")
  endforeach()
endif()

# Gives a target of ours the house's flags.
function(varve_house_rules target)
  target_link_libraries(${target} PRIVATE varve_flags)
endfunction()

# Gives a program of ours a random place in memory, pointers to libraries that are read-only once it runs, and a stack
# that holds no code.
function(varve_hardened_program target)
  target_link_options(${target} PRIVATE "LINKER:-z,relro,-z,now,-z,noexecstack")
  if(VARVE_HARDENED)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_link_options(${target} PRIVATE -pie)
  endif()
endfunction()
