// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/network_status.h"

#include <set>

#include "doc/json.h"
#include "doc/members.h"

namespace railbed::agent {
namespace {

using doc::Value;

Value dns_value(const cni::Dns& dns) {
  Value value = Value::object();
  if (!dns.nameservers.empty()) value.set("nameservers", doc::texts(dns.nameservers));
  if (!dns.domain.empty()) value.set("domain", dns.domain);
  if (!dns.search.empty()) value.set("search", doc::texts(dns.search));
  if (!dns.options.empty()) value.set("options", doc::texts(dns.options));
  return value;
}

// Gateways of the network's default routes.
std::vector<std::string> default_gateways(const cni::AddResult& result) {
  std::vector<std::string> gateways;
  for (const Route& route : result.routes)
    if (route.destination.length == 0 && route.gateway.has_value()) gateways.push_back(route.gateway->to_string());
  return gateways;
}

struct Element {
  const cni::Interface* interface = nullptr;
  std::vector<std::string> addresses;
  bool has_gateway = false;
};

std::vector<Element> elements_of(const cni::AddResult& result) {
  std::vector<Element> elements;
  std::vector<int> position(result.interfaces.size(), -1);
  for (size_t i = 0; i < result.interfaces.size(); ++i) {
    if (result.interfaces[i].sandbox.empty()) continue;  // on the host's side
    position[i] = static_cast<int>(elements.size());
    elements.push_back({.interface = &result.interfaces[i], .addresses = {}});
  }
  if (elements.empty()) elements.emplace_back();
  for (const cni::Address& one : result.addresses) {
    size_t index = elements.size() - 1;  // without an interface it belongs to the last one
    if (one.interface.has_value() && *one.interface >= 0 && static_cast<size_t>(*one.interface) < position.size()) {
      if (position[static_cast<size_t>(*one.interface)] < 0) continue;
      index = static_cast<size_t>(position[static_cast<size_t>(*one.interface)]);
    }
    elements[index].addresses.push_back(one.address.address.to_string());
    if (one.gateway.has_value()) elements[index].has_gateway = true;
  }
  return elements;
}

size_t default_of(const std::vector<Element>& elements) {
  for (size_t i = 0; i < elements.size(); ++i)
    if (elements[i].has_gateway) return i;
  return 0;
}

}  // namespace

Value to_value(const NetworkStatus& network) {
  std::vector<Element> elements = elements_of(network.result);
  std::vector<std::string> gateways = default_gateways(network.result);
  Value all = Value::array();
  for (size_t i = 0; i < elements.size(); ++i) {
    const Element& element = elements[i];
    Value one = Value::object();
    one.set("name", network.name);
    if (element.interface != nullptr) one.set("interface", element.interface->name);
    if (!element.addresses.empty()) one.set("ips", doc::texts(element.addresses));
    if (element.interface != nullptr && !element.interface->mac.empty()) one.set("mac", element.interface->mac);
    if (element.interface != nullptr && element.interface->mtu > 0) one.set("mtu", element.interface->mtu);
    if (network.is_default && i == default_of(elements)) one.set("default", true);
    one.set("dns", dns_value(network.result.dns));
    if (!network.device_info.is_null()) one.set("device-info", network.device_info);
    if (!gateways.empty()) one.set("gateway", doc::texts(gateways));
    all.push(std::move(one));
  }
  return all;
}

Value to_value(const std::vector<NetworkStatus>& networks) {
  Value all = Value::array();
  for (const NetworkStatus& network : networks) {
    Value elements = to_value(network);
    for (Value& element : *elements.as_array()) all.push(std::move(element));
  }
  return all;
}

std::string annotation_text(const Value& status) {
  std::string text;
  for (const Value& element : *status.as_array()) text += (text.empty() ? "" : ",") + doc::to_json(element, 4);
  return "[" + text + "]";
}

}  // namespace railbed::agent
