// SPDX-License-Identifier: Apache-2.0
//
// Keys and their order are those of the operator's templates, so that a definition made here and one made by
// the operator are equal byte for byte. `vlan` and `vlanQoS` are always there, also when 0.
#include "api/load.h"
#include "base/well_known.h"

namespace railbed::api {

using doc::Value;

namespace {

Value main_plugin(const SriovNetwork& network) {
  Value plugin = Value::object();
  plugin.set("type", network.infiniband ? "ib-sriov" : "sriov");
  const auto text = [&](std::string_view key, const Field<std::string>& field) {
    if (!field.value.empty()) plugin.set(key, field.value);
  };
  const auto on_off = [&](std::string_view key, const Field<bool>& field) {
    if (field.present) plugin.set(key, field.value ? "on" : "off");
  };
  const auto rate = [&](std::string_view key, const Field<int>& field) {
    if (field.present) plugin.set(key, field.value);
  };
  if (!network.infiniband) {
    plugin.set("vlan", network.vlan.value);
    on_off("spoofchk", network.spoof_check);
    on_off("trust", network.trust);
    plugin.set("vlanQoS", network.vlan_qos.value);
    text("vlanProto", network.vlan_proto);
    rate("min_tx_rate", network.min_tx_rate_mbps);
    rate("max_tx_rate", network.max_tx_rate_mbps);
  }
  if (network.capabilities.present) plugin.set("capabilities", *network.capabilities);
  text("link_state", network.link_state);
  if (!network.infiniband) {
    text("logLevel", network.log_level);
    text("logFile", network.log_file);
  }
  plugin.set("ipam", network.ipam.present ? *network.ipam : Value::object());
  return plugin;
}

Field<Value> annotation(std::string text) {
  return given(Value(std::move(text)));
}

}  // namespace

std::string owner_ref(const Kind& kind, std::string_view ns, std::string_view name) {
  return fmt::format("{}.{}/{}/{}", kind.name, kind.group, ns, name);
}

NetworkAttachmentDefinition render(const SriovNetwork& network, std::string_view resource_prefix) {
  NetworkAttachmentDefinition out;
  out.meta.name = network.meta.name;
  out.meta.ns = network.network_namespace.value.empty() ? network.meta.ns : network.network_namespace;
  out.meta.span = network.meta.span;
  const std::string resource = fmt::format("{}/{}", resource_prefix, *network.resource_name);
  out.resource_name = {.value = resource, .present = true, .span = network.resource_name.span};
  out.meta.annotations[kResourceAnnotation] = annotation(resource);
  out.meta.annotations[std::string(kOwnerAnnotation)] =
      annotation(owner_ref(network_kind(network.infiniband), *network.meta.ns, *network.meta.name));
  out.config.cni_version = "1.0.0";
  out.config.name = *network.meta.name;
  Value plugin = main_plugin(network);
  out.config.plugins.push_back({*plugin.find("type")->as_string(), std::move(plugin)});
  if (const Value::Array* more = network.meta_plugins->as_array())
    for (const Value& config : *more) {
      const Value* type = config.find("type");
      out.config.plugins.push_back({type && type->as_string() ? *type->as_string() : "", config});
    }
  return out;
}

}  // namespace railbed::api
