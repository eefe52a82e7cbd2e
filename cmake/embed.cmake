# SPDX-License-Identifier: Apache-2.0
# Files that are compiled into a room's library (base/embed.h).
#
#   railbed_embed(check HEADER check/data_files.h FUNCTION data_files BELOW src/check/data FILES ${files})
#
# defines the function that the header declares, `std::span<const EmbeddedFile> railbed::check::data_files()`: the files in
# the order of FILES, each by its path below BELOW (below the whole tree without it). The object depends on them.
function(railbed_embed room)
  cmake_parse_arguments(ARG "" "HEADER;FUNCTION;BELOW" "FILES" ${ARGN})
  set(bytes "")
  set(entries "")
  set(number 0)
  foreach(file ${ARG_FILES})
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/${ARG_BELOW} OUTPUT_VARIABLE name)
    set(symbol railbed_${room}_file_${number})
    string(APPEND bytes "RAILBED_EMBED(${symbol}, \"${file}\")\n")
    string(APPEND entries "      {\"${name}\", {${symbol}_begin, ${symbol}_end}},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  set(made ${CMAKE_CURRENT_BINARY_DIR}/embedded_files.cc)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/embedded_files.cc.in ${made} @ONLY)
  target_sources(railbed_${room} PRIVATE ${made})
  set_source_files_properties(${made} PROPERTIES OBJECT_DEPENDS "${ARG_FILES}")
endfunction()
