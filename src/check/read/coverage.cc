// SPDX-License-Identifier: Apache-2.0
#include "check/read/coverage.h"

#include <algorithm>
#include <iterator>

namespace railbed::check {

void Coverage::add(Coverage other) {
  for (const auto& [name, number] : other.classes) classes[name] += number;
  std::ranges::move(other.reasons, std::back_inserter(reasons));
  std::ranges::move(other.not_read, std::back_inserter(not_read));
  pods += other.pods;
}

}  // namespace railbed::check
