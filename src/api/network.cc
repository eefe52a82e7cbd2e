// SPDX-License-Identifier: Apache-2.0
#include "api/network.h"

#include <algorithm>

#include "api/cni_plugin.h"
#include "api/compare.h"
#include "api/ipam_parse.h"
#include "api/metadata.h"
#include "api/names.h"
#include "base/text.h"
#include "doc/json.h"
#include "doc/members.h"

namespace railbed::api {

using doc::Value;

namespace {

class NetworkReader {
 public:
  NetworkReader(const Value& object, bool infiniband, doc::Diagnostics& out) : object_(object), out_(out) {
    network_.infiniband = infiniband;
  }

  SriovNetwork read() {
    network_.meta = read_metadata(object_, out_);
    if (const Value* spec = doc::object_in(object_, "spec")) read_spec(*spec);
    return std::move(network_);
  }

 private:
  void read_spec(const Value& spec) {
    network_.resource_name = doc::text_field(spec, "resourceName");
    check_resource_name(network_.resource_name, "spec.resourceName", out_);
    network_.network_namespace = doc::text_field(spec, "networkNamespace");
    if (!network_.network_namespace.value.empty())
      check_label(network_.network_namespace, "spec.networkNamespace", out_);
    network_.link_state = doc::text_field(spec, "linkState");
    read_json(spec);
    if (!network_.infiniband) read_ethernet(spec);
  }

  void read_ethernet(const Value& spec) {
    network_.vlan = doc::number_field(spec, "vlan");
    network_.vlan_qos = doc::number_field(spec, "vlanQoS");
    network_.vlan_proto = doc::text_field(spec, "vlanProto");
    network_.vlan_proto.value = lower(network_.vlan_proto.value);
    network_.spoof_check = on_off(spec, "spoofChk");
    network_.trust = on_off(spec, "trust");
    network_.min_tx_rate_mbps = rate(spec, "minTxRate");
    network_.max_tx_rate_mbps = rate(spec, "maxTxRate");
    network_.log_level = doc::text_field(spec, "logLevel");
    network_.log_file = doc::text_field(spec, "logFile");
    const bool no_vlan = *network_.vlan == 0;
    if (*network_.vlan_qos != 0 && no_vlan) wrong(network_.vlan_qos.span, "spec.vlanQoS needs a vlan that is not 0");
    if (*network_.vlan_proto == "802.1ad" && no_vlan)
      wrong(network_.vlan_proto.span, "spec.vlanProto 802.1ad needs a vlan that is not 0");
    if (*network_.max_tx_rate_mbps > 0 && *network_.min_tx_rate_mbps > *network_.max_tx_rate_mbps)
      wrong(network_.min_tx_rate_mbps.span, "spec.minTxRate is above spec.maxTxRate")
          .note(network_.max_tx_rate_mbps.span, "maxTxRate is here");
  }

  static Field<bool> on_off(const Value& spec, std::string_view key) {
    const auto text = doc::text_field(spec, key);
    return {.value = text.value == "on", .present = text.present, .span = text.span};
  }

  // The definition of the kind has no upper bound.
  Field<int> rate(const Value& spec, std::string_view key) {
    const Value* value = spec.find(key);
    const int64_t* number = value != nullptr ? value->as_int() : nullptr;
    if (number != nullptr && *number > INT32_MAX)
      wrong(value->span, fmt::format("spec.{} must be 0 to {}, found {}", key, INT32_MAX, *number))
          .about_field(fmt::format("spec.{}", key));
    return doc::number_field(spec, key);
  }

  void read_json(const Value& spec) {
    network_.ipam = embedded(spec, "ipam");
    if (network_.ipam.present && !network_.ipam->as_object()->empty()) {
      check_ipam(*network_.ipam, out_);
      if (network_.infiniband && doc::text_in(*network_.ipam, "type") == "dhcp")
        wrong(network_.ipam->find("type")->span, "dhcp does not work with InfiniBand VFs")
            .with_fix("use whereabouts, host-local or static");
    }
    network_.capabilities = embedded(spec, "capabilities");
    const Value* plugins = text_of_json(spec, "metaPlugins");
    doc::Diagnostics reported;
    auto list = plugins != nullptr ? doc::parse_embedded_json_list(*plugins, reported) : std::nullopt;
    if (!list) return;
    for (const Value& item : *list->as_array())
      if (std::string type = doc::text_in(item, "type"); !type.empty())
        check_plugin({std::move(type), item}, "spec.metaPlugins", out_);
    network_.meta_plugins = {.value = *std::move(list), .present = true, .span = plugins->span};
  }

  // Null where there is none; an empty text is no JSON, but harmless.
  static const Value* text_of_json(const Value& spec, std::string_view key) {
    const Value* value = spec.find(key);
    const std::string* text = value != nullptr ? value->as_string() : nullptr;
    return text != nullptr && text->find_first_not_of(" \t\r\n") != std::string::npos ? value : nullptr;
  }

  // A field whose text contains a JSON object.
  static Field<Value> embedded(const Value& spec, std::string_view key) {
    const Value* text = text_of_json(spec, key);
    doc::Diagnostics reported;
    auto json = text != nullptr ? doc::parse_embedded_json(*text, reported) : std::nullopt;
    if (!json || !json->is_object()) return {};
    return {.value = *std::move(json), .present = true, .span = text->span};
  }

  doc::Diagnostic& wrong(const doc::Span& span, std::string message) {
    return wrong_value(span, std::move(message), out_);
  }

  const Value& object_;
  doc::Diagnostics& out_;
  SriovNetwork network_;
};

}  // namespace

SriovNetwork read_sriov_network(const Value& object, doc::Diagnostics& out) {
  return NetworkReader(object, false, out).read();
}

SriovNetwork read_sriov_ib_network(const Value& object, doc::Diagnostics& out) {
  return NetworkReader(object, true, out).read();
}

std::optional<SriovNetwork> parse_sriov_network(const Value& object, doc::Diagnostics& diagnostics) {
  return parsed<read_sriov_network>(network_kind(false).name, object, StatusPart::kSkipped, diagnostics);
}

std::optional<SriovNetwork> parse_sriov_ib_network(const Value& object, doc::Diagnostics& diagnostics) {
  return parsed<read_sriov_ib_network>(network_kind(true).name, object, StatusPart::kSkipped, diagnostics);
}

}  // namespace railbed::api
