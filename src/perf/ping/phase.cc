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
      return "there is no route, or no neighbour answers (ARP, ND): `ip route get` and `ip neigh` show which; is the "
             "peer's interface up, and on this network?";
    case ETIMEDOUT:
      return "nobody answered for this address (ARP, ND): is the peer's interface up, and on this network or VLAN?";
    default:
      return "";
  }
}

std::string hint_of(PingPhase phase, int sys_errno) {
  if (phase == PingPhase::kAddress) return address_hint(sys_errno);
  if (phase == PingPhase::kRoute)
    return "on InfiniBand the subnet manager is asked for the path: does `sminfo` find it, and are both ends in one "
           "partition? On RoCE: is the interface up?";
  if (sys_errno == ECONNREFUSED) return "nobody listens there: is the peer's program running, with this port?";
  if (sys_errno == ECONNRESET)
    return "the peer's connection manager answers and then drops it: look at the peer's log, and whether its RDMA "
           "device is up";
  return "the address was found, but no connection manager answers: is `rdma_ucm` or `rdma_cm` loaded there, is the "
         "peer's RDMA device up, and is UDP port 4791 let through (RoCE v2)?";
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
                  "the peer's connection manager has no room for it, or its device differs too much from this one; "
                  "its kernel log may say more"};
  if (reason == kInvalidService || reason == ECONNREFUSED) error.hint = hint_of(PingPhase::kConnect, ECONNREFUSED);
  if (reason == kByConsumer)
    error.hint = "the program there does not want this connection: it serves somebody else, or speaks another protocol";
  return error;
}

Error data_phase_failed(PingPhase phase, Error cause, const std::string& peer) {
  cause.context.push_back(what(phase, peer));
  return cause;
}

}  // namespace railbed::perf
