// SPDX-License-Identifier: Apache-2.0
// Spelling follows the reference library, so that results can be compared byte by byte: 1.x sorts the members
// of every object and leaves an empty dns out, 0.x writes them in the order of the specification and always
// has dns. A result of 1.0.0 keeps the members that came with 1.1.0; 0.x has no mtu, socketPath, pciID.
#include "cni/add_result.h"

#include <algorithm>

#include "cni/reading.h"
#include "doc/json.h"
#include "doc/record.h"

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

// 0 means "not given" for the first three, as in the reference library; for table and scope it is a value.
void forget_zero(std::optional<int>& number) {
  if (number == 0) number.reset();
}

template <typename Io, doc::Is<Interface> T>
void interface_fields(Io& io, T& one) {
  io.always("name", one.name);
  io.some("mac", one.mac);
  io.some("sandbox", one.sandbox);
  io.some("mtu", one.mtu);
  io.some("socketPath", one.socket_path);
  io.some("pciID", one.pci_id);
}

template <typename Io, doc::Is<Address> T>
void address_fields(Io& io, T& one) {
  io.some("interface", one.interface);
  if constexpr (Io::kWrites) {
    io.object().set("address", one.address.to_string());
  } else {
    read_prefix(io.from(), "address", one.address);
    if (one.interface && *one.interface < 0) one.interface.reset();  // plugins before 0.4.0 write -1 for none
  }
  io.some("gateway", one.gateway);
}

template <typename Io, doc::Is<Route> T>
void route_fields(Io& io, T& one) {
  if constexpr (Io::kWrites)
    io.object().set("dst", one.destination.to_string());
  else
    read_prefix(io.from(), "dst", one.destination);
  io.some("gw", one.gateway);
  io.some("mtu", one.mtu);
  io.some("advmss", one.advmss);
  io.some("priority", one.metric);
  if constexpr (!Io::kWrites)
    for (std::optional<int>* number : {&one.mtu, &one.advmss, &one.metric}) forget_zero(*number);
  io.some("table", one.table);
  io.some("scope", one.scope);
}

template <typename Io, doc::Is<Dns> T>
void dns_fields(Io& io, T& dns) {
  io.some("nameservers", dns.nameservers);
  io.some("domain", dns.domain);
  io.some("search", dns.search);
  io.some("options", dns.options);
}

constexpr auto kInterfaceFields = [](auto& io, auto& one) { interface_fields(io, one); };
constexpr auto kAddressFields = [](auto& io, auto& one) { address_fields(io, one); };
constexpr auto kRouteFields = [](auto& io, auto& one) { route_fields(io, one); };

// 0.1.0 and 0.2.0: one address per family, each with its routes.
void read_family(Fields& fields, std::string_view key, AddResult& out) {
  fields.inside(key, [&](Fields& inner) {
    Address& one = out.addresses.emplace_back();
    read_prefix(inner, "ip", one.address);
    inner.read("gateway", one.gateway);
    doc::RecordReader(inner).each("routes", out.routes, kRouteFields);
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

// 0.x has no mtu, socketPath and pciID.
std::vector<Interface> interfaces_of(const AddResult& result, bool old) {
  std::vector<Interface> out = result.interfaces;
  if (old)
    for (Interface& one : out) one = {.name = one.name, .mac = one.mac, .sandbox = one.sandbox};
  return out;
}

// 0.x has the family of each address, first.
Value addresses_value(const AddResult& result, bool old) {
  Value out = Value::array();
  for (const Address& one : result.addresses) {
    Value& item = out.push(Value::object());
    if (old) item.set("version", one.address.address.family == IpFamily::kV4 ? "4" : "6");
    doc::RecordWriter io(item);
    address_fields(io, one);
  }
  return out;
}
}  // namespace

Result<AddResult> read_result(const Value& result, const std::string& config_version) {
  doc::Diagnostics found;
  Fields fields(result, result.is_object() ? "" : "result", doc::kNoFamily, found);
  std::string declared;
  fields.read("cniVersion", declared);
  TRY(understood(found, kDecode));
  const Version version = TRY(parse_version(declared.empty() ? config_version : declared));
  const bool ancient = version < Version{0, 3, 0};
  AddResult out;
  if (ancient) {
    read_family(fields, "ip4", out);
    read_family(fields, "ip6", out);
  } else {
    doc::RecordReader io(fields);
    io.each("interfaces", out.interfaces, kInterfaceFields);
    io.each("ips", out.addresses, kAddressFields);
    io.each("routes", out.routes, kRouteFields);
  }
  fields.inside("dns", [&](Fields& inner) {
    doc::RecordReader io(inner);
    dns_fields(io, out.dns);
  });
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
  doc::RecordWriter io(out);
  io.each("interfaces", interfaces_of(result, old), kInterfaceFields);
  if (!result.addresses.empty()) out.set("ips", addresses_value(result, old));
  io.each("routes", result.routes, kRouteFields);
  if (old || !result.dns.empty()) {
    doc::RecordWriter dns(out.set("dns", Value::object()));
    dns_fields(dns, result.dns);
  }
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
