// SPDX-License-Identifier: Apache-2.0
#include "agent/addresses/addresses.h"

#include <algorithm>

#include "agent/addresses/address_notes.h"
#include "agent/addresses/resolv_conf.h"
#include "agent/addresses/shared_ranges.h"
#include "attach/json_fields.h"
#include "base/text.h"
#include "state/sandbox.h"

namespace railbed::agent {
namespace {

const doc::Value* member(const doc::Value& object, std::string_view key) {
  const doc::Value* found = object.is_object() ? object.find(key) : nullptr;
  return found == nullptr || found->is_null() ? nullptr : found;
}

bool has_ranges(const doc::Value& ipam) {
  return member(ipam, "subnet") != nullptr || member(ipam, "ranges") != nullptr;
}

// A non-empty runtimeConfig.ipRanges for a block of host-local; otherwise null.
const doc::Value* runtime_ranges(const doc::Value& ipam, const doc::Value& runtime) {
  const doc::Value* ranges = member(runtime, "ipRanges");
  if (ranges == nullptr || (ranges->is_array() && ranges->as_array()->empty())) return nullptr;
  const doc::Value* type = member(ipam, "type");
  const bool ours = type != nullptr && type->is_string() && *type->as_string() == "host-local";
  return ours ? ranges : nullptr;
}

// The ranges of runtimeConfig.ipRanges come before those of the configuration, which may have none then.
Result<api::IpamConfig> read_config(const AddressRequest& request) {
  const doc::Value* ranges = runtime_ranges(request.ipam, request.runtime);
  if (ranges == nullptr) return api::read_ipam(&request.ipam, request.network);
  if (!has_ranges(request.ipam)) {
    doc::Value with_ranges = request.ipam;
    with_ranges.set("ranges", *ranges);
    return api::read_ipam(&with_ranges, request.network);
  }
  api::IpamConfig config = TRY(api::read_ipam(&request.ipam, request.network));
  doc::Value own = doc::Value::object();
  own.set("type", "host-local");
  own.set("ranges", *ranges);
  api::IpamConfig first = TRY(api::read_ipam(&own, request.network).context("runtimeConfig.ipRanges"));
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

std::vector<std::string> in_args(const AddressRequest& request, const char* key) {
  auto found = request.cni_args.find(key);
  return found == request.cni_args.end() ? std::vector<std::string>{} : parts_of(found->second, ',');
}

// Adds IP and GATEWAY of CNI_ARGS to the configured addresses.
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

// The addresses that a pod asks for explicitly; each IPAM type reads them from other keys.
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

void take(Addresses& addresses, std::vector<ipam::Assigned> assigned) {
  for (const ipam::Assigned& one : assigned)
    addresses.result.addresses.push_back({.address = one.address, .gateway = one.gateway});
  addresses.assigned = std::move(assigned);
}

}  // namespace

AddressRequest address_request(const cni::Request& request, const cni::PluginConfig& config, ipam::Owner owner) {
  AddressRequest out{.network = config.network,
                     .runtime = config.runtime,
                     .args = config.args,
                     .cni_args = request.args,
                     .owner = std::move(owner)};
  if (const doc::Value* ipam = member(config.object, "ipam")) out.ipam = *ipam;
  return out;
}

std::optional<AddressNeed> need_of(const AddressRequest& request) {
  Result<api::IpamConfig> config = read_config(request);
  if (!config.has_value() || config->type != api::IpamType::kWhereabouts || config->range_sets.empty()) return {};
  if (request.planned.has_value()) return {};
  AddressNeed need;
  const Result<std::vector<std::string>> requested = requested_in(request, *config);
  if (!requested.has_value()) return {};
  for (const std::string& text : *requested) {
    const Result<IpAddress> address = IpAddress::parse(text.substr(0, text.find('/')));
    if (address.has_value()) need.by_name.push_back(*address);
  }
  need.config = *std::move(config);
  return need;
}

void prefer_own_dns(cni::AddResult& result, const doc::Value& plugin) {
  if (cni::Dns own = dns_in(plugin); !own.empty()) result.dns = std::move(own);
}

Result<Addresses> begin_addresses(Engine::Turn& turn, HostLocal& host_local, HostLocal::Locks& locks,
                                  const AddressRequest& request) {
  api::IpamConfig config = TRY(read_config(request));
  Addresses addresses;
  if (config.type == api::IpamType::kDhcp) {
    addresses.dhcp = true;
    return addresses;
  }
  std::vector<std::string> requested;
  if (!request.planned.has_value()) {
    TRY(may_give_ranges(turn, config, request.ipam, request.network));
    requested = TRY(requested_in(request, config).context("network {}", request.network));
  }
  addresses.result.dns = TRY(dns_of(turn, config, request.ipam).context("network {}", request.network));
  addresses.result.routes = config.routes;
  if (request.planned.has_value())
    take(addresses, *request.planned);
  else if (config.type == api::IpamType::kHostLocal)
    addresses.files = TRY(host_local.begin(
        turn, locks, doc::text_in(request.ipam, "dataDir"),
        {.owner = request.owner, .network = request.network, .config = std::move(config), .requested = requested}));
  else
    take(addresses, TRY(turn.addresses().allocate(config, request.network, requested, request.owner)));
  return addresses;
}

Result<void> finish_addresses(Engine::Turn& turn, HostLocal& host_local, Addresses& addresses) {
  if (!addresses.files.has_value()) return {};
  take(addresses, TRY(host_local.finish(turn, *addresses.files)));
  addresses.files.reset();
  return {};
}

Result<Addresses> addresses_for(Engine::Turn& turn, HostLocal& host_local, const AddressRequest& request) {
  HostLocal::Locks locks;
  auto transaction = TRY(state::Transaction::begin(turn.store()));
  Addresses addresses = TRY(begin_addresses(turn, host_local, locks, request));
  TRY(transaction.commit());
  TRY(finish_addresses(turn, host_local, addresses));
  return addresses;
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

Result<void> release_addresses_of(Engine::Turn& turn, HostLocal& host_local, const std::string& sandbox) {
  std::vector<ipam::Owner> owners;
  for (const state::AddressLease& one : TRY(turn.store().leases_of(sandbox)))
    owners.push_back({one.pod, one.interface});
  return release_addresses(turn, host_local, owners);
}

}  // namespace railbed::agent
