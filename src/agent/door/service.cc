// SPDX-License-Identifier: Apache-2.0
#include "agent/door/service.h"

#include <algorithm>
#include <cstdlib>

#include "agent/addresses/ipam.h"
#include "agent/door/readiness.h"
#include "agent/pod/meta.h"
#include "agent/pod/plugin.h"
#include "cni/config.h"
#include "cni/version.h"
#include "cni/wire.h"
#include "schema/cni_types.h"

namespace railbed::agent {
namespace {

// Commands that configurations of older versions do not have.
struct Since {
  cni::Command command;
  std::string_view name;
  cni::Version version;
};
constexpr Since kSince[] = {{cni::Command::kCheck, "CHECK", {0, 4, 0}},
                            {cni::Command::kGc, "GC", {1, 1, 0}},
                            {cni::Command::kStatus, "STATUS", {1, 1, 0}}};

// Requests that look into the pod's namespace and change it.
bool is_of_a_pod(const cni::Request& request) {
  return (request.command == cni::Command::kAdd || request.command == cni::Command::kDel ||
          request.command == cni::Command::kCheck) &&
         !request.netns.empty();
}

using Held = std::shared_ptr<os::NetnsPort::Hold>;

// The namespace of a pod's request, held for as long as the result lives: what is checked here is what is changed
// later. Null: there is none at its path, which the handlers deal with.
Result<Held> hold_pod(os::Kernel& kernel, const cni::Request& request) {
  Result<std::unique_ptr<os::Netns>> netns = kernel.netns().open(request.netns);
  if (!netns.has_value() && netns.error().code == Code::kNotFound) return Held();
  if (!netns.has_value()) return fail(netns.error());
  return TRY(kernel.netns().hold(*std::move(netns)));
}

// Whether this is the namespace that the shim saw when a kept DEL came (cni::kNetnsProof).
Result<bool> is_proven(os::Kernel& kernel, const os::Netns& netns, const std::string& proof) {
  const size_t blank = proof.find(' ');
  if (blank == std::string::npos || proof.substr(0, blank) != kernel.boot_id()) return false;
  const size_t colon = std::min(proof.find(':', blank), proof.size());
  const std::string kind = proof.substr(blank + 1, colon - blank - 1);
  const uint64_t number = std::strtoull(proof.c_str() + std::min(colon + 1, proof.size()), nullptr, 16);
  if (kind == "id") return TRY(kernel.netns().identity(netns)) == os::NetnsIdentity{.number = number};
  return kind == "file" && TRY(kernel.netns().file_number(netns)) == number;
}

cni::Request without_netns(cni::Request request) {
  request.netns.clear();
  return request;
}

// A runtime's mistake, or /proc/PID/ns/net of a process id that was reused: changes meant for a pod must never reach
// the host. Any error that hides which namespace it is refuses, too.
Result<void> refuse_own(os::Kernel& kernel, const cni::Request& request) {
  const Result<bool> own = kernel.netns().is_own(request.netns);
  if (!own.has_value() && own.error().code != Code::kNotFound) return fail(own.error());
  if (!own.has_value() || !*own) return {};
  return cni::fail_with(cni::kInvalidNetns,
                        fmt::format("CNI_NETNS {} is the host's network namespace; nothing was changed", request.netns),
                        "the runtime must pass the pod's namespace");
}

// Commands that the configuration's version does not have.
Result<void> is_in_version(cni::Command command, const cni::Version& version) {
  for (const Since& one : kSince)
    if (command == one.command && version < one.version)
      return cni::fail_with(cni::kIncompatibleVersion,
                            fmt::format("{} was added in {}; the configuration has {}", one.name,
                                        one.version.to_string(), version.to_string()),
                            fmt::format("set cniVersion to {} or higher", one.version.to_string()));
  return {};
}

// A plugin whose agent was killed may live on for a moment, and ask this agent for what would never be released.
Result<void> is_asked_here(os::Kernel& kernel, const cni::Request& request) {
  if (request.command != cni::Command::kAdd || request.executed_by.empty() ||
      request.executed_by == kernel.processes().identity())
    return {};
  return cni::fail_with(cni::kTryAgainLater, "the requesting plugin was executed by an earlier agent that has exited",
                        "the runtime will retry the pod");
}

}  // namespace

Reply Service::handle(const cni::Request& request, RequestStory& story) {
  Backends backends = backends_;
  backends.story = &story;
  Reply reply;
  try {
    reply.result = answer(backends, request, reply.version);
  } catch (const std::exception& thrown) {  // no memory, no thread
    reply = {.result = fail(cni::error_of(thrown))};
  }
  return reply;
}

Result<std::string> Service::answer(Backends& backends, const cni::Request& request, std::string& version) {
  if (request.command == cni::Command::kVersion) return std::string(cni::version_answer());
  const cni::PluginConfig config = TRY(cni::read_plugin_config(request.config));
  version = config.version.to_string();
  TRY(is_in_version(request.command, config.version));
  os::Kernel& kernel = backends.engine.kernel();
  TRY(is_asked_here(kernel, request));
  Held held;
  if (is_of_a_pod(request)) {
    held = TRY(hold_pod(kernel, request));
    if (!request.netns_proof.empty() && held != nullptr && !TRY(is_proven(kernel, held->netns(), request.netns_proof)))
      return answer(backends, without_netns(request), version);
    TRY(refuse_own(kernel, request));
  }
  if (request.command == cni::Command::kStatus && readiness_ != nullptr)
    if (const auto reasons = readiness_->reasons(); !reasons.empty()) return fail(not_ready(reasons));
  const schema::CniType* type = schema::find_cni_type(request.type);
  const bool ours = type != nullptr && type->ours;
  if (ours && type->role == schema::CniRole::kMeta) return meta_request(backends, meta_, request, config);
  if (ours && type->role == schema::CniRole::kIpam) return ipam_request(backends, request, config);
  return plugin_request(backends, request, config);
}

}  // namespace railbed::agent
