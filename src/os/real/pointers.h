// SPDX-License-Identifier: Apache-2.0
// Texts in the format in which exec() takes its arguments and its environment.
//
// Threading: pure.
// Failure: none.
#pragma once

#include <string>
#include <vector>

namespace railbed::os {

// Valid as long as `texts` is; the last one is null.
inline std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

}  // namespace railbed::os
