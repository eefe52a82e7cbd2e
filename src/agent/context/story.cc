// SPDX-License-Identifier: Apache-2.0
#include "agent/context/story.h"

namespace railbed::agent {

std::string_view phase_name(Phase phase) {
  constexpr std::string_view names[] = {"prepare", "wait", "addresses", "kernel", "lease", "exec", "total"};
  return names[static_cast<size_t>(phase)];
}

}  // namespace railbed::agent
