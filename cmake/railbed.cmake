# SPDX-License-Identifier: Apache-2.0
# How every folder of src/ becomes a library, a unit-test program and its fuzz targets.
#
#   railbed_library(doc DEPS base LIBS ${YAML_ARCHIVE})
#
# takes all *.cc of the folder, and of the folders in it that FOLDERS names: foo.cc goes into the library, foo_test.cc into one GoogleTest program `doc_test` (with
# RAILBED_TESTS), foo_fuzz.cc becomes the libFuzzer program `foo_fuzz` (with RAILBED_FUZZ). A folder may use exactly the
# folders named in DEPS (and theirs), so that a wrong call across rooms fails to link. ALONE names files that cannot share
# a translation unit with others of their room, APART those that share one with each other only; the folder says why.
#
# Without RAILBED_TESTS nothing asks for GoogleTest, rapidcheck or Google Benchmark: the program builds on a machine that
# has only the packages of `tools/setup build`.

include(${CMAKE_CURRENT_LIST_DIR}/embed.cmake)

find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(Threads REQUIRED)
if(RAILBED_TESTS)
  find_package(GTest REQUIRED)
  find_library(RAPIDCHECK rapidcheck REQUIRED)
endif()

set(RAILBED_WARNINGS -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers -Werror)
add_library(railbed_flags INTERFACE)
target_include_directories(railbed_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
# No path of the clone is in an object: equal sources have equal bytes (the compiler cache, the record of tests/run).
target_compile_options(railbed_flags INTERFACE ${RAILBED_WARNINGS} -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
target_compile_definitions(railbed_flags INTERFACE RAILBED_VERSION="${PROJECT_VERSION}")
target_link_libraries(railbed_flags INTERFACE railbed_hardening fmt::fmt Threads::Threads)
target_link_options(railbed_flags INTERFACE -fuse-ld=$<IF:$<BOOL:$<TARGET_PROPERTY:RAILBED_PACK_RELOCATIONS>>,bfd,mold>)
if(RAILBED_SANITIZE)
  # libstdc++ 12's std::stable_sort calls what it has deprecated itself, and clang warns.
  target_compile_options(railbed_flags INTERFACE -fsanitize=${RAILBED_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all -Wno-deprecated-declarations)
  target_link_options(railbed_flags INTERFACE -fsanitize=${RAILBED_SANITIZE})
endif()
if(RAILBED_FUZZ)
  add_custom_target(fuzz_targets)
endif()

# The sanitizers' builds are not optimized, which halves their time, but for the rooms that fuzzers and sweeps run through a
# million times (HOT; ThreadSanitizer's build has none).
set(RAILBED_HOT_OPTIONS -O1)
if(RAILBED_SANITIZE STREQUAL "thread")
  set(RAILBED_HOT_OPTIONS -O0)
endif()

# In batches, the files of a room are compiled 40 at a time: most of a compiler's time goes into the headers that they share.
# `make build` and `make test` do it; who changes one file compiles that one (tools/build dev). The batch of a file is decided by
# its name, so that a new file changes one batch. A batch includes its files by relative paths: it is the same text in every clone,
# which is what the compiler cache compares.
#
# The linker takes from a library the objects that a program calls. So the programs' batches are made of one folder of a room each,
# and files that bring a library which only some programs load are APART (tests/tools/hardening compares what the programs load).
option(RAILBED_BATCHES "Compile 40 files of a room at a time" OFF)
set(RAILBED_BATCH_SIZE 40)

# Replaces the sources in the list VARIABLE by batches, but for those that are not called *.cc or are named behind.
function(railbed_batches variable name) # VARIABLE NAME [ALONE...]
  if(NOT RAILBED_BATCHES)
    return()
  endif()
  set(result)
  set(files)
  foreach(source ${${variable}})
    get_filename_component(path ${source} ABSOLUTE)
    get_filename_component(file ${source} NAME)
    if(file IN_LIST ARGN OR NOT file MATCHES "\\.cc$")
      list(APPEND result ${source})
    else()
      list(APPEND files ${path})
    endif()
  endforeach()
  list(LENGTH files count)
  if(count LESS 2)
    return()
  endif()
  math(EXPR batches "(${count} + ${RAILBED_BATCH_SIZE} - 1) / ${RAILBED_BATCH_SIZE}")
  foreach(path ${files})
    file(RELATIVE_PATH key ${PROJECT_SOURCE_DIR} ${path})
    string(SHA1 digest ${key})
    string(SUBSTRING ${digest} 0 6 digest)
    math(EXPR batch "0x${digest} % ${batches}")
    file(RELATIVE_PATH include ${PROJECT_BINARY_DIR}/batches ${path})
    string(APPEND text_${batch} "#include \"${include}\"\n")
  endforeach()
  foreach(batch RANGE 1 ${batches})
    math(EXPR batch "${batch} - 1")
    if(text_${batch})
      set(file ${PROJECT_BINARY_DIR}/batches/${name}_${batch}.cc)
      file(CONFIGURE OUTPUT ${file} CONTENT "${text_${batch}}" @ONLY)
      list(APPEND result ${file})
    endif()
  endforeach()
  set(${variable} ${result} PARENT_SCOPE)
endfunction()

# The same, a folder of the room at a time, and the files that APART names by themselves.
function(railbed_folder_batches variable name) # VARIABLE NAME [ALONE files...] [APART files...]
  cmake_parse_arguments(ARG "" "" "ALONE;APART" ${ARGN})
  set(groups)
  foreach(source ${${variable}})
    get_filename_component(path ${source} ABSOLUTE)
    get_filename_component(file ${source} NAME)
    cmake_path(GET path PARENT_PATH group)
    cmake_path(GET group FILENAME group)
    if(file IN_LIST ARG_APART)
      set(group apart)
    endif()
    list(APPEND groups ${group})
    list(APPEND files_${group} ${source})
  endforeach()
  list(REMOVE_DUPLICATES groups)
  set(result)
  foreach(group ${groups})
    railbed_batches(files_${group} ${name}_${group} ${ARG_ALONE})
    list(APPEND result ${files_${group}})
  endforeach()
  set(${variable} ${result} PARENT_SCOPE)
endfunction()

if(RAILBED_TESTS)
  # Tests are not optimized outside the sanitizers' builds: what they test is, and half of their build time was the
  # optimizer's. File by file, they share a precompiled header with GoogleTest.
  add_library(test_flags INTERFACE)
  target_link_libraries(test_flags INTERFACE railbed_flags)
  if(NOT RAILBED_SANITIZE)
    target_compile_options(test_flags INTERFACE -O0 -U_FORTIFY_SOURCE)
  endif()
  if(NOT RAILBED_BATCHES)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_pch.cc CONTENT "")
    add_library(test_pch OBJECT ${PROJECT_BINARY_DIR}/test_pch.cc)
    target_link_libraries(test_pch PUBLIC test_flags GTest::gtest GTest::gmock)
    target_precompile_headers(test_pch PRIVATE <algorithm> <filesystem> <fstream> <functional> <map> <memory> <optional> <set>
      <sstream> <string> <variant> <vector> <fmt/format.h> <gtest/gtest.h> <gmock/gmock.h>)
  endif()
endif()
add_custom_target(unit_tests)
# Where the tests find testdata/ (base/testdata.h).
add_library(railbed_testdata STATIC EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/source_dir.cc)
target_link_libraries(railbed_testdata PRIVATE railbed_flags)

# A GoogleTest program NAME of SOURCES in FOLDER of the build, which links LIBS.
function(railbed_test name folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;ALONE" ${ARGN})
  railbed_batches(ARG_SOURCES ${name} ${ARG_ALONE})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE test_flags ${ARG_LIBS} railbed_testdata GTest::gmock)
  if(NOT RAILBED_BATCHES)
    target_precompile_headers(${name} REUSE_FROM test_pch)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
endfunction()

function(railbed_library name)
  cmake_parse_arguments(ARG "HOT" "" "FOLDERS;DEPS;LIBS;TEST_DEPS;ALONE;APART" ${ARGN})
  set(patterns ${ARG_FOLDERS})
  list(TRANSFORM patterns APPEND "/*.cc")
  file(GLOB all CONFIGURE_DEPENDS *.cc ${patterns})
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(fuzzers ${all})
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  set(sources ${all})
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz)\\.cc$")
  set(links ${ARG_DEPS})
  list(TRANSFORM links PREPEND railbed_)
  if(sources)
    if(RAILBED_SANITIZE)
      railbed_batches(sources ${name} ${ARG_ALONE})
    else()
      railbed_folder_batches(sources ${name} ALONE ${ARG_ALONE} APART ${ARG_APART})
    endif()
    add_library(railbed_${name} STATIC ${sources})
    target_link_libraries(railbed_${name} PUBLIC railbed_flags ${links} PRIVATE ${ARG_LIBS})
    if(RAILBED_SANITIZE AND ARG_HOT)
      target_compile_options(railbed_${name} PRIVATE ${RAILBED_HOT_OPTIONS})
    endif()
    # Coverage for the fuzzers costs a quarter of a compilation, so rooms without a fuzz target have none.
    if(RAILBED_FUZZ AND fuzzers)
      target_compile_options(railbed_${name} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
  else()
    add_library(railbed_${name} INTERFACE)
    target_link_libraries(railbed_${name} INTERFACE railbed_flags ${links})
  endif()
  if(tests AND RAILBED_TESTS)
    set(test_links ${ARG_TEST_DEPS})
    list(TRANSFORM test_links PREPEND railbed_)
    railbed_test(${name}_test tests SOURCES ${tests}
      LIBS railbed_${name} ${test_links} ${ARG_LIBS} GTest::gtest_main ${RAPIDCHECK} ALONE ${ARG_ALONE})
    add_dependencies(unit_tests ${name}_test)
  endif()
  if(RAILBED_FUZZ)
    foreach(fuzzer ${fuzzers})
      get_filename_component(fuzzer_name ${fuzzer} NAME_WE)
      add_executable(${fuzzer_name} ${fuzzer})
      add_dependencies(fuzz_targets ${fuzzer_name})
      target_link_libraries(${fuzzer_name} PRIVATE railbed_${name} ${ARG_LIBS})
      target_link_options(${fuzzer_name} PRIVATE -fsanitize=fuzzer)
      set_target_properties(${fuzzer_name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
    endforeach()
  endif()
endfunction()
