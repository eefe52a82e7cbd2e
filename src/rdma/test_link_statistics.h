// SPDX-License-Identifier: Apache-2.0
// For tests: drivers whose counters a test sets.
// Threading: one thread.
// Failure: for interfaces that do not exist.
#pragma once

#include "os/ports/link_statistics.h"

namespace railbed::rdma {

class TestLinkStatistics : public os::LinkStatistics {
 public:
  Result<std::map<std::string, uint64_t>> read(const std::string& interface) override {
    const auto found = drivers.find(interface);
    if (found == drivers.end()) return fail(Code::kUnsupported, "{} counts nothing", interface);
    return found->second;
  }
  std::map<std::string, std::map<std::string, uint64_t>> drivers;
};

}  // namespace railbed::rdma
