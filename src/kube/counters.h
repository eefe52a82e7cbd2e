// SPDX-License-Identifier: Apache-2.0
// The counters of the API client, as plain values: the owner of a metrics registry reads them.
//
// Threading: any thread; a reading is a copy.
// Failure: none.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace railbed::kube {

// As Kubernetes' own metrics name them; apply is a PATCH there, too, and distinguished here.
enum class Verb : uint8_t { kGet, kList, kWatch, kCreate, kUpdate, kPatch, kApply, kDelete };
std::string_view verb_name(Verb verb);

struct ClientCounters {
  // By verb and HTTP status, 0 where no answer came. Each try counts.
  std::map<std::pair<Verb, int>, uint64_t> requests;
  uint64_t retries = 0;
};

class Counting {
 public:
  void asked(Verb verb, int status);
  void retried();
  ClientCounters read() const;

 private:
  mutable std::mutex mutex_;
  ClientCounters counters_;
};

}  // namespace railbed::kube
