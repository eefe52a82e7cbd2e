// SPDX-License-Identifier: Apache-2.0
// For tests: what each field of each message of a protocol may be.
//
// Threading: none.
// Failure: the test's.
#pragma once

#include <vector>

#include "doc/limits_of.h"
#include "perf/channel/test_messages.h"

namespace railbed::perf {

// The type of each message, and its limits (doc/limits_of.h).
template <typename List>
std::string limits_of_messages(const std::vector<List>& messages) {
  std::string limits;
  for (const List& message : messages) {
    const EncodedMessage text = encoded(message);
    doc::Diagnostics none;
    const auto source = std::make_shared<const doc::Source>(doc::Source{"x", text.json});
    doc::LimitsOf limits_of(*doc::parse_json(source, none),
                            [](const std::string& body) { return decode<List>(body).has_value(); });
    limits += fmt::format("{}\n{}", text.type, limits_of.text());
  }
  return limits;
}

}  // namespace railbed::perf
