// SPDX-License-Identifier: Apache-2.0
#include "agent/addresses/dhcp_lease.h"

#include <algorithm>

#include "attach/json_fields.h"
#include "base/hex.h"
#include "doc/json.h"
#include "doc/record.h"

namespace railbed::agent {
namespace {

constexpr std::chrono::seconds kLeastBetween{60};
constexpr size_t kMostValueBytes = 255;

std::string hex(std::string_view bytes) {
  return hex_text({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

Result<std::string> from_hex(const std::string& text) {
  const auto bytes = bytes_of_hex(text);
  if (!bytes) return fail(Code::kInvalid, "\"{}\" is not hexadecimal", text);
  return std::string(bytes->begin(), bytes->end());
}

// A text or a list of bytes, as hexadecimal digits. Always written.
template <typename Io, typename T>
void hex_digits(Io& io, std::string_view key, T& bytes) {
  if constexpr (Io::kWrites) {
    io.object().set(key, hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  } else {
    std::string text;
    io.from().read(key, text);
    if (Result<std::string> read = from_hex(text); read.has_value())
      bytes.assign(read->begin(), read->end());
    else
      io.from().wrong(key, read.error().message);
  }
}

doc::Value options_value(const std::map<uint8_t, std::string>& options) {
  doc::Value object = doc::Value::object();
  for (const auto& [code, value] : options) object.set(std::to_string(code), hex(value));
  return object;
}

void read_options(doc::Fields& from, std::string_view key, std::map<uint8_t, std::string>& options) {
  std::map<std::string, std::string> texts;
  from.read(key, texts);
  for (const auto& [name, text] : texts) {
    const Result<uint8_t> option = ipam::dhcp_option_number(name);
    const Result<std::string> value = from_hex(text);
    if (option.has_value() && value.has_value())
      options[*option] = *value;
    else
      from.wrong(key, option.has_value() ? value.error().message : option.error().message);
  }
}

Result<uint8_t> option_in(const doc::Value& item, const char* where) {
  return ipam::dhcp_option_number(doc::text_in(item, "option")).context("ipam.{}", where);
}

}  // namespace

// `owner` is in the note's key, and `lease` in the acknowledgement.
template <typename Io, doc::Is<KeptLease> T>
void fields(Io& io, T& lease) {
  io.always("netns", lease.netns_path);
  attach::needed(io, "mac", lease.client.mac);
  hex_digits(io, "id", lease.client.id);
  hex_digits(io, "ask", lease.client.ask);
  if constexpr (Io::kWrites)
    io.object().set("provide", options_value(lease.client.provide));
  else
    read_options(io.from(), "provide", lease.client.provide);
  attach::needed(io, "server_mac", lease.server_mac);
  hex_digits(io, "ack", lease.ack);
  int64_t since = lease.since.time_since_epoch().count();
  attach::needed(io, "since", since);
  if constexpr (!Io::kWrites) lease.since = os::Deadline(os::Deadline::duration(since));
}

std::optional<os::Deadline> KeptLease::end() const {
  if (!lease.seconds.has_value()) return std::nullopt;
  return since + std::chrono::seconds(*lease.seconds);
}

os::Deadline KeptLease::renew_at() const {
  if (!lease.seconds.has_value()) return os::Deadline::max();
  return since + std::chrono::seconds(lease.renew_after);
}

os::Deadline KeptLease::ask_after(os::Deadline now) const {
  if (now < renew_at()) return renew_at();
  os::Deadline limit = now < rebind_at() ? rebind_at() : *end();
  if (limit <= now) return now;
  return std::min(limit, now + std::max<os::Deadline::duration>((limit - now) / 2, kLeastBetween));
}

std::string lease_key(const ipam::Owner& owner) {
  return kLeaseNotes + owner.pod + "\n" + owner.interface;
}

std::string to_note(const KeptLease& lease) {
  return doc::to_json(doc::record_value(lease));
}

Result<KeptLease> read_lease(const std::string& key, const std::string& note) {
  size_t begin = std::string_view(kLeaseNotes).size();
  size_t between = key.find('\n');
  if (between == std::string::npos || between < begin) return fail(Code::kInvalid, "\"{}\" is not a lease name", key);
  KeptLease lease = TRY(attach::read_recorded<KeptLease>(note));
  lease.owner = {key.substr(begin, between - begin), key.substr(between + 1)};
  ipam::DhcpPacket ack = TRY(ipam::read_dhcp(lease.ack));
  lease.lease = TRY(ipam::lease_of(ack));
  return lease;
}

Result<ipam::DhcpClient> read_client(const doc::Value& ipam, const std::map<std::string, std::string>& cni_args) {
  ipam::DhcpClient client;
  if (const auto* provide = doc::list_in(ipam, "provide"))
    for (const doc::Value& item : *provide) {
      uint8_t option = TRY(option_in(item, "provide"));
      std::string value = doc::text_in(item, "value");
      auto argument = cni_args.find(doc::text_in(item, "fromArg"));
      if (argument != cni_args.end()) value = argument->second;
      if (value.size() > kMostValueBytes)
        return fail(Code::kInvalid, "ipam.provide: the value of option {} has {} bytes, at most {} are allowed", option,
                    value.size(), kMostValueBytes);
      if (!value.empty()) client.provide[option] = value;
    }
  bool defaults = true;
  if (const auto* request = doc::list_in(ipam, "request"))
    for (const doc::Value& item : *request) {
      if (doc::flag_in(item, "skipDefault")) defaults = false;
      if (doc::text_in(item, "option").empty()) continue;
      client.ask.push_back(TRY(option_in(item, "request")));
    }
  if (defaults)
    for (uint8_t option : {ipam::dhcp_option::kRouter, ipam::dhcp_option::kSubnetMask})
      if (std::ranges::find(client.ask, option) == client.ask.end()) client.ask.push_back(option);
  return client;
}

DhcpRoutes routes_of(const ipam::DhcpLease& lease, const doc::Value& ipam, const std::string& interface) {
  constexpr std::string_view kOfDefaultNetwork = "eth0";  // runtimes' CNI_IFNAME
  if (interface == kOfDefaultNetwork) return {.taken = lease.routes, .dropped = {}};
  std::vector<IpPrefix> listed;
  if (const auto* routes = doc::list_in(ipam, "routes"))
    for (const doc::Value& route : *routes)
      if (auto prefix = IpPrefix::parse(doc::text_in(route, "dst"))) listed.push_back(*prefix);
  constexpr int kWidest = 8;
  const auto is_inside = [](const IpPrefix& route, const IpPrefix& of) {
    if (route.network() == of.network() && route.length == of.length) return true;
    return route.length >= kWidest && route.length >= of.length && of.contains(route.address);
  };
  DhcpRoutes all;
  for (const Route& route : lease.routes) {
    const bool taken =
        std::ranges::any_of(listed, [&](const IpPrefix& of) { return is_inside(route.destination, of); });
    (taken ? all.taken : all.dropped).push_back(route);
  }
  return all;
}

cni::AddResult result_of(const ipam::DhcpLease& lease, const doc::Value& ipam, const std::string& interface) {
  cni::AddResult result;
  result.addresses.push_back({.address = lease.address, .gateway = lease.gateway});
  int priority = ipam.is_object() ? doc::number_in(ipam, "priority") : 0;
  DhcpRoutes routes = routes_of(lease, ipam, interface);
  for (Route& route : routes.taken) {
    if (priority != 0) route.metric = priority;
    result.routes.push_back(std::move(route));
  }
  for (const IpAddress& server : lease.nameservers) result.dns.nameservers.push_back(server.to_string());
  result.dns.domain = lease.domain;
  result.dns.search = lease.search;
  return result;
}

}  // namespace railbed::agent
