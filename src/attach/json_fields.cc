// SPDX-License-Identifier: Apache-2.0
#include "attach/json_fields.h"

#include <algorithm>

#include "doc/fields.h"

namespace railbed::attach {

Result<doc::Value> parse_object(const std::string& text) {
  Result<doc::Value> object = doc::read_object("state", text);
  if (!object.has_value())
    return fail(Code::kInvalid, "the state contains a record that is not a JSON object: \"{}\"", text);
  return object;
}

std::optional<int> number_of_word(const std::string& word, std::span<const std::string_view> words) {
  const auto found = std::ranges::find(words, word);
  return found == words.end() ? std::nullopt : std::optional(static_cast<int>(found - words.begin()));
}

void put_prefixes(doc::Value& object, std::string_view key, const std::vector<IpPrefix>& prefixes) {
  std::vector<std::string> texts;
  for (const IpPrefix& prefix : prefixes) texts.push_back(prefix.to_string());
  put_texts(object, key, texts);
}
Result<std::vector<IpPrefix>> prefixes_in(const doc::Value& object, std::string_view key) {
  std::vector<IpPrefix> prefixes;
  for (const std::string& text : texts_in(object, key)) prefixes.push_back(TRY(IpPrefix::parse(text)));
  return prefixes;
}

void put_routes(doc::Value& object, std::string_view key, const std::vector<Route>& routes) {
  if (routes.empty()) return;
  doc::Value array = doc::Value::array();
  for (const Route& route : routes) {
    doc::Value one = doc::Value::object();
    one.set("dst", route.destination.to_string());
    put_parsed(one, "gw", route.gateway);
    put_number(one, "link", route.link.value);
    put_optional(one, "metric", route.metric);
    put_optional(one, "table", route.table);
    put_optional(one, "mtu", route.mtu);
    put_optional(one, "advmss", route.advmss);
    put_optional(one, "scope", route.scope);
    put_parsed(one, "src", route.source);
    array.push(std::move(one));
  }
  object.set(key, std::move(array));
}
Result<std::vector<Route>> routes_in(const doc::Value& object, std::string_view key) {
  std::vector<Route> routes;
  const doc::Value* found = object.find(key);
  if (found == nullptr || !found->is_array()) return routes;
  for (const doc::Value& one : *found->as_array()) {
    Route route{.destination = TRY(IpPrefix::parse(text_in(one, "dst")))};
    route.gateway = TRY(parsed_in<IpAddress>(one, "gw"));
    route.link = IfIndex{number_in(one, "link")};
    route.metric = optional_number(one, "metric");
    route.table = optional_number(one, "table");
    route.mtu = optional_number(one, "mtu");
    route.advmss = optional_number(one, "advmss");
    route.scope = optional_number(one, "scope");
    route.source = TRY(parsed_in<IpAddress>(one, "src"));
    routes.push_back(route);
  }
  return routes;
}

void put_rules(doc::Value& object, std::string_view key, const std::vector<os::Rule>& rules) {
  if (rules.empty()) return;
  doc::Value array = doc::Value::array();
  for (const os::Rule& rule : rules) {
    doc::Value one = doc::Value::object();
    one.set("from", rule.source.to_string());
    one.set("table", rule.table);
    put_optional(one, "priority", rule.priority);
    array.push(std::move(one));
  }
  object.set(key, std::move(array));
}
Result<std::vector<os::Rule>> rules_in(const doc::Value& object, std::string_view key) {
  std::vector<os::Rule> rules;
  const doc::Value* found = object.find(key);
  if (found == nullptr || !found->is_array()) return rules;
  for (const doc::Value& one : *found->as_array())
    rules.push_back({.source = TRY(IpPrefix::parse(text_in(one, "from"))),
                     .table = number_in(one, "table"),
                     .priority = optional_number(one, "priority")});
  return rules;
}

void put_vf_settings(doc::Value& object, std::string_view key, const os::VfChange& settings) {
  if (settings.empty()) return;
  doc::Value one = doc::Value::object();
  put_parsed(one, "mac", settings.mac);
  if (settings.vlan.has_value()) {
    one.set("vlan", settings.vlan->id);
    one.set("qos", settings.vlan->qos);
    one.set("proto", static_cast<int>(settings.vlan->proto));
  }
  put_optional(one, "spoofchk", settings.spoof_check);
  put_optional(one, "trust", settings.trust);
  if (settings.link_state.has_value()) one.set("link_state", static_cast<int>(*settings.link_state));
  if (settings.rate.has_value()) {
    one.set("min_tx_rate", settings.rate->min_mbps);
    one.set("max_tx_rate", settings.rate->max_mbps);
  }
  put_parsed(one, "node_guid", settings.node_guid);
  put_parsed(one, "port_guid", settings.port_guid);
  object.set(key, std::move(one));
}
Result<os::VfChange> vf_settings_in(const doc::Value& object, std::string_view key) {
  os::VfChange settings;
  const doc::Value* one = object.find(key);
  if (one == nullptr) return settings;
  settings.mac = TRY(parsed_in<MacAddress>(*one, "mac"));
  if (one->find("vlan") != nullptr)
    settings.vlan = os::VfChange::Vlan{number_in(*one, "vlan"), number_in(*one, "qos"),
                                       choice_in<os::VlanProto>(*one, "proto", kVlanProtoWords)};
  settings.spoof_check = optional_flag(*one, "spoofchk");
  settings.trust = optional_flag(*one, "trust");
  if (one->find("link_state") != nullptr)
    settings.link_state = choice_in<os::VfLinkState>(*one, "link_state", kLinkStateWords);
  if (one->find("min_tx_rate") != nullptr)
    settings.rate = os::VfChange::Rate{number_in(*one, "min_tx_rate"), number_in(*one, "max_tx_rate")};
  settings.node_guid = TRY(parsed_in<Guid>(*one, "node_guid"));
  settings.port_guid = TRY(parsed_in<Guid>(*one, "port_guid"));
  return settings;
}

}  // namespace railbed::attach
