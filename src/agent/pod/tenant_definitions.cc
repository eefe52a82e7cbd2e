// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/tenant_definitions.h"

#include "agent/pod/meta_pod.h"
#include "api/network_demands.h"
#include "attach/keys.h"
#include "doc/members.h"
#include "schema/cni_types.h"

namespace railbed::agent {
namespace {

using doc::Value;

std::string shown(const Value& value) {
  const std::string* text = value.as_string();
  return text != nullptr ? *text : std::string("a value that is not a string");
}

std::optional<std::string> named_by(const Value& config, std::span<const schema::CniKey> keys,
                                    const std::string& type) {
  for (const schema::CniKey& key : keys) {
    const Value* value = key.of_host ? config.find(key.name) : nullptr;
    if (attach::is_given(value))
      return fmt::format("its key {} ({}) refers to the host: {}", key.name, type, shown(*value));
  }
  return std::nullopt;
}

bool is_set(const Value& config, std::string_view flag) {
  const Value* value = config.find(flag);
  return value != nullptr && value->as_bool() != nullptr && *value->as_bool();
}

// Of a type that railbed does itself.
std::optional<std::string> use_by_plugin(const Value& plugin, const schema::CniType& type) {
  const std::string name(type.name);
  const bool has_master = schema::find_cni_key(type, "master") != nullptr;
  if (!has_master || !is_set(plugin, "linkInContainer")) {  // with it, the master is the pod's own
    if (has_master && !attach::is_given(plugin.find("master")))
      return fmt::format("it has no master, so its {} uses the interface of the node's default route", name);
    if (auto key = named_by(plugin, type.keys, name)) return key;
  }
  if (auto key = named_by(plugin, schema::cni_common_keys(), name)) return key;
  if (api::declares(plugin, "deviceID"))
    return fmt::format("its capability deviceID ({}) lets pods name devices", name);
  return std::nullopt;
}

std::optional<std::string> use_by_ipam(const Value& ipam) {
  const std::string name = type_of(ipam);
  if (name.empty()) return std::nullopt;
  const schema::CniType* type = schema::find_cni_type(name);
  if (type == nullptr || !type->ours) return fmt::format("its IPAM plugin {} is executed as root on the node", name);
  return named_by(ipam, type->keys, name);
}

}  // namespace

std::optional<std::string> use_of_node(const cni::ListConfig& list) {
  for (const Value& plugin : list.plugins) {
    const std::string name = type_of(plugin);
    if (!is_native(name)) return fmt::format("its plugin {} is executed as root on the node", name);
    if (auto use = use_by_plugin(plugin, *schema::find_cni_type(name))) return use;
    if (const Value* ipam = doc::object_in(plugin, "ipam"); ipam != nullptr)
      if (auto use = use_by_ipam(*ipam)) return use;
  }
  return std::nullopt;
}

}  // namespace railbed::agent
