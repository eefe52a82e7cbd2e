// SPDX-License-Identifier: Apache-2.0
#include "serve/service.h"

#include <algorithm>
#include <iterator>

#include "cni/version.h"
#include "cni/wire.h"

namespace railbed::serve {
namespace {

// Verbs that a configuration of an older version does not have.
struct Since {
  cni::Command command;
  std::string_view name;
  cni::Version version;
};
constexpr Since kSince[] = {{cni::Command::kCheck, "CHECK", {0, 4, 0}},
                            {cni::Command::kGc, "GC", {1, 1, 0}},
                            {cni::Command::kStatus, "STATUS", {1, 1, 0}}};

constexpr std::string_view kIpamTypes[] = {"whereabouts", "host-local", "static", "dhcp"};

Reply failed(const cni::Failure& failure, const std::string& version) {
  return {1, cni::to_json(failure, version)};
}

}  // namespace

void Service::unavailable(std::string why) {
  std::lock_guard lock(why_mutex_);
  why_ = std::move(why);
}

Reply Service::handle(const cni::Request& request) {
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
  if (request.command == cni::Command::kStatus) {
    std::lock_guard lock(why_mutex_);
    if (!why_.empty()) return failed({.code = cni::kUnavailable, .message = why_}, version);
  }

  cni::Outcome<std::string> answer = [&]() -> cni::Outcome<std::string> {
    if (request.type == "railbed") return meta_request(parts_, request, *config);
    if (std::ranges::find(kIpamTypes, request.type) != std::end(kIpamTypes))
      return ipam_request(parts_, request, *config);
    return plugin_request(parts_, request, *config);
  }();
  if (!answer.has_value()) return failed(answer.error(), version);
  return {0, std::move(*answer)};
}

}  // namespace railbed::serve
