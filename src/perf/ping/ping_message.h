// SPDX-License-Identifier: Apache-2.0
// The messages by which a client and a server agree on a ping over the connection manager.
//
//   C OpenPing → S Wait … → S PingOffer → C connects there → pings → C disconnects, CloseTest (message.h)
// Threading: plain values.
// Failure: Code::kInvalid with the field's path. Wire: channel/envelope.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "perf/channel/envelope.h"

namespace railbed::perf {

struct OpenPing {
  static constexpr std::string_view kName = "open-ping";
  int64_t size_bytes = 0;
};
// Where the server waits for the connection, and the private data that a request must begin with.
struct PingOffer {
  static constexpr std::string_view kName = "ping-offer";
  uint32_t port = 0;
  uint64_t cookie = 0;
};

using PingMessage = std::variant<OpenPing, PingOffer>;
static_assert(HasDistinctNames<PingMessage>::value);

void write_body(JsonWriter& writer, const OpenPing& message);
void write_body(JsonWriter& writer, const PingOffer& message);
void read_body(doc::Fields& fields, OpenPing& message);
void read_body(doc::Fields& fields, PingOffer& message);

}  // namespace railbed::perf
