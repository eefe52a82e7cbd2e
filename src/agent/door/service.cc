// SPDX-License-Identifier: Apache-2.0
#include "agent/door/service.h"

#include "agent/addresses/ipam.h"
#include "agent/door/readiness.h"
#include "agent/pod/meta.h"
#include "agent/pod/plugin.h"
#include "api/cni_types.h"
#include "cni/version.h"
#include "cni/wire.h"

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

Reply failed(const cni::Failure& failure, const std::string& version) {
  return {1, cni::to_json(failure, version)};
}

}  // namespace

Reply Service::handle(const cni::Request& request, RequestStory& story) {
  Backends backends = backends_;
  backends.story = &story;
  try {
    return answer(backends, request);
  } catch (const std::exception& thrown) {  // no memory, no thread
    return failed(cni::failure_of(thrown), cni::kLatest.to_string());
  }
}

Reply Service::answer(Backends& backends, const cni::Request& request) {
  const std::string latest = cni::kLatest.to_string();
  if (request.command == cni::Command::kVersion) return {0, std::string(cni::version_answer())};
  cni::Outcome<cni::PluginConfig> config = cni::read_plugin_config(request.config);
  if (!config.has_value()) return failed(config.error(), latest);
  const std::string version = config->version.to_string();
  for (const Since& one : kSince)
    if (request.command == one.command && config->version < one.version)
      return failed({.code = cni::kIncompatibleVersion,
                     .message = fmt::format("{} came with {}; the configuration says {}", one.name,
                                            one.version.to_string(), version),
                     .details = fmt::format("set cniVersion to {} or higher", one.version.to_string())},
                    version);
  // A plugin whose agent was killed may live on for a moment, and ask this agent for what nobody would give back.
  if (request.command == cni::Command::kAdd && !request.executed_by.empty() &&
      request.executed_by != backends.engine.kernel().processes().identity())
    return failed({.code = cni::kTryAgainLater,
                   .message = "an earlier agent, which is gone, executed the plugin that asks",
                   .details = "the runtime tries the pod again"},
                  version);
  // A runtime's mistake, or /proc/PID/ns/net of a process id that was reused: changes meant for a pod must never reach
  // the host. The handlers deal with namespaces that do not exist.
  if (is_of_a_pod(request) && backends.engine.kernel().netns().is_own(request.netns).value_or(false))
    return failed(
        {.code = cni::kInvalidNetns,
         .message = fmt::format("CNI_NETNS {} is the host's own network namespace; nothing was changed", request.netns),
         .details = "the runtime must give the namespace of the pod"},
        version);
  if (request.command == cni::Command::kStatus && backends.readiness != nullptr)
    if (const auto reasons = backends.readiness->reasons(); !reasons.empty())
      return failed(not_ready(reasons), version);
  cni::Outcome<std::string> answer = [&]() -> cni::Outcome<std::string> {
    const api::CniType* type = api::find_cni_type(request.type);
    const bool ours = type != nullptr && type->ours;
    if (ours && type->role == api::CniRole::kMeta) return meta_request(backends, request, *config);
    if (ours && type->role == api::CniRole::kIpam) return ipam_request(backends, request, *config);
    return plugin_request(backends, request, *config);
  }();
  if (!answer.has_value()) return failed(answer.error(), version);
  return {0, std::move(*answer)};
}

}  // namespace railbed::agent
