// SPDX-License-Identifier: Apache-2.0
#include "agent/addresses/addresses.h"

#include <algorithm>

#include "agent/addresses/address_notes.h"
#include "agent/addresses/resolv_conf.h"
#include "api/ipam_parse.h"
#include "attach/json_fields.h"
#include "state/sandbox.h"

namespace railbed::agent {
namespace {

Result<api::IpamConfig> parse(const doc::Value& block, const std::string& network) {
  doc::Diagnostics diagnostics;
  std::optional<api::IpamConfig> config = api::parse_ipam(block, diagnostics);
  if (config.has_value()) return std::move(*config);
  std::string why;
  for (const doc::Diagnostic& one : diagnostics.all())
    if (one.severity == doc::Severity::kError)
      why += fmt::format("{}{}{}", why.empty() ? "" : "; ", one.span.known() ? one.span.to_string() + ": " : "",
                         one.message);
  return fail(Code::kInvalid, "network {}: its ipam block is wrong: {}", network, why);
}

const doc::Value* member(const doc::Value& object, std::string_view key) {
  const doc::Value* found = object.is_object() ? object.find(key) : nullptr;
  return found == nullptr || found->is_null() ? nullptr : found;
}

bool has_ranges(const doc::Value& ipam) {
  return member(ipam, "subnet") != nullptr || member(ipam, "ranges") != nullptr;
}

// runtimeConfig.ipRanges, where there are some and the block is host-local's; else null.
const doc::Value* asked_ranges(const doc::Value& ipam, const doc::Value& runtime) {
  const doc::Value* ranges = member(runtime, "ipRanges");
  if (ranges == nullptr || (ranges->is_array() && ranges->as_array()->empty())) return nullptr;
  const doc::Value* type = member(ipam, "type");
  const bool ours = type != nullptr && type->is_string() && *type->as_string() == "host-local";
  return ours ? ranges : nullptr;
}

// runtimeConfig.ipRanges come before what the configuration has; it may have none then.
Result<api::IpamConfig> read_config(const AddressRequest& request) {
  if (request.ipam.is_null()) return api::IpamConfig{};
  const doc::Value* ranges = asked_ranges(request.ipam, request.runtime);
  if (ranges == nullptr) return parse(request.ipam, request.network);
  if (!has_ranges(request.ipam)) return parse(with_asked_ranges(request.ipam, request.runtime), request.network);
  api::IpamConfig config = TRY(parse(request.ipam, request.network));
  doc::Value asked = doc::Value::object();
  asked.set("type", "host-local");
  asked.set("ranges", *ranges);
  api::IpamConfig first = TRY(parse(asked, request.network).context("runtimeConfig.ipRanges"));
  config.range_sets.insert(config.range_sets.begin(), first.range_sets.begin(), first.range_sets.end());
  return config;
}

Result<std::vector<std::string>> texts(const doc::Value& object, const char* where) {
  const doc::Value* list = member(object, "ips");
  std::vector<std::string> all;
  if (list == nullptr) return all;
  if (!list->is_array()) return fail(Code::kInvalid, "{}.ips must be a list of addresses", where);
  for (const doc::Value& one : *list->as_array()) {
    if (!one.is_string()) return fail(Code::kInvalid, "{}.ips must be a list of addresses", where);
    all.push_back(*one.as_string());
  }
  return all;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    size_t comma = std::min(text.find(',', at), text.size());
    std::string part = text.substr(at, comma - at);
    part.erase(0, part.find_first_not_of(' '));
    part.erase(part.find_last_not_of(' ') + 1);
    if (!part.empty()) parts.push_back(std::move(part));
    at = comma + 1;
  }
  return parts;
}

std::vector<std::string> in_args(const AddressRequest& request, const char* key) {
  auto found = request.cni_args.find(key);
  return found == request.cni_args.end() ? std::vector<std::string>{} : split(found->second);
}

// CNI_ARGS IP and GATEWAY as addresses beside the configured ones.
Result<void> add_fixed(const AddressRequest& request, api::IpamConfig& config) {
  for (const std::string& text : in_args(request, "IP"))
    config.fixed.push_back({TRY(IpPrefix::parse(text).context("CNI_ARGS IP")), std::nullopt});
  for (const std::string& text : in_args(request, "GATEWAY")) {
    IpAddress gateway = TRY(IpAddress::parse(text).context("CNI_ARGS GATEWAY"));
    for (api::IpamConfig::Fixed& one : config.fixed)
      if (one.address.contains(gateway)) one.gateway = gateway;
  }
  return {};
}

// The addresses that are asked for by name, in the words of each type.
Result<std::vector<std::string>> requested_in(const AddressRequest& request, api::IpamConfig& config) {
  std::vector<std::string> runtime = TRY(texts(request.runtime, "runtimeConfig"));
  std::vector<std::string> args = TRY(texts(request.args, "args.cni"));
  if (config.type == api::IpamType::kStatic) {
    TRY(add_fixed(request, config));
    return runtime.empty() ? args : runtime;
  }
  std::vector<std::string> all;
  if (config.type == api::IpamType::kWhereabouts)
    TRY(add_fixed(request, config));
  else if (config.type == api::IpamType::kHostLocal)
    all = in_args(request, "IP");
  for (const auto& some : {args, runtime})
    for (const std::string& one : some)
      if (std::ranges::find(all, one) == all.end()) all.push_back(one);
  return all;
}

cni::Dns dns_in(const doc::Value& ipam) {
  const doc::Value* object = member(ipam, "dns");
  if (object == nullptr || !object->is_object()) return {};
  return {.nameservers = doc::texts_in(*object, "nameservers"),
          .domain = doc::text_in(*object, "domain"),
          .search = doc::texts_in(*object, "search"),
          .options = doc::texts_in(*object, "options")};
}

Result<cni::Dns> dns_of(Engine::Turn& turn, const api::IpamConfig& config, const doc::Value& ipam) {
  switch (config.type) {
    case api::IpamType::kStatic:
    case api::IpamType::kWhereabouts:
      return dns_in(ipam);
    case api::IpamType::kHostLocal: {
      std::string path = doc::text_in(ipam, "resolvConf");
      if (path.empty()) return cni::Dns{};
      return read_resolv_conf(TRY(turn.kernel().files().read(path).context("ipam.resolvConf")));
    }
    default:
      return cni::Dns{};
  }
}

std::vector<cni::Route> routes_of(const api::IpamConfig& config) {
  std::vector<cni::Route> routes;
  for (const api::IpamRoute& one : config.routes)
    routes.push_back({.destination = one.destination,
                      .gateway = one.gateway,
                      .mtu = one.mtu,
                      .advmss = one.advmss,
                      .priority = one.metric,
                      .table = one.table,
                      .scope = one.scope});
  return routes;
}

void take(Addresses& addresses, std::vector<ipam::Assigned> assigned) {
  for (const ipam::Assigned& one : assigned)
    addresses.result.addresses.push_back({.address = one.address, .gateway = one.gateway});
  addresses.assigned = std::move(assigned);
}

}  // namespace

doc::Value with_asked_ranges(doc::Value ipam, const doc::Value& runtime) {
  const doc::Value* ranges = asked_ranges(ipam, runtime);
  if (ranges != nullptr && !has_ranges(ipam)) ipam.set("ranges", *ranges);
  return ipam;
}

AddressRequest address_request(const cni::Request& request, const cni::PluginConfig& config, ipam::Owner owner) {
  AddressRequest asked{.network = config.network,
                       .runtime = config.runtime,
                       .args = config.args,
                       .cni_args = request.args,
                       .owner = std::move(owner)};
  if (const doc::Value* ipam = member(config.object, "ipam")) asked.ipam = *ipam;
  return asked;
}

void prefer_own_dns(cni::AddResult& result, const doc::Value& plugin) {
  if (cni::Dns own = dns_in(plugin); !own.empty()) result.dns = std::move(own);
}

Result<AddressesBegun> begin_addresses(Engine::Turn& turn, HostLocal& host_local, HostLocal::Locks& locks,
                                       const AddressRequest& request) {
  api::IpamConfig config = TRY(read_config(request));
  AddressesBegun begun;
  Addresses& addresses = begun.addresses;
  if (config.type == api::IpamType::kDhcp) {
    addresses.dhcp = true;
    return begun;
  }
  std::vector<std::string> requested = TRY(requested_in(request, config).context("network {}", request.network));
  addresses.result.dns = TRY(dns_of(turn, config, request.ipam).context("network {}", request.network));
  addresses.result.routes = routes_of(config);
  if (config.type == api::IpamType::kHostLocal)
    begun.files = TRY(host_local.begin(turn, locks, config, doc::text_in(request.ipam, "dataDir"), request.network,
                                       requested, request.owner));
  else
    take(addresses, TRY(turn.addresses().allocate(config, request.network, requested, request.owner)));
  return begun;
}

Result<void> finish_addresses(Engine::Turn& turn, HostLocal& host_local, AddressesBegun& begun) {
  if (begun.files.has_value()) take(begun.addresses, TRY(host_local.finish(turn, *begun.files)));
  return {};
}

Result<Addresses> addresses_for(Engine::Turn& turn, HostLocal& host_local, const AddressRequest& request) {
  HostLocal::Locks locks;
  auto transaction = TRY(state::Transaction::begin(turn.store()));
  AddressesBegun begun = TRY(begin_addresses(turn, host_local, locks, request));
  TRY(transaction.commit());
  TRY(finish_addresses(turn, host_local, begun));
  return std::move(begun.addresses);
}

Result<void> release_addresses(Engine::Turn& turn, HostLocal& host_local, const std::vector<ipam::Owner>& owners) {
  std::vector<ipam::Owner> gone;
  for (const ipam::Owner& owner : owners) {
    std::vector<state::Attachment> records = TRY(turn.store().attachments_of(owner.pod));
    if (std::ranges::find(records, owner.interface, &state::Attachment::interface) == records.end())
      gone.push_back(owner);
  }
  if (gone.empty()) return {};
  return host_local.release(turn, gone);
}

}  // namespace railbed::agent
