// SPDX-License-Identifier: Apache-2.0
#include "kube/counters.h"

namespace railbed::kube {

std::string_view verb_name(Verb verb) {
  constexpr std::string_view kNames[] = {"get", "list", "watch", "create", "update", "patch", "apply", "delete"};
  return kNames[static_cast<size_t>(verb)];
}

void Counting::asked(Verb verb, int status) {
  const std::lock_guard lock(mutex_);
  ++counters_.requests[{verb, status}];
}

void Counting::retried() {
  const std::lock_guard lock(mutex_);
  ++counters_.retries;
}

ClientCounters Counting::read() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace railbed::kube
