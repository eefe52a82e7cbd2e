// SPDX-License-Identifier: Apache-2.0
// For tests: the first messages of both sides, as this version of railbed sends them.
//
// Threading: none.
// Failure: as the test that uses it.
#pragma once

#include <gtest/gtest.h>

#include "perf/channel/client_talk.h"
#include "perf/channel/greeting.h"

namespace railbed::perf {

inline void greet_as_client(Channel& channel, const std::string& token) {
  const auto greeted = greet_server(channel, {.hostname = "x", .token = token}, {.answer = std::chrono::seconds(20)});
  EXPECT_TRUE(greeted) << greeted.error().to_string();
}

// A message as it arrives.
template <ChannelMessage T>
Envelope envelope_of(const T& message) {
  return open_envelope(encoded(message).json).value();
}

// False where the client did not go on.
inline bool greet_as_server(Channel& channel, const std::string& token, const Envelope* first = nullptr) {
  ServerGreeting greeting(token, "played");
  std::optional<Envelope> message;
  if (first != nullptr) message = *first;
  while (!greeting.done()) {
    if (!message) {
      auto next = channel.receive(std::chrono::seconds(20));
      if (!next) return false;
      message = std::move(*next);
    }
    const auto answer = greeting.answer(*message);
    message.reset();
    if (!answer || !channel.send(encoded(*answer), Deadline::after(std::chrono::seconds(10)))) return false;
  }
  return greeting.seal(channel).has_value();
}

}  // namespace railbed::perf
