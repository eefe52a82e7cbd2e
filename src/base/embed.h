// SPDX-License-Identifier: Apache-2.0
// Files that are compiled into a program.
//
// Why the assembler: it reads the file itself, so there is no generated text of its bytes and no copy in memory. The
// compiler does not know that the object depends on the file: CMake names it (OBJECT_DEPENDS). A folder of files is
// embedded by railbed_embed (cmake/embed.cmake).
// Threading: the bytes are constants.
// Failure: a file that is missing fails the build.
#pragma once

#include <span>
#include <string_view>

// Declares `symbol`_begin and `symbol`_end, the first byte of the file and the one behind its last.
#define RAILBED_EMBED(symbol, path)                                  \
  asm(".pushsection .rodata\n"                                       \
      ".global " #symbol "_begin\n.global " #symbol "_end\n" #symbol \
      "_begin:\n"                                                    \
      ".incbin \"" path "\"\n" #symbol "_end:\n.popsection\n");      \
  extern "C" const char symbol##_begin[];                            \
  extern "C" const char symbol##_end[];

namespace railbed {

struct EmbeddedFile {
  std::string_view name;  // its path, below the folder that it was embedded from
  std::string_view text;
};

}  // namespace railbed
