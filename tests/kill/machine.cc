// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include "state/store.h"

namespace railbed::kill {
namespace {

template <typename T>
T need(Result<T>&& result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// Each attempt has a new container id, and which of several equal pods gets which address depends on timing.
std::string without_container(const std::string& text) {
  static const std::regex id("c[0-9]{6}x"), pod("burst[0-9]");
  return std::regex_replace(std::regex_replace(text, id, "C"), pod, "burst");
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  std::string all = text.str();
  std::erase(all, '\r');
  std::ranges::replace(all, '\n', ' ');
  return all;
}

// Adds the paths below `folder` and, with `contents`, the text of each file.
void add_files(const std::string& folder, bool contents, std::vector<std::string>& lines) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, ignored)) {
    std::string name = entry.path().filename();
    bool changes_anyway = name.starts_with("state.db") || name.starts_with("last_reserved_ip") ||
                          name.find("lock") != std::string::npos || name.ends_with(".sock");
    if (!entry.is_regular_file(ignored) || changes_anyway) continue;
    lines.push_back(
        without_container(fmt::format("file {} {}", entry.path().string(), contents ? content(entry.path()) : "")));
  }
}

void add_records(std::vector<std::string>& lines) {
  auto store = state::open_store({.read_only = true});
  if (!store) return;  // nothing has been attached yet
  for (const state::AddressLease& lease : need((*store)->all_leases()))
    lines.push_back(without_container(
        fmt::format("lease {} {} {} {}", lease.pool, lease.address.to_string(), lease.pod, lease.interface)));
  for (const state::Attachment& one : need((*store)->attachments()))
    lines.push_back(without_container(fmt::format("attachment {} {} {} {} {} status {}", one.pod, one.interface,
                                                  one.network, one.type, one.device, static_cast<int>(one.status))));
}

// The sysctls that tuning sets in the scenarios. /proc/sys/net shows those of the reading thread's namespace.
void add_sysctls(const std::string& label, const os::Netns& netns, std::vector<std::string>& lines) {
  std::thread([&] {
    if (::setns(netns.fd(), CLONE_NEWNET) != 0) return;
    for (const char* key : {"net1/arp_filter", "net2/arp_filter", "net1/rp_filter"}) {
      std::ifstream file(std::string("/proc/sys/net/ipv4/conf/") + key);
      std::string value;
      if (file >> value) lines.push_back(fmt::format("{} sysctl {} {}", label, key, value));
    }
  }).join();
}

}  // namespace

Machine::Machine() : kernel_(os::real_kernel()) {}

std::string Machine::pod_path(const std::string& name) const {
  return kernel_->netns().path_of(name);
}

void Machine::make() {
  auto host = need(kernel_->links());
  for (const char* name : {"a0", "a1", "a2", "a3"}) {
    std::string own = std::string("v") + name, peer = std::string("w") + name;
    os::NewLink pair{.kind = "veth", .name = IfName{own}};
    pair.peer_name = IfName{peer};
    need(host->create(pair));
    IfIndex index = need(host->find(IfName{own}, os::WithVfs::kNo)).index;
    int number = name[1] - '0';
    os::LinkChange change{.mtu = 1400 + 10 * number, .up = number != 3};
    change.mac = *MacAddress::parse(fmt::format("02:00:00:00:0a:0{}", number));
    if (number == 1) change.alias = "cable 1";
    need(host->change(index, change));
    need(host->change(need(host->find(IfName{peer}, os::WithVfs::kNo)).index, {.up = true}));
    if (number == 0) need(host->add_address({index, *IpPrefix::parse("192.0.2.9/24")}));
    if (number == 2) {
      need(host->add_address({index, *IpPrefix::parse("192.0.3.9/24")}));
      need(host->add_route({.destination = *IpPrefix::parse("203.0.113.0/24"),
                            .gateway = *IpAddress::parse("192.0.3.1"),
                            .link = index}));
    }
  }
  for (const char* name : {"pa0", "pa1"}) {
    os::NewLink pair{.kind = "veth", .name = IfName{name}};
    pair.peer_name = IfName{std::string(name) + "p"};
    need(host->create(pair));
    need(host->change(need(host->find(IfName{std::string(name) + "p"}, os::WithVfs::kNo)).index,
                      {.mtu = 9000, .up = true}));
    IfIndex index = need(host->find(IfName{name}, os::WithVfs::kNo)).index;
    need(host->change(index, {.mtu = 9000, .up = true}));
  }
}

void Machine::make_pod(const std::string& name) {
  need(kernel_->netns().create(name));
  pods_.push_back(name);
}

void Machine::remove_pod(const std::string& name) {
  need(kernel_->netns().remove(name));
  std::erase(pods_, name);
}

void Machine::take_name(const std::string& name) {
  nameless_[name] = need(kernel_->netns().open(pod_path(name)));
  if (::umount2(pod_path(name).c_str(), MNT_DETACH) != 0 || ::unlink(pod_path(name).c_str()) != 0)
    throw std::runtime_error(fmt::format("{} keeps its name: {}", name, std::strerror(errno)));
}

void Machine::give_name(const std::string& name) {
  const std::unique_ptr<os::Netns> netns = std::move(nameless_.at(name));
  nameless_.erase(name);
  const std::string path = pod_path(name);
  const std::string held = fmt::format("/proc/self/fd/{}", netns->fd());
  std::ofstream(path).flush();
  if (::mount(held.c_str(), path.c_str(), "none", MS_BIND, nullptr) != 0)
    throw std::runtime_error(fmt::format("{} gets no name: {}", name, std::strerror(errno)));
}

void Machine::add_namespace(const std::string& label, os::LinkPort& links, std::vector<std::string>& lines) {
  std::map<IfIndex, std::string> names;
  for (const os::Link& link : need(links.list(os::WithVfs::kYes))) {
    for (const os::VfInfo& vf : link.vfs)
      lines.push_back(fmt::format("{} vf {} of {} mac {} vlan {} qos {} spoof {} trust {} state {} rates {} {}", label,
                                  vf.index.value, link.name.to_string(), vf.mac ? vf.mac->to_string() : "-", vf.vlan,
                                  vf.qos, vf.spoof_check.value_or(false), vf.trust.value_or(false),
                                  static_cast<int>(vf.link_state.value_or(os::VfLinkState::kAuto)), vf.min_tx_rate_mbps,
                                  vf.max_tx_rate_mbps));
    names[link.index] = link.name.to_string();
    bool random_mac = link.kind == "macvlan";
    lines.push_back(
        fmt::format("{} link {} {} mtu {} mac {} alias '{}' altnames {} {}{}", label, link.name.to_string(), link.kind,
                    link.mtu, random_mac ? "any" : fmt::format("{:02x}", fmt::join(link.hw_address, ":")), link.alias,
                    fmt::join(link.alt_names, ","), link.up ? "up" : "down", link.promiscuous ? " promisc" : ""));
  }
  for (const os::LinkAddress& address : need(links.addresses()))
    if (std::string text = address.prefix.to_string(); !text.starts_with("fe80"))
      lines.push_back(fmt::format("{} address {} {}", label, names[address.link], text));
  for (const Route& route : need(links.all_routes())) {
    std::string to = route.is_default() ? "default" : route.destination.to_string();
    if (to.starts_with("fe80") || to.starts_with("ff00")) continue;
    lines.push_back(fmt::format("{} route {} via {} dev {} table {}", label, to,
                                route.gateway ? route.gateway->to_string() : "-", names[route.link],
                                route.table.value_or(0)));
  }
  for (const os::Rule& rule : need(links.rules()))
    lines.push_back(fmt::format("{} rule from {} table {}", label, rule.source.to_string(), rule.table));
}

// In shared mode every namespace sees all devices, but an interface's name only in its own namespace.
void Machine::add_rdma(const std::string& label, Result<std::unique_ptr<os::RdmaPort>> rdma,
                       std::vector<std::string>& lines) {
  if (!rdma) return;
  auto devices = (*rdma)->list();
  if (!devices) return;  // a kernel without RDMA
  for (const os::RdmaLink& device : *devices) {
    std::string interfaces;
    for (const os::RdmaLinkPort& port : device.ports) interfaces += " " + port.netdev_name;
    lines.push_back(fmt::format("{} rdma device {} on{}", label, device.name, interfaces));
  }
}

std::vector<std::string> Machine::state() {
  std::vector<std::string> lines;
  add_namespace("host", *need(kernel_->links()), lines);
  add_rdma("host", kernel_->rdma(), lines);
  for (const std::string& pod : pods_) {
    auto netns = need(kernel_->netns().open(pod_path(pod)));
    add_namespace(pod, *need(kernel_->netns().links(*netns)), lines);
    add_rdma(pod, kernel_->netns().rdma(*netns), lines);
    add_sysctls(pod, *netns, lines);
  }
  add_files("/var/lib/cni", true, lines);
  add_files("/var/lib/railbed", false, lines);
  add_files("/run/railbed", false, lines);
  add_records(lines);
  for (std::string& line : lines)
    if (line.starts_with("burst")) line.erase(5, 1);
  std::ranges::sort(lines);
  return lines;
}

}  // namespace railbed::kill
