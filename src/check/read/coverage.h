// SPDX-License-Identifier: Apache-2.0
// What a check has read, and what it has not.
//
// Why: "no error" says little where half of the files were not read, so every form of output has it.
// Threading: plain values.
// Failure: none.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace railbed::check {

struct NotRead {
  std::string name;     // the file, or "FILE:LINE" of a document in it
  std::string why;      // "a Helm template"
  std::string command;  // how to have it read; may be empty
};

struct Coverage {
  std::map<std::string, int> classes;  // documents by class: "manifest", "page", …
  std::vector<NotRead> not_read;
  int pods = 0;
};

}  // namespace railbed::check
