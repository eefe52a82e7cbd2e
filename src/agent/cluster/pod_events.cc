// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/pod_events.h"

#include "doc/text.h"

namespace railbed::agent {
namespace {

// A few words forever: users select by them.
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

bool is_reported_at_pod(const cni::Request& request, const Error& error) {
  return request.command == cni::Command::kAdd && request.executed_by.empty() && !request.pod().empty() &&
         cni::code_of(error) != cni::kTryAgainLater;
}

kube::Occurrence occurrence_of(const cni::Request& request, const Error& error, const std::string& api_uid) {
  const std::string pod = request.pod();
  const size_t slash = pod.find('/');
  std::string note = error.story();
  if (const std::string hint = cni::hint_of(error); !hint.empty()) note += ": " + hint;
  return {.type = kube::EventType::kWarning,
          .reason = reason_of(cni::code_of(error)),
          .action = "Attach",
          .note = doc::printable(note),
          .object = {.api_version = "v1",
                     .kind = "Pod",
                     .key = {.ns = pod.substr(0, slash), .name = pod.substr(slash + 1)},
                     .uid = api_uid}};
}

}  // namespace railbed::agent
