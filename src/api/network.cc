// SPDX-License-Identifier: Apache-2.0
#include "api/network.h"

#include <algorithm>

#include "api/cni_schema.h"
#include "api/ipam_parse.h"
#include "api/metadata.h"
#include "api/names.h"
#include "doc/fields.h"
#include "doc/json.h"

namespace railbed::api {

using doc::Value;

namespace {

constexpr std::string_view kSriovNetwork = kind_named("SriovNetwork").name;
constexpr std::string_view kSriovIbNetwork = kind_named("SriovIBNetwork").name;

class NetworkReader {
 public:
  NetworkReader(const Value& object, std::string_view kind, doc::Diagnostics& out)
      : object_(object), kind_(kind), out_(out) {
    network_.infiniband = kind == kSriovIbNetwork;
  }

  SriovNetwork read() {
    doc::Fields top(object_, "", "RB-API", out_);
    top.ignore({"apiVersion", "kind", "status"});
    network_.meta = read_metadata(top, out_);
    top.require("spec");
    if (const Value* spec = top.object("spec")) read_spec(*spec);
    top.finish(top_level({{"resourceName", "is a field of spec", "indent it below 'spec:'"},
                          {"ipam", "is a field of spec", "indent it below 'spec:'"}}));
    return std::move(network_);
  }

 private:
  void read_spec(const Value& object) {
    doc::Fields spec(object, "spec", "RB-API", out_);
    spec.require("resourceName");
    network_.resource_name = spec.text("resourceName");
    check_resource_name(network_.resource_name, "spec.resourceName", out_);
    network_.network_namespace = spec.text("networkNamespace");
    if (!network_.network_namespace.value.empty())
      check_label(network_.network_namespace, "spec.networkNamespace", out_);
    network_.link_state = spec.choice("linkState", {"auto", "enable", "disable"});
    read_json(spec);
    if (!network_.infiniband) read_ethernet(spec);
    spec.finish(elsewhere());
  }

  std::vector<Elsewhere> elsewhere() const {
    std::vector<Elsewhere> out{
        {"isRdma", "is a field of SriovNetworkNodePolicy, not of a network", "set it in the policy"},
        {"mtu", "is a field of SriovNetworkNodePolicy, not of a network",
         "set it in the policy, or add {\"type\": \"tuning\", \"mtu\": …} to metaPlugins"},
        {"linkType", "is a field of SriovNetworkNodePolicy, not of a network", "set it in the policy"},
        {"deviceType", "is a field of SriovNetworkNodePolicy, not of a network", "set it in the policy"},
        {"namespace", "is a field of metadata; the pods' namespace is 'networkNamespace'", ""}};
    if (!network_.infiniband) return out;
    for (std::string_view key : {"vlan", "vlanQoS", "vlanProto", "spoofChk", "trust", "minTxRate", "maxTxRate"})
      out.push_back({key, "is a field of SriovNetwork; an InfiniBand network has none", ""});
    for (std::string_view key : {"pkey", "rdmaIsolation", "ibKubernetesEnabled"})
      out.push_back({key, "is a field of the plugin \"ib-sriov\", not of SriovIBNetwork",
                     "write a NetworkAttachmentDefinition instead"});
    return out;
  }

  void read_ethernet(doc::Fields& spec) {
    network_.vlan = spec.integer("vlan", 0, 4094);
    network_.vlan_qos = spec.integer("vlanQoS", 0, 7);
    network_.vlan_proto = spec.choice("vlanProto", {"802.1q", "802.1ad", "802.1Q", "802.1AD"});
    std::ranges::transform(network_.vlan_proto.value, network_.vlan_proto.value.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    network_.spoof_check = on_off(spec, "spoofChk");
    network_.trust = on_off(spec, "trust");
    network_.min_tx_rate_mbps = spec.integer("minTxRate", 0, INT32_MAX);
    network_.max_tx_rate_mbps = spec.integer("maxTxRate", 0, INT32_MAX);
    network_.log_level = spec.choice("logLevel", {"panic", "error", "warning", "info", "debug", ""});
    network_.log_file = spec.text("logFile");
    const bool no_vlan = *network_.vlan == 0;
    if (*network_.vlan_qos != 0 && no_vlan)
      spec.error(5, network_.vlan_qos.span, "spec.vlanQoS needs a vlan that is not 0");
    if (*network_.vlan_proto == "802.1ad" && no_vlan)
      spec.error(5, network_.vlan_proto.span, "spec.vlanProto 802.1ad needs a vlan that is not 0");
    if (*network_.max_tx_rate_mbps > 0 && *network_.min_tx_rate_mbps > *network_.max_tx_rate_mbps)
      spec.error(5, network_.min_tx_rate_mbps.span, "spec.minTxRate is above spec.maxTxRate")
          .note(network_.max_tx_rate_mbps.span, "maxTxRate is here");
  }

  // YAML reads an unquoted `on` as true, but the operator requires a text.
  Field<bool> on_off(doc::Fields& spec, std::string_view key) {
    const Value* value = spec.take(key);
    if (value != nullptr && value->as_bool() != nullptr) {
      spec.error(4, value->span,
                 fmt::format("{} must be \"on\" or \"off\"; without quotes YAML reads {} as a boolean",
                             spec.path_of(key), value->written()))
          .with_fix(fmt::format("{}: \"{}\"", key, *value->as_bool() ? "on" : "off"));
      return {};
    }
    const auto text = spec.choice(key, {"on", "off"});
    return {.value = text.value == "on", .present = text.present, .span = text.span};
  }

  void read_json(doc::Fields& spec) {
    network_.ipam = embedded(spec, "ipam");
    if (network_.ipam.present && !network_.ipam->as_object()->empty()) {
      check_ipam(*network_.ipam, out_);
      const Value* type = network_.ipam->find("type");
      if (network_.infiniband && type && type->as_string() && *type->as_string() == "dhcp")
        spec.error(5, type->span, "dhcp does not work with InfiniBand VFs")
            .with_fix("use whereabouts, host-local or static");
    }
    network_.capabilities = embedded(spec, "capabilities");
    const Value* plugins = spec.take("metaPlugins");
    if (plugins == nullptr || !is_text_of_json(spec, *plugins, "metaPlugins")) return;
    auto list = doc::parse_embedded_json_list(*plugins, out_);
    if (!list) return;
    for (const Value& item : *list->as_array()) {
      doc::Fields fields(item, "spec.metaPlugins", "RB-CNI", out_);
      if (!item.is_object()) continue;
      fields.require("type");
      const auto type = fields.text("type");
      if (!type.value.empty()) check_plugin({type.value, item}, "spec.metaPlugins", out_);
    }
    network_.meta_plugins = {.value = *std::move(list), .present = true, .span = plugins->span};
  }

  bool is_text_of_json(doc::Fields& spec, const Value& value, std::string_view key) {
    if (const std::string* text = value.as_string())
      return text->find_first_not_of(" \t\r\n") != std::string::npos;  // an empty text is no JSON, but harmless
    const std::string name = spec.path_of(key);
    spec.error(4, value.span, fmt::format("{} must be a text that holds JSON, found {}", name, kind_name(value.kind())))
        .with_fix(fmt::format("write '{}: |' and the JSON below it, indented", key));
    return false;
  }

  // A field whose text contains a JSON object.
  Field<Value> embedded(doc::Fields& spec, std::string_view key) {
    const Value* text = spec.take(key);
    if (text == nullptr || !is_text_of_json(spec, *text, key)) return {};
    auto json = doc::parse_embedded_json(*text, out_);
    if (!json) return {};
    if (!json->is_object()) {
      spec.error(4, json->span,
                 fmt::format("{} must hold a JSON object, found {}", spec.path_of(key), kind_name(json->kind())));
      return {};
    }
    return {.value = *std::move(json), .present = true, .span = text->span};
  }

  const Value& object_;
  std::string_view kind_;
  doc::Diagnostics& out_;
  SriovNetwork network_;
};

std::optional<SriovNetwork> parse_network(const Value& object, std::string_view kind, doc::Diagnostics& diagnostics) {
  doc::Diagnostics found;
  SriovNetwork network = NetworkReader(object, kind, found).read();
  const bool right = !found.has_errors();
  diagnostics.append(std::move(found));
  if (!right) return std::nullopt;
  return network;
}

}  // namespace

std::optional<SriovNetwork> parse_sriov_network(const Value& object, doc::Diagnostics& diagnostics) {
  return parse_network(object, kSriovNetwork, diagnostics);
}

std::optional<SriovNetwork> parse_sriov_ib_network(const Value& object, doc::Diagnostics& diagnostics) {
  return parse_network(object, kSriovIbNetwork, diagnostics);
}

bool operator==(const SriovNetwork& a, const SriovNetwork& b) {
  return a.infiniband == b.infiniband && a.meta == b.meta && a.network_namespace == b.network_namespace &&
         a.resource_name == b.resource_name && a.vlan == b.vlan && a.vlan_qos == b.vlan_qos &&
         a.vlan_proto == b.vlan_proto && a.spoof_check == b.spoof_check && a.trust == b.trust &&
         a.link_state == b.link_state && a.min_tx_rate_mbps == b.min_tx_rate_mbps &&
         a.max_tx_rate_mbps == b.max_tx_rate_mbps && a.ipam == b.ipam && a.capabilities == b.capabilities &&
         a.meta_plugins == b.meta_plugins && a.log_level == b.log_level && a.log_file == b.log_file;
}

}  // namespace railbed::api
