// SPDX-License-Identifier: Apache-2.0
// The messages of a session between two hosts: the greeting, a test, and those of the channel itself.
//
// Why: both ends of a test must agree on addresses, keys and sizes before the first RDMA write, and on start and end of
// each size. A message is a value; writing and reading it (envelope.h) are pure, so that hostile peers are a unit test.
//
// One session, client (C) and server (S); a Refusal may come from either side instead of any message:
//   C Hello → S Hello, and where C has a token: → C Proof → S Welcome, and from here on each message has a MAC (seal.h)
//   → C OpenTest → S Wait each second until it is this client's turn → S Offer → C Connect → S Ready
//   for each size: C Start → S Started → traffic → C Done → S Outcome    (C Heartbeat each second meanwhile)
//   C CloseTest; then another OpenTest, or C closes the connection.
// The proofs are those of handshake.h: of S in its Hello, of C in Proof. No message contains the token. Other protocols
// begin where OpenTest may come, with messages of their own (session/session.h).
// Threading: plain values.
// Failure: Code::kInvalid with the field's path. Wire: frame.h around one JSON object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "perf/channel/envelope.h"
#include "perf/channel/hmac.h"
#include "perf/link_address.h"
#include "perf/measurement.h"

namespace railbed::perf {

inline constexpr int64_t kProtocol = 4;
inline constexpr size_t kMinToken_bytes = 16;  // of token files: what can be guessed protects nothing (handshake.h)
inline constexpr size_t kMaxToken_bytes = 256;

struct Hello {
  static constexpr std::string_view kName = "hello";
  int64_t protocol = kProtocol;
  std::string version;
  std::string hostname;
  std::optional<Nonce> nonce;  // where a token is used
  std::optional<Mac> proof;    // from the server, where both have a nonce
};
struct Proof {
  static constexpr std::string_view kName = "proof";
  Mac proof;  // of the client
};
// The client's proof is right.
struct Welcome {
  static constexpr std::string_view kName = "welcome";
};

struct OpenTest {
  static constexpr std::string_view kName = "open-test";
  TestSpec spec;
  std::optional<TestSpec> load;  // a stream beside it, over a link of its own; verbs that the device answers
};

// Another measurement is on the device, or the server has no memory or threads left for this one.
struct Wait {
  static constexpr std::string_view kName = "wait";
  int64_t ahead = 0;  // how many are before this client
  std::string reason;
};

struct Offer {
  static constexpr std::string_view kName = "offer";
  Endpoint endpoint;
  std::optional<RdmaAddress> rdma;
  std::optional<TcpAddress> tcp;
  std::optional<RdmaAddress> load;
};
struct Connect {
  static constexpr std::string_view kName = "connect";
  Endpoint endpoint;
  std::optional<RdmaAddress> rdma;
  std::optional<RdmaAddress> load;
};
struct Ready {
  static constexpr std::string_view kName = "ready";
};

struct Start {
  static constexpr std::string_view kName = "start";
  int64_t sequence = 0;
  int64_t size_bytes = 0;
};
struct Started {
  static constexpr std::string_view kName = "started";
  int64_t sequence = 0;
};
struct Heartbeat {
  static constexpr std::string_view kName = "heartbeat";
};
struct Done {
  static constexpr std::string_view kName = "done";
  int64_t sequence = 0;
  int64_t messages = 0;  // sent by the client over all streams
};
// The server's view: in a bidirectional RDMA test what it sent, of TCP and of datagrams what arrived.
struct Outcome {
  static constexpr std::string_view kName = "outcome";
  int64_t sequence = 0;
  int64_t bytes = 0;
  double duration_s = 0;
  ThroughputSeries series;
  PortCounters counters;  // what moved on the server's port since the test was opened
};
struct CloseTest {
  static constexpr std::string_view kName = "close-test";
};

struct Refusal {
  static constexpr std::string_view kName = "refusal";
  std::string message;
  std::string hint;
};

using SessionMessage = std::variant<Hello, Proof, Welcome, OpenTest, Wait, Offer, Connect, Ready, Start, Started,
                                    Heartbeat, Done, Outcome, CloseTest, Refusal>;
static_assert(HasDistinctNames<SessionMessage>::value);

void write_body(JsonWriter& writer, const Hello& message);
void write_body(JsonWriter& writer, const Proof& message);
void write_body(JsonWriter& writer, const OpenTest& message);
void write_body(JsonWriter& writer, const Wait& message);
void write_body(JsonWriter& writer, const Offer& message);
void write_body(JsonWriter& writer, const Connect& message);
void write_body(JsonWriter& writer, const Start& message);
void write_body(JsonWriter& writer, const Started& message);
void write_body(JsonWriter& writer, const Done& message);
void write_body(JsonWriter& writer, const Outcome& message);
void write_body(JsonWriter& writer, const Refusal& message);
void read_body(doc::Fields& fields, Hello& message);
void read_body(doc::Fields& fields, Proof& message);
void read_body(doc::Fields& fields, OpenTest& message);
void read_body(doc::Fields& fields, Wait& message);
void read_body(doc::Fields& fields, Offer& message);
void read_body(doc::Fields& fields, Connect& message);
void read_body(doc::Fields& fields, Start& message);
void read_body(doc::Fields& fields, Started& message);
void read_body(doc::Fields& fields, Done& message);
void read_body(doc::Fields& fields, Outcome& message);
void read_body(doc::Fields& fields, Refusal& message);

}  // namespace railbed::perf
