// SPDX-License-Identifier: Apache-2.0
// Variables of the environment. Threading: nothing changes the environment. Failure: none.
#pragma once

#include <cstdlib>
#include <string>

namespace railbed {

// "" where it is not set.
inline std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace railbed
