// SPDX-License-Identifier: Apache-2.0
// Spelling follows the reference library, so that results can be compared byte by byte: 1.x sorts the members
// of every object and leaves an empty dns out, 0.x writes them in the order of the specification and always
// has dns. A result of 1.0.0 keeps the members that came with 1.1.0; 0.x has no mtu, socketPath, pciID.
#include "cni/add_result.h"

#include <algorithm>

#include "cni/fields.h"
#include "doc/json.h"

namespace railbed::cni {

namespace {
using doc::Value;

constexpr std::string_view kKnown[] = {"cniVersion", "interfaces", "ips", "routes", "dns"};
constexpr std::string_view kKnown02[] = {"cniVersion", "ip4", "ip6", "dns"};

Outcome<IpPrefix> prefix(const Fields& fields, std::string_view key) {
  const std::string text = TRY_CNI(fields.text(key));
  const Value* value = fields.find(key);
  if (value == nullptr) return fields.wrong(Value(), key, "an address with its prefix length is missing");
  auto parsed = IpPrefix::parse(text);
  if (!parsed) return fields.wrong(*value, key, parsed.error().story());
  return *parsed;
}

Outcome<std::optional<IpAddress>> address(const Fields& fields, std::string_view key) {
  const std::string text = TRY_CNI(fields.text(key));
  if (text.empty()) return std::nullopt;
  auto parsed = IpAddress::parse(text);
  if (!parsed) return fields.wrong(*fields.find(key), key, parsed.error().story());
  return *parsed;
}

Outcome<Interface> read_interface(const Fields& fields) {
  Interface out;
  out.name = TRY_CNI(fields.text("name"));
  out.mac = TRY_CNI(fields.text("mac"));
  out.mtu = TRY_CNI(fields.number("mtu")).value_or(0);
  out.sandbox = TRY_CNI(fields.text("sandbox"));
  out.socket_path = TRY_CNI(fields.text("socketPath"));
  out.pci_id = TRY_CNI(fields.text("pciID"));
  return out;
}

Outcome<Address> read_address(const Fields& fields) {
  Address out;
  out.address = TRY_CNI(prefix(fields, "address"));
  out.gateway = TRY_CNI(address(fields, "gateway"));
  out.interface = TRY_CNI(fields.number("interface"));
  if (out.interface && *out.interface < 0) out.interface.reset();  // "none", of plugins before 0.4.0
  return out;
}

// 0 is "not told" for the first three, as the reference library has it; table and scope 0 mean something.
std::optional<int> unless_zero(std::optional<int> number) {
  return number == 0 ? std::nullopt : number;
}

Outcome<Route> read_route(const Fields& fields) {
  Route out;
  out.destination = TRY_CNI(prefix(fields, "dst"));
  out.gateway = TRY_CNI(address(fields, "gw"));
  out.mtu = unless_zero(TRY_CNI(fields.number("mtu")));
  out.advmss = unless_zero(TRY_CNI(fields.number("advmss")));
  out.metric = unless_zero(TRY_CNI(fields.number("priority")));
  out.table = TRY_CNI(fields.number("table"));
  out.scope = TRY_CNI(fields.number("scope"));
  return out;
}

Outcome<Dns> read_dns(const Fields& fields) {
  Dns out;
  out.nameservers = TRY_CNI(fields.texts("nameservers"));
  out.domain = TRY_CNI(fields.text("domain"));
  out.search = TRY_CNI(fields.texts("search"));
  out.options = TRY_CNI(fields.texts("options"));
  return out;
}

template <typename T>
Outcome<void> read_items(const Fields& fields, std::string_view key, Outcome<T> (*read)(const Fields&),
                         std::vector<T>& out) {
  const Value::Array* items = TRY_CNI(fields.array(key));
  if (items == nullptr) return {};
  for (size_t i = 0; i < items->size(); ++i) {
    const Value& item = (*items)[i];
    const Fields inner(item, fmt::format("{}[{}]", fields.name_of(key), i), kDecode);
    if (!item.is_object())
      return inner.wrong(item, "", fmt::format("an object should stand here, not {}", kind_name(item.kind())));
    out.push_back(TRY_CNI(read(inner)));
  }
  return {};
}

// 0.1.0 and 0.2.0: one address per family, each with its routes.
Outcome<void> read_family(const Fields& fields, std::string_view key, AddResult& out) {
  const Value* value = TRY_CNI(fields.object(key));
  if (value == nullptr) return {};
  const Fields inner(*value, std::string(key), kDecode);
  Address one;
  one.address = TRY_CNI(prefix(inner, "ip"));
  one.gateway = TRY_CNI(address(inner, "gateway"));
  out.addresses.push_back(one);
  return read_items(inner, "routes", read_route, out.routes);
}

Value texts(const std::vector<std::string>& items) {
  Value out = Value::array();
  for (const std::string& item : items) out.push(item);
  return out;
}
void set_text(Value& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object.set(key, text);
}
void set_number(Value& object, std::string_view key, const std::optional<int>& number) {
  if (number) object.set(key, *number);
}
void set_texts(Value& object, std::string_view key, const std::vector<std::string>& items) {
  if (!items.empty()) object.set(key, texts(items));
}

// Objects are written in the order of 0.x; in 1.x the members of each object are sorted.
void sort_members(Value& value) {
  if (Value::Object* members = value.as_object()) {
    std::ranges::stable_sort(*members, {}, &Value::Member::key);
    for (Value::Member& member : *members) sort_members(member.value);
  } else if (Value::Array* items = value.as_array()) {
    for (Value& item : *items) sort_members(item);
  }
}

Value to_value(const Interface& from, bool old) {
  Value out = Value::object();
  out.set("name", from.name);
  set_text(out, "mac", from.mac);
  set_text(out, "sandbox", from.sandbox);
  if (old) return out;
  if (from.mtu != 0) out.set("mtu", from.mtu);
  set_text(out, "socketPath", from.socket_path);
  set_text(out, "pciID", from.pci_id);
  return out;
}

Value to_value(const Address& from, bool old) {
  Value out = Value::object();
  if (old) out.set("version", from.address.address.family == IpFamily::kV4 ? "4" : "6");
  set_number(out, "interface", from.interface);
  out.set("address", from.address.to_string());
  if (from.gateway) out.set("gateway", from.gateway->to_string());
  return out;
}

Value to_value(const Route& from) {
  Value out = Value::object();
  out.set("dst", from.destination.to_string());
  if (from.gateway) out.set("gw", from.gateway->to_string());
  set_number(out, "mtu", from.mtu);
  set_number(out, "advmss", from.advmss);
  set_number(out, "priority", from.metric);
  set_number(out, "table", from.table);
  set_number(out, "scope", from.scope);
  return out;
}

Value to_value(const Dns& from) {
  Value out = Value::object();
  set_texts(out, "nameservers", from.nameservers);
  set_text(out, "domain", from.domain);
  set_texts(out, "search", from.search);
  set_texts(out, "options", from.options);
  return out;
}
}  // namespace

Outcome<AddResult> read_result(const Value& result, const std::string& config_version) {
  const Fields fields(result, "", kDecode);
  if (!result.is_object())
    return fields.wrong(result, "result", fmt::format("an object should stand here, not {}", kind_name(result.kind())));
  const std::string told = TRY_CNI(fields.text("cniVersion"));
  const Version version = TRY_CNI(parse_version(told.empty() ? config_version : told));
  const bool ancient = version < Version{0, 3, 0};
  AddResult out;
  if (ancient) {
    TRY_CNI(read_family(fields, "ip4", out));
    TRY_CNI(read_family(fields, "ip6", out));
  } else {
    TRY_CNI(read_items(fields, "interfaces", read_interface, out.interfaces));
    TRY_CNI(read_items(fields, "ips", read_address, out.addresses));
    TRY_CNI(read_items(fields, "routes", read_route, out.routes));
  }
  const Value* dns = TRY_CNI(fields.object("dns"));
  if (dns != nullptr) out.dns = TRY_CNI(read_dns(Fields(*dns, "dns", kDecode)));
  for (const Value::Member& member : *result.as_object()) {
    const bool known = std::ranges::find(kKnown, member.key) != std::end(kKnown) ||
                       (ancient && std::ranges::find(kKnown02, member.key) != std::end(kKnown02));
    if (!known) out.extra.set(member.key, member.value);
  }
  // The order has no meaning, and 1.x sorts the members anyway.
  if (out.extra.is_object()) std::ranges::stable_sort(*out.extra.as_object(), {}, &Value::Member::key);
  return out;
}

Outcome<AddResult> read_result(const std::string& json, const std::string& config_version) {
  return read_result(TRY_CNI(read_object(json, "result")), config_version);
}

Value to_value(const AddResult& result, const Version& version) {
  const bool old = version < Version{1, 0, 0};
  Value out = Value::object();
  out.set("cniVersion", version.to_string());
  if (!result.interfaces.empty()) {
    Value& items = out.set("interfaces", Value::array());
    for (const Interface& one : result.interfaces) items.push(to_value(one, old));
  }
  if (!result.addresses.empty()) {
    Value& items = out.set("ips", Value::array());
    for (const Address& one : result.addresses) items.push(to_value(one, old));
  }
  if (!result.routes.empty()) {
    Value& items = out.set("routes", Value::array());
    for (const Route& one : result.routes) items.push(to_value(one));
  }
  if (old || !result.dns.empty()) out.set("dns", to_value(result.dns));
  if (!old) sort_members(out);
  if (const Value::Object* extra = result.extra.as_object()) {
    for (const Value::Member& member : *extra)
      if (std::ranges::find(kKnown, member.key) == std::end(kKnown)) out.set(member.key, member.value);
    if (!old) std::ranges::stable_sort(*out.as_object(), {}, &Value::Member::key);
  }
  return out;
}

std::string to_json(const AddResult& result, const Version& version) {
  return doc::to_json(to_value(result, version), 4);
}

}  // namespace railbed::cni
