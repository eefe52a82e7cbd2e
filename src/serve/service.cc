// SPDX-License-Identifier: Apache-2.0
#include "serve/service.h"

#include <algorithm>
#include <iterator>

#include "cni/version.h"
#include "cni/wire.h"

namespace railbed::serve {
namespace {

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
  if (request.command == cni::Command::kStatus) {
    std::lock_guard lock(why_mutex_);
    if (!why_.empty()) return failed({.code = cni::kUnavailable, .message = why_}, version);
  }
  if (request.command == cni::Command::kCheck && config->version < cni::Version{0, 4, 0})
    return failed({.code = cni::kIncompatibleVersion,
                   .message = fmt::format("CHECK came with 0.4.0; the configuration says {}", version)},
                  version);

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
