// SPDX-License-Identifier: Apache-2.0
// The kinds that railbed reads, and those that it knows and ignores.
//
// Threading: pure functions over a constant table.
// Failure: none.
#pragma once

#include <string>
#include <string_view>

namespace railbed::api {

enum class Reading : uint8_t { kPolicy, kNetwork, kIbNetwork, kAttachment, kPod, kNode, kOther };

struct Kind {
  std::string_view name;
  std::string_view api_version;  // empty where any version will do
  Reading reading;
};

// Null for an unknown kind.
const Kind* find_kind(std::string_view name);
// The known kind that was probably intended; empty when none is close.
std::string nearest_kind(std::string_view name);

}  // namespace railbed::api
