// SPDX-License-Identifier: Apache-2.0
#include "api/cni_schema.h"

#include <algorithm>

#include "api/ipam_parse.h"
#include "doc/fields.h"
#include "schema/cni_types.h"

namespace railbed::api {

using doc::Value;

namespace {

std::vector<doc::Elsewhere> elsewhere(const CniType& type) {
  std::vector<doc::Elsewhere> out{
      {"isRdma", "is a field of SriovNetworkNodePolicy, not of a CNI plugin",
       "remove it; for RDMA in the pod chain the plugin \"rdma\" or use a resource whose policy has isRdma"},
      {"deviceType", "is a field of SriovNetworkNodePolicy, not of a CNI plugin", ""},
      {"numVfs", "is a field of SriovNetworkNodePolicy, not of a CNI plugin", ""},
      {"resourceName", "is an annotation of the attachment definition (k8s.v1.cni.cncf.io/resourceName)", ""}};
  static const std::vector<std::pair<std::string_view, std::string>> kSentences = [] {
    std::vector<std::pair<std::string_view, std::string>> all;
    for (const CniType& one : cni_types())
      if (one.makes_or_changes_interfaces())
        for (const CniKey& key : one.keys)
          all.emplace_back(key.name, fmt::format("is a field of the plugin \"{}\"", one.name));
    return all;
  }();
  for (const auto& [key, sentence] : kSentences)
    if (find_cni_key(type, key) == nullptr) out.push_back({key, sentence, ""});
  return out;
}

void check_text(doc::Fields& fields, const CniKey& key) {
  const auto text = fields.text(key.name);
  if (text.value.empty() && text.present && key.required)
    fields.error(6, text.span, fmt::format("{} is empty", fields.path_of(key.name)));
  if (text.value.empty() || key.problem == nullptr) return;
  if (const auto problem = key.problem(text.value))
    fields.error(5, text.span, fmt::format("{}: {}", fields.path_of(key.name), *problem));
}

void check_number(doc::Fields& fields, const CniKey& key) {
  const auto number = fields.integer(key.name, key.min, key.max);
  if (number.present && *number >= key.reserved.first && *number <= key.reserved.last)
    fields.error(5, number.span, fmt::format("{} {} is {}", fields.path_of(key.name), *number, key.reserved.why));
}

void check_texts(doc::Fields& fields, const CniKey& key) {
  const Value::Array* list = fields.list(key.name);
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const std::string path = fmt::format("{}[{}]", fields.path_of(key.name), i);
    const auto text = fields.text_of((*list)[i], path);
    if (!text.present || key.problem == nullptr) continue;
    if (const auto problem = key.problem(text.value)) fields.error(5, text.span, fmt::format("{}: {}", path, *problem));
  }
}

void check_field(doc::Fields& fields, const CniKey& key) {
  if (key.required) fields.require(key.name);
  switch (key.type) {
    case KeyType::kText:
      return check_text(fields, key);
    case KeyType::kFlag:
      fields.boolean(key.name);
      return;
    case KeyType::kNumber:
      return check_number(fields, key);
    case KeyType::kChoice:
      fields.choice(key.name, key.choices);
      return;
    case KeyType::kTexts:
      return check_texts(fields, key);
    case KeyType::kObject:
      fields.object(key.name);
      return;
    case KeyType::kAny:
      fields.take(key.name);
      return;
    case KeyType::kShape:
      break;
  }
  const Value* object = fields.object(key.name);
  if (key.required && object != nullptr && object->as_object()->empty())
    fields.error(6, object->span, fmt::format("{} is empty", fields.path_of(key.name)));
}

void check_unknown_type(const Plugin& plugin, doc::Fields& fields) {
  std::vector<std::string_view> known;
  for (const CniType& type : cni_types())
    if (type.role != CniRole::kIpam) known.push_back(type.name);
  if (std::ranges::find(known, plugin.type) != known.end()) return;
  const std::string meant = doc::nearest(plugin.type, known);
  const Value* type = plugin.config.find("type");
  auto& told = fields.warning(1, type ? type->span : plugin.config.span,
                              fmt::format("CNI plugin \"{}\" is unknown; its fields are not checked", plugin.type));
  // Plugins of others are nobody's mistake; a name that is near to a known one is.
  if (meant.empty())
    told.for_one_machine();
  else
    told.with_fix(fmt::format("did you mean \"{}\"?", meant));
}

// Fields of one plugin that do not go together.
void check_pairs(const Plugin& plugin, doc::Fields& fields) {
  if (plugin.type != "sriov") return;
  const auto number = [&](std::string_view key) {
    const Value* value = plugin.config.find(key);
    return value && value->as_int() ? *value->as_int() : 0;
  };
  if (number("vlanQoS") != 0 && number("vlan") == 0)
    fields.error(7, plugin.config.find("vlanQoS")->span, "vlanQoS needs a vlan that is not 0");
  const Value* proto = plugin.config.find("vlanProto");
  const bool is_ad =
      proto && proto->as_string() && (*proto->as_string() == "802.1ad" || *proto->as_string() == "802.1AD");
  if (is_ad && number("vlan") == 0) fields.error(7, proto->span, "vlanProto 802.1ad needs a vlan that is not 0");
  const Value* max_rate = plugin.config.find("max_tx_rate");
  if (max_rate && number("max_tx_rate") > 0 && number("min_tx_rate") > number("max_tx_rate"))
    fields.error(7, plugin.config.find("min_tx_rate")->span, "min_tx_rate is above max_tx_rate")
        .note(max_rate->span, "max_tx_rate is here");
}

void check_together(const Plugin& plugin, doc::Fields& fields) {
  check_pairs(plugin, fields);
  const doc::Value* ipam = plugin.config.find("ipam");
  const doc::Value* type = ipam ? ipam->find("type") : nullptr;
  if (plugin.type == "ib-sriov" && type && type->as_string() && *type->as_string() == "dhcp")
    fields.error(7, type->span, "dhcp does not work with ib-sriov").with_fix("use whereabouts, host-local or static");
  // Which partitions a port is in is told by the subnet manager; the kernel has no call that sets a VF's.
  if (const doc::Value* pkey = plugin.config.find("pkey");
      plugin.type == "ib-sriov" && pkey && pkey->as_string() && !pkey->as_string()->empty())
    fields
        .warning(8, pkey->span,
                 fmt::format("pkey {} is not set here: a port's partitions come from the subnet manager",
                             *pkey->as_string()))
        .with_fix("add the VFs' GUIDs to that partition there (partitions.conf of opensm, or UFM)")
        .for_one_machine();
}

}  // namespace

std::string pair_problem(const Plugin& plugin) {
  doc::Diagnostics out;
  doc::Fields fields(plugin.config, "", "RB-CNI", out);
  check_pairs(plugin, fields);
  return out.all().empty() ? "" : out.all().front().message;
}

void check_key(const Value& config, const std::string& path, const CniKey& key, doc::Diagnostics& out) {
  doc::Fields fields(config, path, "RB-CNI", out);
  check_field(fields, key);
}

void check_plugin(const Plugin& plugin, const std::string& path, doc::Diagnostics& out) {
  doc::Fields fields(plugin.config, path, "RB-CNI", out);
  const CniType* type = find_cni_type(plugin.type);
  if (type == nullptr || !type->makes_or_changes_interfaces()) return check_unknown_type(plugin, fields);
  // A text whose type is wrong is told where the list is read.
  fields.ignore({"type", "name"});
  for (const CniKey& key : cni_common_keys())
    if (key.name != "type" && key.name != "name" && find_cni_key(*type, key.name) == &key) check_field(fields, key);
  if (const Value* ipam = plugin.config.find("ipam"); ipam && ipam->is_object() && !ipam->as_object()->empty())
    check_ipam(*ipam, out);
  for (const CniKey& key : type->keys) check_field(fields, key);
  check_together(plugin, fields);
  fields.finish(elsewhere(*type));
}

}  // namespace railbed::api
