// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/pod_events.h"

#include "doc/text.h"

namespace railbed::agent {
namespace {

// A few words for ever: users select by them.
std::string reason_of(int code) {
  switch (code) {
    case cni::kInvalidConfig:
      return "InvalidNetworks";
    case cni::kGone:
      return "NetworkNotFound";
    case cni::kTaken:
      return "NetworkConflict";
    case cni::kExhausted:
      return "NoDeviceOrAddress";
    default:
      return "AttachFailed";
  }
}

}  // namespace

bool is_told_at_pod(const cni::Request& request, const cni::Failure& failure) {
  return request.command == cni::Command::kAdd && request.executed_by.empty() && !request.pod().empty() &&
         failure.code != cni::kTryAgainLater;
}

kube::Occurrence occurrence_of(const cni::Request& request, const cni::Failure& failure, const std::string& api_uid) {
  const std::string pod = request.pod();
  const size_t slash = pod.find('/');
  std::string note = failure.message;
  if (!failure.details.empty()) note += ": " + failure.details;
  return {.type = kube::EventType::kWarning,
          .reason = reason_of(failure.code),
          .action = "Attach",
          .note = doc::printable(note),
          .object = {.api_version = "v1",
                     .kind = "Pod",
                     .key = {.ns = pod.substr(0, slash), .name = pod.substr(slash + 1)},
                     .uid = api_uid}};
}

}  // namespace railbed::agent
