// SPDX-License-Identifier: Apache-2.0
// The messages of the control channel.
//
// Why: both ends of a test must agree on addresses, keys and sizes before the first RDMA write, and on start and end of
// each size. A message is a value; encode and decode are pure, so that hostile peers are a unit test.
//
// One session, client (C) and server (S); a Refusal may come from either side instead of any message:
//   C Hello → S Hello, and where C has a token: → C Proof → S Welcome, and from here on each message has a MAC (seal.h)
//   → C OpenTest → S Wait each second until it is this client's turn → S Offer → C Connect → S Ready
//   for each size: C Start → S Started → traffic → C Done → S Outcome    (C Heartbeat each second meanwhile)
//   C CloseTest; then another OpenTest, or C closes the connection.
// The proofs are those of handshake.h: of S in its Hello, of C in Proof. No message contains the token. The messages of
// a mesh are in mesh/mesh_message.h and mesh/register_message.h, those of a collective in
// collective/collective_message.h.
// Threading: plain values.
// Failure: Code::kInvalid with the field's path. Wire: frame.h around one JSON object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "perf/channel/hmac.h"
#include "perf/collective/collective_message.h"
#include "perf/link_address.h"
#include "perf/measurement.h"
#include "perf/mesh/mesh_message.h"
#include "perf/mesh/register_message.h"

namespace railbed::perf {

inline constexpr int64_t kProtocol = 4;
inline constexpr size_t kMinToken_bytes = 16;  // of token files: what can be guessed protects nothing (handshake.h)
inline constexpr size_t kMaxToken_bytes = 256;

struct Hello {
  int64_t protocol = kProtocol;
  std::string version;
  std::string hostname;
  std::optional<Nonce> nonce;  // where a token is used
  std::optional<Mac> proof;    // from the server, where both have a nonce
};
struct Proof {
  Mac proof;  // of the client
};
struct Welcome {};  // the client's proof is right

struct OpenTest {
  TestSpec spec;
  std::optional<TestSpec> load;  // a stream beside it, over a link of its own; verbs that the device answers
};

// Another measurement is on the device, or the server has no memory or threads left for this one.
struct Wait {
  int64_t ahead = 0;  // how many are before this client
  std::string reason;
};

struct Offer {
  Endpoint endpoint;
  std::optional<RdmaAddress> rdma;
  std::optional<TcpAddress> tcp;
  std::optional<RdmaAddress> load;
};
struct Connect {
  Endpoint endpoint;
  std::optional<RdmaAddress> rdma;
  std::optional<RdmaAddress> load;
};
struct Ready {};

struct Start {
  int64_t sequence = 0;
  int64_t size_bytes = 0;
};
struct Started {
  int64_t sequence = 0;
};
struct Heartbeat {};
struct Done {
  int64_t sequence = 0;
  int64_t messages = 0;  // sent by the client over all streams
};
// The server's view: in a bidirectional RDMA test what it sent, of TCP and of datagrams what arrived.
struct Outcome {
  int64_t sequence = 0;
  int64_t bytes = 0;
  double duration_s = 0;
  ThroughputSeries series;
  PortCounters counters;  // what moved on the server's port since the test was opened
};
struct CloseTest {};

// A ping over the connection manager (ping/): C OpenPing → S Wait … → S PingOffer → C connects there → pings →
// C disconnects, CloseTest.
struct OpenPing {
  int64_t size_bytes = 0;
};
// Where the server waits for the connection, and the private data that a request must begin with.
struct PingOffer {
  uint32_t port = 0;
  uint64_t cookie = 0;
};

struct Refusal {
  std::string message;
  std::string hint;
};

using Message =
    std::variant<Hello, OpenTest, Wait, Offer, Connect, Ready, Start, Started, Heartbeat, Done, Outcome, CloseTest,
                 Refusal, mesh::Enlist, mesh::Enlisted, mesh::Step, mesh::StepDone, collective::Join,
                 collective::Joined, collective::Link, collective::Linked, collective::Reduce, collective::Reduced,
                 mesh::Register, mesh::Registered, OpenPing, PingOffer, Proof, Welcome, mesh::AskMesh, mesh::InMesh>;

std::string_view name_of(const Message& message);  // "hello", "open-test", …
template <typename T>
std::string_view name_of_type() {
  return name_of(Message(T{}));
}

std::string encode(const Message& message);  // a body for frame(), never larger than kMaxBodyBytes
Result<Message> decode(std::string_view body);

}  // namespace railbed::perf
