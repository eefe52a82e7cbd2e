// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/selection.h"

#include <optional>
#include <string>

namespace railbed::agent {
namespace {

struct Said {
  std::string text;
  std::string where;
  int code = cni::kInvalidConfig;
};

const std::string* non_empty_text(const doc::Value& object, std::string_view key) {
  const doc::Value* value = object.is_object() ? object.find(key) : nullptr;
  const std::string* text = value != nullptr ? value->as_string() : nullptr;
  return text != nullptr && !text->empty() ? text : nullptr;
}

// The first place that has a value.
std::optional<Said> said(const cni::Request& request, const cni::PluginConfig& config, std::string_view runtime,
                         std::string_view args, std::string_view environment) {
  if (const std::string* text = non_empty_text(config.runtime, runtime))
    return Said{*text, fmt::format("runtimeConfig.{}", runtime)};
  if (!args.empty())
    if (const std::string* text = non_empty_text(config.args, args))
      return Said{*text, fmt::format("args.cni.{}", args)};
  if (environment.empty()) return std::nullopt;
  auto found = request.args.find(std::string(environment));
  if (found == request.args.end() || found->second.empty()) return std::nullopt;
  return Said{found->second, fmt::format("CNI_ARGS {}", environment), cni::kInvalidEnvironment};
}

template <typename T>
Result<std::optional<T>> parsed(const std::optional<Said>& one) {
  if (!one.has_value()) return std::optional<T>{};
  Result<T> value = T::parse(one->text);
  if (value.has_value()) return std::optional<T>(std::move(*value));
  return cni::fail_with(one->code, fmt::format("{}: {}", one->where, value.error().story()));
}

}  // namespace

Result<api::NetworkSelection> selection_of(const cni::Request& request, const cni::PluginConfig& config) {
  api::NetworkSelection selection;
  selection.name = api::given(config.network);
  selection.interface = api::given(request.ifname);
  if (auto mac = TRY(parsed<MacAddress>(said(request, config, "mac", "mac", "MAC")))) selection.mac = api::given(*mac);
  if (auto guid = TRY(parsed<Guid>(said(request, config, "infinibandGUID", "", ""))))
    selection.infiniband_guid = api::given(*guid);
  if (auto device = said(request, config, "deviceID", "", "")) selection.device_id = api::given(device->text);
  if (config.args.is_object()) selection.cni_args = api::given(config.args);
  return selection;
}

}  // namespace railbed::agent
