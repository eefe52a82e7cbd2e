// SPDX-License-Identifier: Apache-2.0
// Facts that hold for some versions of a program only (data/versions.yaml), asked of the versions that the checked
// files use.
//
// Why: a rule that was right about one release is false about the next, and is not noticed before users do. A fact has
// its source and the date when it was read, and a test names rows that are much older than the others. Threading: pure
// functions; the data is immutable. Failure: none; an unknown fact does not compile away: a test asks for each that the
// rules name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "check/rules/rule.h"

namespace railbed::check {

struct VersionedFact {
  std::string_view fact;
  std::string_view program;
  std::string_view from;   // empty: it never held
  std::string_view until;  // empty: it holds in the newest version
  std::string_view source;
  std::string_view read;  // "2026-08"
};
const std::vector<VersionedFact>& versioned_facts();

enum class Holds : uint8_t { kYes, kNo, kDepends };
struct VersionAnswer {
  Holds holds = Holds::kNo;
  std::string versions;  // "3.5.1 does not, 3.6.0 and later do"; empty where the newest version decides
};
// Whether the fact holds for all versions of its program that these files use, for none or for some.
VersionAnswer holds(const Input& in, std::string_view fact);

// By numbers: "v3.10.0" is after "3.9.1"; words behind the numbers are ignored.
bool is_before(std::string_view version, std::string_view other);

}  // namespace railbed::check
