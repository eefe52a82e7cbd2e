# SPDX-License-Identifier: Apache-2.0
# How every folder of src/ becomes a library, a unit-test program and its fuzz targets.
#
#   railbed_library(doc DEPS base LIBS PkgConfig::yaml)
#
# takes all *.cc of the folder: foo.cc goes into the library, foo_test.cc into one GoogleTest program `doc_test`,
# foo_fuzz.cc becomes the libFuzzer program `foo_fuzz` (with RAILBED_FUZZ). A folder may use exactly the
# folders named in DEPS (and theirs), so that a wrong call across rooms fails to link.

find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(Threads REQUIRED)
find_package(GTest REQUIRED)
find_library(RAPIDCHECK rapidcheck REQUIRED)

set(RAILBED_WARNINGS -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers -Werror)
add_library(railbed_flags INTERFACE)
target_include_directories(railbed_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(railbed_flags INTERFACE ${RAILBED_WARNINGS})
target_compile_definitions(railbed_flags INTERFACE RAILBED_VERSION="${PROJECT_VERSION}")
target_link_libraries(railbed_flags INTERFACE fmt::fmt Threads::Threads)
target_link_options(railbed_flags INTERFACE -fuse-ld=mold)
if(RAILBED_SANITIZE)
  # libstdc++ 12's std::stable_sort calls what it has deprecated itself, and clang tells.
  target_compile_options(railbed_flags INTERFACE -fsanitize=${RAILBED_SANITIZE} -fno-omit-frame-pointer -O1
    -fno-sanitize-recover=all -Wno-deprecated-declarations)
  target_link_options(railbed_flags INTERFACE -fsanitize=${RAILBED_SANITIZE})
endif()
# The libraries serve unit tests and fuzz targets: compiling them is most of the time.
if(RAILBED_FUZZ)
  target_compile_options(railbed_flags INTERFACE -fsanitize=fuzzer-no-link)
  add_custom_target(fuzz_targets)
endif()

# One precompiled GoogleTest header for all test programs: 0.4 s instead of 1 s per test file.
file(WRITE ${PROJECT_BINARY_DIR}/test_pch.cc "")
add_library(test_pch OBJECT ${PROJECT_BINARY_DIR}/test_pch.cc)
target_link_libraries(test_pch PUBLIC railbed_flags GTest::gtest_main GTest::gmock)
target_precompile_headers(test_pch PRIVATE <gtest/gtest.h> <gmock/gmock.h>)
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
add_library(railbed_testdata STATIC ${PROJECT_BINARY_DIR}/source_dir.cc)

function(railbed_library name)
  cmake_parse_arguments(ARG "" "" "DEPS;LIBS;TEST_DEPS" ${ARGN})
  file(GLOB all CONFIGURE_DEPENDS *.cc)
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
  else()
    add_library(railbed_${name} INTERFACE)
    target_link_libraries(railbed_${name} INTERFACE railbed_flags ${links})
  endif()
  if(tests)
    set(test_links ${ARG_TEST_DEPS})
    list(TRANSFORM test_links PREPEND railbed_)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE railbed_${name} ${test_links} railbed_testdata ${ARG_LIBS} GTest::gtest_main
      GTest::gmock ${RAPIDCHECK})
    target_precompile_headers(${name}_test REUSE_FROM test_pch)
    set_target_properties(${name}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
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
