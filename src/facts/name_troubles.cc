// SPDX-License-Identifier: Apache-2.0
#include "facts/name_troubles.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "facts/evidence.h"

namespace railbed::facts {
namespace {

using findings::Evidence;
using findings::Finding;
using findings::Subject;

// A device or an interface with the function that it sits on.
struct Named {
  const Nic* nic = nullptr;
  std::string name;
  bool is_rdma = false;
};

std::optional<unsigned> leading_number(std::string_view& text, int base) {
  unsigned value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (failure != std::errc() || end == text.data()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

// "ib" and 2 of "ib2"; "mlx5_" and 10 of "mlx5_10".
struct Numbered {
  std::string_view prefix;
  unsigned number = 0;
};
std::optional<Numbered> numbered(std::string_view name) {
  const size_t last = name.find_last_not_of("0123456789");
  const size_t digits = last == std::string_view::npos ? 0 : last + 1;
  if (digits == 0 || digits == name.size()) return std::nullopt;
  std::string_view rest = name.substr(digits);
  const std::optional<unsigned> number = leading_number(rest, 10);
  if (!number) return std::nullopt;
  return Numbered{name.substr(0, digits), *number};
}

// The address in a name that udev makes of the path: "rocep59s0f1", "ibP2p1s0", "enp59s0f1np1". Bus, device and
// function are decimal there, the domain as well (systemd's naming scheme, rdma-core's rdma_rename).
std::optional<PciAddress> address_in_name(std::string_view name) {
  for (const std::string_view prefix : {"roce", "ib", "iw", "en", "usnic", "opa"}) {
    if (!name.starts_with(prefix)) continue;
    std::string_view rest = name.substr(prefix.size());
    PciAddress address;
    if (rest.starts_with('P')) {
      rest.remove_prefix(1);
      const auto domain = leading_number(rest, 10);
      if (!domain) return std::nullopt;
      address.domain = *domain;
    }
    if (!rest.starts_with('p')) continue;
    rest.remove_prefix(1);
    const auto bus = leading_number(rest, 10);
    if (!bus || *bus > 255 || !rest.starts_with('s')) return std::nullopt;
    rest.remove_prefix(1);
    const auto device = leading_number(rest, 10);
    if (!device || *device > 31) return std::nullopt;
    address.bus = static_cast<uint8_t>(*bus);
    address.device = static_cast<uint8_t>(*device);
    if (rest.starts_with('f')) {
      rest.remove_prefix(1);
      const auto function = leading_number(rest, 10);
      if (!function || *function > 7) return std::nullopt;
      address.function = static_cast<uint8_t>(*function);
    }
    return address;
  }
  return std::nullopt;
}

using CardKindKey = std::tuple<std::string, std::string, LinkType>;
CardKindKey kind_key(const Nic& nic) {
  return {nic.pci.vendor, nic.pci.device, nic.link_type};
}

// The RDMA device of a function and its interface; functions with two ports have no one name, and names of interfaces
// without RDMA have no slot.
void add_names(const Nic& nic, std::vector<Named>& devices, std::vector<Named>& interfaces) {
  const RdmaDevice* only = nullptr;
  for (const RdmaDevice& device : nic.rdma) {
    if (device.soft) continue;
    if (only != nullptr) return;
    only = &device;
  }
  if (only == nullptr) return;
  devices.push_back({&nic, only->name, true});
  if (nic.netdevs.size() == 1) interfaces.push_back({&nic, nic.netdevs.front().name, false});
}

Evidence place_of(const Named& one) {
  return in_sysfs(fmt::format("/sys/class/{}/{}/device", one.is_rdma ? "infiniband" : "net", one.name),
                  one.nic->pci.address.to_string());
}

Finding exchanged(const Named& one, const Named& other, std::string_view why) {
  return {.id = "RB-NAME-001",
          .severity = doc::Severity::kWarning,
          .subject = {one.is_rdma ? Subject::Kind::kRdmaDevice : Subject::Kind::kInterface, one.name},
          .message = fmt::format("{} ({}) and {} ({}) are in each other's place: {}", one.name, one.nic->pci.address,
                                 other.name, other.nic->pci.address, why),
          .evidence = {place_of(one), place_of(other)},
          .fix = "compare with a node that works: railbed discover --facts A B"};
}

// The numbers of names with one prefix, in the order of addresses; empty where names have none or two prefixes.
std::vector<unsigned> numbers_in_order(const std::vector<Named>& names) {
  std::vector<unsigned> numbers;
  std::set<std::string_view> prefixes;
  for (const Named& one : names) {
    const auto parts = numbered(one.name);
    if (!parts) return {};
    prefixes.insert(parts->prefix);
    numbers.push_back(parts->number);
  }
  return prefixes.size() == 1 ? numbers : std::vector<unsigned>();
}

// The two positions that alone are out of order, if one exchange sorts all and at least as many others stand still.
std::optional<std::pair<size_t, size_t>> only_exchange(const std::vector<unsigned>& numbers) {
  std::vector<unsigned> sorted = numbers;
  std::ranges::sort(sorted);
  std::vector<size_t> moved;
  for (size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != sorted[i]) moved.push_back(i);
  if (moved.size() != 2 || numbers.size() < 4) return std::nullopt;
  return std::pair(moved[0], moved[1]);
}

class NameTroubles {
 public:
  explicit NameTroubles(const NodeFacts& facts) {
    for (const Nic& nic : facts.nics) {
      Kind& kind = kinds_[kind_key(nic)];
      add_names(nic, kind.devices, kind.interfaces);
    }
  }

  std::vector<Finding> find() {
    for (const auto& [key, kind] : kinds_) {
      by_order(kind.devices);
      by_order(kind.interfaces);
      by_other_names(kind);
    }
    for (const auto& [key, kind] : kinds_) {
      by_address(kind.devices);
      by_address(kind.interfaces);
    }
    return std::move(found_);
  }

 private:
  struct Kind {
    std::vector<Named> devices;  // by address, as the NICs
    std::vector<Named> interfaces;
  };

  void report(const Named& one, const Named& other, std::string_view why) {
    // Once for each pair of functions: device and interface change places together.
    if (reported_.emplace(one.nic->pci.address, other.nic->pci.address).second)
      found_.push_back(exchanged(one, other, why));
  }

  void by_order(const std::vector<Named>& names) {
    if (const auto pair = only_exchange(numbers_in_order(names)))
      report(names[pair->first], names[pair->second], "all others are in the order of addresses");
  }

  // Two functions whose devices are numbered one way and whose interfaces the other.
  void by_other_names(const Kind& kind) {
    if (kind.devices.size() != 2 || kind.interfaces.size() != 2) return;
    const std::vector<unsigned> devices = numbers_in_order(kind.devices);
    const std::vector<unsigned> interfaces = numbers_in_order(kind.interfaces);
    if (devices.empty() || interfaces.empty()) return;
    if ((devices[0] < devices[1]) != (interfaces[0] < interfaces[1]))
      report(kind.devices[0], kind.devices[1],
             fmt::format("their interfaces {} and {} are in the other order", kind.interfaces[0].name,
                         kind.interfaces[1].name));
  }

  void by_address(const std::vector<Named>& names) {
    for (size_t i = 0; i < names.size(); ++i)
      for (size_t j = i + 1; j < names.size(); ++j)
        if (address_in_name(names[i].name) == names[j].nic->pci.address &&
            address_in_name(names[j].name) == names[i].nic->pci.address)
          report(names[i], names[j], "each name has the address of the other");
  }

  std::map<CardKindKey, Kind> kinds_;
  std::set<std::pair<PciAddress, PciAddress>> reported_;
  std::vector<Finding> found_;
};

}  // namespace

std::vector<Finding> name_troubles_of(const NodeFacts& facts) {
  return NameTroubles(facts).find();
}

}  // namespace railbed::facts
