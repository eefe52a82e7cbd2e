// SPDX-License-Identifier: Apache-2.0
#include "facts/net.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "facts/ipoib.h"
#include "facts/natural_order.h"

namespace railbed::facts {
namespace {

constexpr int kArphrdInfiniband = 32;
constexpr int kArphrdLoopback = 772;
constexpr int kIffUp = 0x1;

std::string folder_of(const std::string& name) {
  return "/sys/class/net/" + name;
}

// "00:00:00:6c:fe:…" as bytes; empty for any other text.
std::vector<uint8_t> address_bytes(std::string_view text) {
  std::vector<uint8_t> bytes;
  while (text.size() >= 2) {
    std::optional<int64_t> byte = parse_number("0x" + std::string(text.substr(0, 2)));
    if (!byte) return {};
    bytes.push_back(static_cast<uint8_t>(*byte));
    if (text.size() == 2) return bytes;
    if (text[2] != ':') return {};
    text.remove_prefix(3);
  }
  return {};
}

void set_hardware_address(FoundInterface& found, const std::vector<uint8_t>& bytes) {
  found.facts.ipoib = found.is_infiniband ? parse_ipoib_address(bytes) : std::nullopt;
  if (bytes.size() != 6) return;
  MacAddress mac;
  std::ranges::copy(bytes, mac.bytes.begin());
  found.facts.mac = mac;
}

void find_parent(Attributes& attributes, FoundInterface& found) {
  std::optional<std::string> path = attributes.link(folder_of(found.facts.name));
  // Old kernels have folders instead of links there.
  if (!path) path = attributes.link(folder_of(found.facts.name) + "/device");
  if (!path) return;
  found.pci = last_pci_address(*path);
  found.is_subfunction = through_subfunction(*path);
  if (found.is_subfunction && found.facts.kind.empty()) found.facts.kind = "sub-function";
}

// The interfaces with a default route in /proc/net/route, for copies of a machine's files. IPv4 only.
std::set<std::string> with_default_route(Attributes& attributes) {
  std::set<std::string> names;
  std::istringstream table(attributes.text("/proc/net/route").value_or(""));
  std::string line;
  std::getline(table, line);  // the titles
  while (std::getline(table, line)) {
    std::istringstream columns(line);
    std::string name, destination, gateway, flags, references, use, metric, mask;
    columns >> name >> destination >> gateway >> flags >> references >> use >> metric >> mask;
    if (destination == "00000000" && mask == "00000000") names.insert(name);
  }
  return names;
}

FoundInterface from_link(const os::Link& link) {
  FoundInterface found{.folder = folder_of(link.name.value),
                       .is_infiniband = link.arp_type == kArphrdInfiniband,
                       .is_loopback = link.arp_type == kArphrdLoopback,
                       .is_child = link.parent && link.parent != link.index};
  found.facts = {.name = link.name.value,
                 .kind = link.kind,
                 .alt_names = link.alt_names,
                 .index = link.index,
                 .mtu = link.mtu,
                 .admin_up = link.up,
                 .carrier = link.lower_up,
                 .oper_state = link.oper_state};
  std::ranges::sort(found.facts.alt_names, natural_less);
  set_hardware_address(found, link.hw_address);
  return found;
}

std::vector<FoundInterface> from_netlink(Attributes& attributes, os::LinkPort& port,
                                         const std::vector<os::Link>& links) {
  std::map<IfIndex, std::string> names;
  for (const os::Link& link : links) names.emplace(link.index, link.name.value);
  std::map<IfIndex, std::vector<IpPrefix>> addresses;
  if (auto listed = port.addresses())
    for (const os::LinkAddress& address : *listed) addresses[address.link].push_back(address.prefix);
  else
    attributes.note(listed.error());
  std::set<IfIndex> with_default_route;
  if (auto listed = port.routes()) {
    for (const Route& route : *listed)
      if (route.is_default()) with_default_route.insert(route.link);
  } else {
    attributes.note(listed.error());
  }
  std::vector<FoundInterface> found;
  found.reserve(links.size());
  for (const os::Link& link : links) {
    FoundInterface& one = found.emplace_back(from_link(link));
    if (auto at = addresses.find(link.index); at != addresses.end()) one.facts.addresses = at->second;
    one.facts.has_default_route = with_default_route.contains(link.index);
    if (auto at = names.find(link.master); link.master && at != names.end()) one.facts.master = at->second;
    bool rides = one.is_child && !link.parent_elsewhere && link.kind != "veth";
    if (auto at = names.find(link.parent); rides && at != names.end()) one.facts.lower = at->second;
    if (link.parent_bus == "pci") one.pci = last_pci_address(link.parent_device);
    if (!one.pci && !one.is_loopback) find_parent(attributes, one);
  }
  return found;
}

// The name of the lower interface, from the link that the kernel keeps beside the attributes. `iflink` cannot serve: a
// veth has one too, and its number may belong to another namespace.
std::string lower_link(Attributes& attributes, const std::string& folder) {
  constexpr std::string_view kPrefix = "lower_";
  for (const std::string& name : attributes.list(folder))
    if (name.starts_with(kPrefix)) return name.substr(kPrefix.size());
  return {};
}

std::optional<FoundInterface> from_sysfs(Attributes& attributes, const std::string& name, const std::string& folder) {
  std::optional<int> type = attributes.small_number(folder + "/type");
  std::optional<int> mtu = attributes.small_number(folder + "/mtu");
  if (!type && !mtu) return std::nullopt;  // bonding_masters is a file in the folder of interfaces
  FoundInterface found{
      .folder = folder, .is_infiniband = type == kArphrdInfiniband, .is_loopback = type == kArphrdLoopback};
  found.facts.name = name;
  found.facts.index.value = attributes.small_number(folder + "/ifindex").value_or(0);
  found.facts.mtu = mtu.value_or(0);
  if (const auto flags = attributes.number(folder + "/flags")) found.facts.admin_up = (*flags & kIffUp) != 0;
  // The kernel gives a carrier only of an interface that is up.
  if (const auto carrier = attributes.number(folder + "/carrier")) found.facts.carrier = *carrier == 1;
  if (!found.facts.carrier && found.facts.admin_up == false) found.facts.carrier = false;
  found.facts.oper_state = attributes.text(folder + "/operstate").value_or("");
  found.facts.master = attributes.link_name(folder + "/master");
  if (attributes.exists(folder + "/bridge")) found.facts.kind = "bridge";
  if (attributes.exists(folder + "/bonding")) found.facts.kind = "bond";
  int lower = attributes.small_number(folder + "/iflink").value_or(found.facts.index.value);
  found.is_child = lower != 0 && lower != found.facts.index.value;
  if (found.is_child) found.facts.lower = lower_link(attributes, folder);
  set_hardware_address(found, address_bytes(attributes.text(folder + "/address").value_or("")));
  return found;
}

}  // namespace

bool through_subfunction(std::string_view path) {
  const size_t at = path.find(".sf.");
  return at != std::string_view::npos && path.find('/', at) != std::string_view::npos;
}

bool is_representor(const std::string& phys_port_name) {
  size_t at = phys_port_name.find("pf");
  if (at == std::string::npos) return false;
  at = phys_port_name.find_first_not_of("0123456789", at + 2);
  return at != std::string::npos &&
         (phys_port_name.compare(at, 2, "vf") == 0 || phys_port_name.compare(at, 2, "sf") == 0);
}

std::vector<FoundInterface> scan_interfaces(Attributes& attributes, os::LinkPort* links, Detail detail) {
  std::vector<FoundInterface> found;
  Result<std::vector<os::Link>> listed = fail(Code::kUnsupported, "no rtnetlink");
  if (links != nullptr) listed = links->list(os::WithVfs::kNo);
  if (listed) {
    found = from_netlink(attributes, *links, *listed);
  } else {
    attributes.note(listed.error());
    const std::set<std::string> default_routes = with_default_route(attributes);
    for (const std::string& name : attributes.list("/sys/class/net"))
      if (std::optional<FoundInterface> one = from_sysfs(attributes, name, folder_of(name))) {
        find_parent(attributes, *one);
        one->facts.has_default_route = default_routes.contains(name);
        found.push_back(std::move(*one));
      }
    for (const auto& [name, pci] : attributes.children_of_functions("net")) {
      std::string folder = fmt::format("/sys/bus/pci/devices/{}/net/{}", pci, name);
      if (std::optional<FoundInterface> one = from_sysfs(attributes, name, folder)) {
        one->pci = pci;
        one->facts.has_default_route = default_routes.contains(name);
        found.push_back(std::move(*one));
      }
    }
  }
  for (FoundInterface& one : found) {
    if (detail != Detail::kAll || !one.pci || one.is_infiniband || !one.facts.carrier.value_or(false)) continue;
    std::optional<int> speed = attributes.small_number(one.folder + "/speed");
    if (speed && *speed > 0) one.facts.speed_mbps = speed;
  }
  std::ranges::sort(found, [](const auto& a, const auto& b) { return natural_less(a.facts.name, b.facts.name); });
  return found;
}

}  // namespace railbed::facts
