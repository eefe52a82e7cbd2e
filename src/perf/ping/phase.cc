// SPDX-License-Identifier: Apache-2.0
#include "perf/ping/phase.h"

#include <cerrno>

#include "base/format.h"

namespace railbed::perf {
namespace {

constexpr std::string_view kDoing[] = {
    "finding the RDMA device and the neighbour for",
    "finding the route to",
    "connecting to",
    "exchanging messages with",
    "the READ from",
    "the WRITE to",
};

std::string what(PingPhase phase, const std::string& peer) {
  return fmt::format("{}: {} {}", name_of(phase), kDoing[static_cast<size_t>(phase)], peer);
}

std::string address_hint(int sys_errno) {
  switch (sys_errno) {
    case ENODEV:
    case EADDRNOTAVAIL:
      return "the interface toward the peer has no RDMA device: `rdma link` lists those that have one, and `ip route "
             "get` shows which interface that is";
    case ENETUNREACH:
    case EHOSTUNREACH:
      return "no route, or no ARP or ND reply: `ip route get` and `ip neigh` show which; check that the peer's "
             "interface is up and on the same network";
    case ETIMEDOUT:
      return "no ARP or ND reply for this address; check that the peer's interface is up and on the same network and "
             "VLAN";
    default:
      return "";
  }
}

std::string hint_of(PingPhase phase, int sys_errno) {
  if (phase == PingPhase::kAddress) return address_hint(sys_errno);
  if (phase == PingPhase::kRoute)
    return "on InfiniBand check that `sminfo` finds the subnet manager, which answers path queries, and that both ends "
           "are in one partition; on RoCE check that the interface is up";
  if (sys_errno == ECONNREFUSED)
    return "connection refused: nothing is listening on this port; check that the server is running";
  if (sys_errno == ECONNRESET)
    return "the peer's connection manager answered and then dropped the connection; see the peer's log and check that "
           "its RDMA device is up";
  return "the address was resolved, but no connection manager answers; check on the peer that `rdma_ucm` or `rdma_cm` "
         "is loaded, that the RDMA device is up, and that UDP port 4791 is not blocked (RoCE v2)";
}

}  // namespace

std::string_view name_of(PingPhase phase) {
  constexpr std::string_view kNames[] = {"address", "route", "connect", "message", "READ", "WRITE"};
  return kNames[static_cast<size_t>(phase)];
}

Error opening_failed(PingPhase phase, int sys_errno, const std::string& peer) {
  Error error = system_error(sys_errno, what(phase, peer));
  error.hint = hint_of(phase, sys_errno);
  return error;
}

Error opening_timed_out(PingPhase phase, int64_t patience_ms, const std::string& peer) {
  return {.code = Code::kTimeout,
          .sys_errno = ETIMEDOUT,
          .message = fmt::format("{}: no answer within {} ms", what(phase, peer), patience_ms),
          .context = {},
          .hint = hint_of(phase, ETIMEDOUT)};
}

Error connection_rejected(int reason, const std::string& peer) {
  constexpr int kInvalidService = 8;  // of InfiniBand's REJ; iWARP says ECONNREFUSED
  constexpr int kByConsumer = 28;
  Error error{.code = Code::kConflict,
              .sys_errno = ECONNREFUSED,
              .message = fmt::format("{}: rejected (reason {})", what(PingPhase::kConnect, peer), reason),
              .context = {},
              .hint =
                  "the peer's connection manager has no capacity, or its device is too different from this one; see "
                  "its kernel log"};
  if (reason == kInvalidService || reason == ECONNREFUSED) error.hint = hint_of(PingPhase::kConnect, ECONNREFUSED);
  if (reason == kByConsumer)
    error.hint = "the peer's program refused the connection: it serves another client, or speaks another protocol";
  return error;
}

Error data_phase_failed(PingPhase phase, Error cause, const std::string& peer) {
  cause.context.push_back(what(phase, peer));
  return cause;
}

}  // namespace railbed::perf
