# SPDX-License-Identifier: Apache-2.0
# How every folder of src/ becomes a library, a unit-test program and its fuzz targets.
#
#   railbed_library(doc DEPS base LIBS ${YAML_ARCHIVE})
#
# takes all *.cc of the folder, and of the folders in it that FOLDERS names: foo.cc goes into the library, foo_test.cc into one GoogleTest program `doc_test` (with
# RAILBED_TESTS), foo_fuzz.cc becomes the libFuzzer program `foo_fuzz` (with RAILBED_FUZZ). A folder may use exactly the
# folders named in DEPS (and theirs), so that a wrong call across rooms fails to link.
#
# Without RAILBED_TESTS nothing asks for GoogleTest, rapidcheck or Google Benchmark: the program builds on a machine that
# has only the packages of `tools/setup build`.

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
target_compile_options(railbed_flags INTERFACE ${RAILBED_WARNINGS})
target_compile_definitions(railbed_flags INTERFACE RAILBED_VERSION="${PROJECT_VERSION}")
target_link_libraries(railbed_flags INTERFACE fmt::fmt Threads::Threads)
target_link_options(railbed_flags INTERFACE -fuse-ld=$<IF:$<BOOL:$<TARGET_PROPERTY:RAILBED_PACK_RELOCATIONS>>,bfd,mold>)
if(RAILBED_SANITIZE)
  # libstdc++ 12's std::stable_sort calls what it has deprecated itself, and clang tells.
  target_compile_options(railbed_flags INTERFACE -fsanitize=${RAILBED_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all -Wno-deprecated-declarations)
  target_link_options(railbed_flags INTERFACE -fsanitize=${RAILBED_SANITIZE})
endif()
# The libraries serve unit tests and fuzz targets: compiling them is most of the time.
if(RAILBED_FUZZ)
  target_compile_options(railbed_flags INTERFACE -fsanitize=fuzzer-no-link)
  add_custom_target(fuzz_targets)
endif()

# The sanitizers' builds are not optimized, which halves their time, but for the rooms that fuzzers and sweeps run through a
# million times (HOT; ThreadSanitizer's build has neither). What many files include is precompiled for them, our own headers
# too: those are made anew as a whole, by CI, and a third of clang's time went into the same headers. A developer's build has
# none of that: g++ would save a tenth and give false warnings about strings, and a change in a header would compile all.
if(RAILBED_SANITIZE)
  set(RAILBED_PRECOMPILED <algorithm> <array> <atomic> <charconv> <chrono> <deque> <expected> <functional> <map> <memory>
    <mutex> <optional> <ranges> <set> <span> <sstream> <stop_token> <string> <string_view> <thread> <utility> <variant>
    <vector> <fmt/format.h>)
  foreach(header base/error.h base/types.h doc/value.h doc/diagnostic.h doc/field.h doc/json.h os/ports/kernel.h
      facts/node_facts.h api/objects.h graph/graph.h graph/catalog.h graph/resolution.h ipam/assign.h plan/plan.h
      attach/attach.h agent/engine.h)
    list(APPEND RAILBED_PRECOMPILED ${PROJECT_SOURCE_DIR}/src/${header})
  endforeach()
  set(RAILBED_HOT_OPTIONS -O1)
  if(RAILBED_SANITIZE STREQUAL "thread")
    set(RAILBED_HOT_OPTIONS -O0)
  endif()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/pch.cc CONTENT "")
  foreach(pch product_pch hot_pch)
    add_library(${pch} OBJECT ${PROJECT_BINARY_DIR}/pch.cc)
    target_link_libraries(${pch} PUBLIC railbed_flags)
    target_precompile_headers(${pch} PRIVATE ${RAILBED_PRECOMPILED})
  endforeach()
  target_compile_options(hot_pch PRIVATE ${RAILBED_HOT_OPTIONS})
endif()

if(RAILBED_TESTS)
  # Test programs have a precompiled header of their own, with GoogleTest, and are not optimized outside the sanitizers'
  # builds: what they test is, and half of their build time was the optimizer's.
  add_library(test_flags INTERFACE)
  target_link_libraries(test_flags INTERFACE railbed_flags)
  if(NOT RAILBED_SANITIZE)
    target_compile_options(test_flags INTERFACE -O0)
  endif()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_pch.cc CONTENT "")
  add_library(test_pch OBJECT ${PROJECT_BINARY_DIR}/test_pch.cc)
  target_link_libraries(test_pch PUBLIC test_flags GTest::gtest GTest::gmock)
  target_precompile_headers(test_pch PRIVATE <algorithm> <filesystem> <fstream> <functional> <map> <memory> <optional> <set>
    <sstream> <string> <variant> <vector> <fmt/format.h> ${RAILBED_PRECOMPILED} <gtest/gtest.h> <gmock/gmock.h>)
endif()
add_custom_target(unit_tests)
# Where the tests find testdata/ (base/testdata.h). In one object and not on every command line, for ccache's sake.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/source_dir.cc @ONLY CONTENT
"namespace railbed {
const char* source_dir();
const char* source_dir() {
  return \"@PROJECT_SOURCE_DIR@\";
}
}
")
add_library(railbed_testdata STATIC EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/source_dir.cc)

# A GoogleTest program NAME of SOURCES in FOLDER of the build, which links LIBS.
function(railbed_test name folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE test_flags ${ARG_LIBS} railbed_testdata GTest::gmock)
  target_precompile_headers(${name} REUSE_FROM test_pch)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
endfunction()

function(railbed_library name)
  cmake_parse_arguments(ARG "HOT" "" "FOLDERS;DEPS;LIBS;TEST_DEPS" ${ARGN})
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
    add_library(railbed_${name} STATIC ${sources})
    target_link_libraries(railbed_${name} PUBLIC railbed_flags ${links} PRIVATE ${ARG_LIBS})
    if(RAILBED_SANITIZE AND ARG_HOT)
      target_compile_options(railbed_${name} PRIVATE ${RAILBED_HOT_OPTIONS})
      target_precompile_headers(railbed_${name} REUSE_FROM hot_pch)
    elseif(RAILBED_SANITIZE)
      target_precompile_headers(railbed_${name} REUSE_FROM product_pch)
    endif()
  else()
    add_library(railbed_${name} INTERFACE)
    target_link_libraries(railbed_${name} INTERFACE railbed_flags ${links})
  endif()
  if(tests AND RAILBED_TESTS)
    set(test_links ${ARG_TEST_DEPS})
    list(TRANSFORM test_links PREPEND railbed_)
    railbed_test(${name}_test tests SOURCES ${tests}
      LIBS railbed_${name} ${test_links} ${ARG_LIBS} GTest::gtest_main ${RAPIDCHECK})
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
