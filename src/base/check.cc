// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace railbed::detail {

void check_failed(const char* condition, std::source_location place) {
  (void)std::fprintf(stderr, "railbed: a defect of this program: %s:%u: %s does not hold\n", place.file_name(),
                     static_cast<unsigned>(place.line()), condition);
  std::abort();
}

}  // namespace railbed::detail
