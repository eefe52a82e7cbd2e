// SPDX-License-Identifier: Apache-2.0
// Spelling follows the reference library, so that results can be compared byte by byte: 1.x sorts the members
// of every object and leaves an empty dns out, 0.x writes them in the order of the specification and always
// has dns. A result of 1.0.0 keeps the members that came with 1.1.0; 0.x has no mtu, socketPath, pciID.
#include "cni/add_result.h"

#include <algorithm>

#include "cni/reading.h"
#include "doc/json.h"
#include "doc/members.h"

namespace railbed::cni {

namespace {
using doc::Fields;
using doc::Value;

constexpr std::string_view kKnown[] = {"cniVersion", "interfaces", "ips", "routes", "dns"};
constexpr std::string_view kKnown02[] = {"cniVersion", "ip4", "ip6", "dns"};

void read_prefix(Fields& fields, std::string_view key, IpPrefix& out) {
  if (fields.has(key))
    fields.read(key, out);
  else
    fields.wrong(key, "an address with its prefix length is missing");
}

void read_interface(Fields& fields, Interface& out) {
  fields.read("name", out.name);
  fields.read("mac", out.mac);
  fields.read("mtu", out.mtu);
  fields.read("sandbox", out.sandbox);
  fields.read("socketPath", out.socket_path);
  fields.read("pciID", out.pci_id);
}

void read_address(Fields& fields, Address& out) {
  read_prefix(fields, "address", out.address);
  fields.read("gateway", out.gateway);
  fields.read("interface", out.interface);
  if (out.interface && *out.interface < 0) out.interface.reset();  // plugins before 0.4.0 write -1 for none
}

// 0 means "not given" for the first three, as in the reference library; for table and scope it is a value.
void forget_zero(std::optional<int>& number) {
  if (number == 0) number.reset();
}

void read_route(Fields& fields, Route& out) {
  read_prefix(fields, "dst", out.destination);
  fields.read("gw", out.gateway);
  fields.read("mtu", out.mtu);
  fields.read("advmss", out.advmss);
  fields.read("priority", out.metric);
  for (std::optional<int>* number : {&out.mtu, &out.advmss, &out.metric}) forget_zero(*number);
  fields.read("table", out.table);
  fields.read("scope", out.scope);
}

void read_dns(Fields& fields, Dns& out) {
  fields.read("nameservers", out.nameservers);
  fields.read("domain", out.domain);
  fields.read("search", out.search);
  fields.read("options", out.options);
}

// 0.1.0 and 0.2.0: one address per family, each with its routes.
void read_family(Fields& fields, std::string_view key, AddResult& out) {
  fields.inside(key, [&](Fields& inner) {
    Address& one = out.addresses.emplace_back();
    read_prefix(inner, "ip", one.address);
    inner.read("gateway", one.gateway);
    inner.each("routes", out.routes, read_route);
  });
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
  put_text(out, "mac", from.mac);
  put_text(out, "sandbox", from.sandbox);
  if (old) return out;
  if (from.mtu != 0) out.set("mtu", from.mtu);
  put_text(out, "socketPath", from.socket_path);
  put_text(out, "pciID", from.pci_id);
  return out;
}

Value to_value(const Address& from, bool old) {
  Value out = Value::object();
  if (old) out.set("version", from.address.address.family == IpFamily::kV4 ? "4" : "6");
  put_optional(out, "interface", from.interface);
  out.set("address", from.address.to_string());
  if (from.gateway) out.set("gateway", from.gateway->to_string());
  return out;
}

Value to_value(const Route& from) {
  Value out = Value::object();
  out.set("dst", from.destination.to_string());
  if (from.gateway) out.set("gw", from.gateway->to_string());
  put_optional(out, "mtu", from.mtu);
  put_optional(out, "advmss", from.advmss);
  put_optional(out, "priority", from.metric);
  put_optional(out, "table", from.table);
  put_optional(out, "scope", from.scope);
  return out;
}

Value to_value(const Dns& from) {
  Value out = Value::object();
  put_texts(out, "nameservers", from.nameservers);
  put_text(out, "domain", from.domain);
  put_texts(out, "search", from.search);
  put_texts(out, "options", from.options);
  return out;
}
}  // namespace

Result<AddResult> read_result(const Value& result, const std::string& config_version) {
  doc::Diagnostics found;
  Fields fields(result, result.is_object() ? "" : "result", doc::kNoFamily, found);
  std::string told;
  fields.read("cniVersion", told);
  TRY(understood(found, kDecode));
  const Version version = TRY(parse_version(told.empty() ? config_version : told));
  const bool ancient = version < Version{0, 3, 0};
  AddResult out;
  if (ancient) {
    read_family(fields, "ip4", out);
    read_family(fields, "ip6", out);
  } else {
    fields.each("interfaces", out.interfaces, read_interface);
    fields.each("ips", out.addresses, read_address);
    fields.each("routes", out.routes, read_route);
  }
  fields.inside("dns", [&](Fields& dns) { read_dns(dns, out.dns); });
  TRY(understood(found, kDecode));
  for (const Value::Member& member : *result.as_object()) {
    const bool known = std::ranges::find(kKnown, member.key) != std::end(kKnown) ||
                       (ancient && std::ranges::find(kKnown02, member.key) != std::end(kKnown02));
    if (!known) out.extra.set(member.key, member.value);
  }
  // The order has no meaning, and 1.x sorts the members anyway.
  if (out.extra.is_object()) std::ranges::stable_sort(*out.extra.as_object(), {}, &Value::Member::key);
  return out;
}

Result<AddResult> read_result(const std::string& json, const std::string& config_version) {
  return read_result(TRY(read_object(json, "result")), config_version);
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
