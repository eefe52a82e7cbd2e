// SPDX-License-Identifier: Apache-2.0
// For tests and fuzzers: any message of a protocol's list (a std::variant), read and written.
//
// Why: what holds for all messages is tried with each list: they come back as they were, and their fields have limits.
// Threading: none.
// Failure: as envelope.h.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "perf/channel/envelope.h"

namespace railbed::perf {

template <typename List>
struct AnyOf;
template <ChannelMessage... Messages>
struct AnyOf<std::variant<Messages...>> {
  static Result<std::variant<Messages...>> decode(std::string_view body) {
    return decode_as<Messages...>(TRY(open_envelope(body)));
  }
};

template <typename List>
Result<List> decode(std::string_view body) {
  return AnyOf<List>::decode(body);
}

template <ChannelMessage T>
std::string encode(const T& message) {
  return encoded(message).json;
}
template <ChannelMessage... Messages>
std::string encode(const std::variant<Messages...>& message) {
  return encoded(message).json;
}

// Why `body` is none of the list; "understood" where it is one.
template <typename List>
std::string refusal_by(std::string_view body) {
  const auto message = decode<List>(body);
  return message ? "understood" : message.error().to_string();
}

}  // namespace railbed::perf
