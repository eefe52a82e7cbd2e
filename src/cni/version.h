// SPDX-License-Identifier: Apache-2.0
// Versions of the CNI specification.
// Threading: pure.
// Failure: code 1.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "cni/error.h"

namespace railbed::cni {

struct Version {
  int major = 0;
  int minor = 0;
  int patch = 0;
  friend auto operator<=>(const Version&, const Version&) = default;
  std::string to_string() const;
};

inline constexpr std::string_view kSupportedVersions[] = {"0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"};
inline constexpr Version kLatest{1, 1, 0};

// "1.0.0", also "1.0" and "1", as the reference library accepts them. An absent version ("") is 0.1.0.
Result<Version> parse_version(std::string_view text);
// Code 1 where it is none of kSupportedVersions.
Result<Version> supported_version(std::string_view text);

}  // namespace railbed::cni
