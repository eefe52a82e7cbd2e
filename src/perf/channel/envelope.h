// SPDX-License-Identifier: Apache-2.0
// A message of the control channel as it arrived, and how a receiver takes one of those that are due out of it.
//
// Why: each protocol over the channel (a test between two hosts, a ping, a mesh, a collective) has a closed list of
// messages of its own, a std::variant. The channel knows none of them: what may come is said where it is received, and
// whatever else comes is an error there. So a list is complete at compile time, and no protocol accepts a message of
// another one.
//
// A message is a struct with its type on the wire, and, if it has members, two functions in its namespace:
//   struct Start { static constexpr std::string_view kName = "start"; int64_t sequence = 0; };
//   void write_body(JsonWriter& writer, const Start& message);  // the members of the object
//   void read_body(doc::Fields& fields, Start& message);
// Threading: pure.
// Failure: Code::kInvalid with the field's path; a Refusal in place of what is due becomes the peer's error.
// Wire: one JSON object with the member "type" (message.h, frame.h).
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/error.h"
#include "doc/fields.h"
#include "perf/json_writer.h"

namespace railbed::perf {

template <typename T>
concept ChannelMessage = std::default_initializable<T> && requires { std::string_view(T::kName); };

struct Envelope {
  std::string type;  // as the peer says it
  doc::Value body;   // the whole object
};
inline constexpr size_t kMaxType_bytes = 64;
Result<Envelope> open_envelope(std::string_view body);

// A message as text, for code that sends messages of several protocols.
struct EncodedMessage {
  std::string_view type;
  std::string json;  // a body for frame(), never larger than kMaxBodyBytes
};

template <ChannelMessage T>
EncodedMessage encoded(const T& message) {
  JsonWriter writer;
  writer.begin_object().text("type", T::kName);
  if constexpr (!std::is_empty_v<T>) write_body(writer, message);
  writer.end_object();
  return {.type = T::kName, .json = writer.take()};
}
template <ChannelMessage... Messages>
EncodedMessage encoded(const std::variant<Messages...>& message) {
  return std::visit([](const auto& one) { return encoded(one); }, message);
}

// Why this message cannot be taken where one of `due` was: it has another type, or the peer refused.
Error not_due(const Envelope& got, std::initializer_list<std::string_view> due);

// The message, which must be a T.
template <ChannelMessage T>
Result<T> decode_as(const Envelope& got) {
  if (got.type != T::kName) return fail(not_due(got, {T::kName}));
  T message;
  if constexpr (!std::is_empty_v<T>) {
    doc::Diagnostics found;
    doc::Fields fields(got.body, "", doc::kNoFamily, found);
    read_body(fields, message);
    TRY(doc::first_error(found).context("message {}", T::kName));
  }
  return message;
}

// The message, which must be one of several.
template <ChannelMessage First, ChannelMessage Second, ChannelMessage... Others>
Result<std::variant<First, Second, Others...>> decode_as(const Envelope& got) {
  using Any = std::variant<First, Second, Others...>;
  std::optional<Result<Any>> out;
  const auto take = [&]<typename T>(std::type_identity<T>) {
    if (got.type != T::kName) return false;
    Result<T> one = decode_as<T>(got);
    if (one)
      out.emplace(Any(std::move(*one)));
    else
      out.emplace(fail(std::move(one.error())));
    return true;
  };
  if (take(std::type_identity<First>()) || take(std::type_identity<Second>()) ||
      (take(std::type_identity<Others>()) || ...))
    return *std::move(out);
  return fail(not_due(got, {First::kName, Second::kName, Others::kName...}));
}

// Whether no two messages of a protocol's list have the same type on the wire: the first would hide the second.
template <typename List>
struct HasDistinctNames;
template <ChannelMessage... Messages>
struct HasDistinctNames<std::variant<Messages...>> {
  static constexpr bool value = [] {
    constexpr std::string_view kNames[] = {Messages::kName...};
    for (size_t i = 0; i < sizeof...(Messages); ++i)
      for (size_t j = 0; j < i; ++j)
        if (kNames[i] == kNames[j]) return false;
    return true;
  }();
};

}  // namespace railbed::perf
