// SPDX-License-Identifier: Apache-2.0
// The kinds that railbed reads, and those that it knows and leaves alone.
//
// Threading: pure functions over a constant table. Failure: none.
#pragma once

#include <string>
#include <string_view>

namespace railbed::api {

enum class Reading : uint8_t { kPolicy, kNetwork, kIbNetwork, kAttachment, kPod, kNode, kOther };

struct Kind {
  std::string_view name;
  std::string_view api_version;  // empty where railbed does not care
  Reading reading;
};

// Null for a kind that is not known.
const Kind* find_kind(std::string_view name);
// The known kind that was probably meant; empty when none is near.
std::string nearest_kind(std::string_view name);

}  // namespace railbed::api
