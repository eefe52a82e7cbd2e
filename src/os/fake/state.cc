// SPDX-License-Identifier: Apache-2.0
#include "os/fake/state.h"

#include <algorithm>

#include <unistd.h>

#include "os/ports/link_text.h"

namespace railbed::os {

FakeState::FakeState(const FakeMachine& description)
    : machine(description), answers(description.answers), now(Deadline() + std::chrono::seconds(1000)) {}

FakeState::~FakeState() {
  for (auto& [id, ns] : namespaces)
    for (int pipe : ns.watched_pipes) ::close(pipe);
}

void FakeState::build() {
  files.put_directory("/sys/class/net");
  files.put_directory("/sys/kernel/iommu_groups");
  files.put_file("/sys/bus/pci/drivers_probe", "");
  files.put_directory("/sys/bus/pci/devices");
  files.put_file("/proc/sys/kernel/hostname", machine.host_name + "\n");
  files.put_file("/proc/sys/kernel/osrelease", machine.kernel_release + "\n");
  files.put_file("/proc/modules", "");
  if (machine.rdma) files.put_directory("/sys/class/infiniband");
  namespaces[kInitialNs] = FakeNs{.id = kInitialNs};
  Link loopback{.name = IfName{"lo"}, .hw_address = std::vector<uint8_t>(6, 0), .arp_type = 772, .mtu = 65536};
  loopback.up = true;
  add_netdev({.ns = kInitialNs, .link = loopback});
  for (size_t i = 0; i < machine.pfs.size(); ++i) {
    const FakePf& config = machine.pfs[i];
    pfs.push_back({.config = config, .autoprobe = config.autoprobe, .carrier = config.carrier});
    add_driver(config.driver);
    add_driver(config.vf_driver);
    if (config.eswitch) {
      put_eswitch_mode(answers, config.address, EswitchMode::kLegacy);
      put_firmware_version(answers, config.address, config.firmware);
    }
    FakeDevice device{.address = config.address, .default_driver = config.driver, .pf = i};
    device.path = fmt::format("/sys/devices/pci{:04x}:00/{:04x}:00:{:02x}.0/{}", config.address.domain,
                              config.address.domain, i + 1, config.address);
    add_device(std::move(device));
    if (FakeNetdev* netdev = netdev_of(config.address); netdev != nullptr && config.up) set_up(*netdev, true);
    if (config.num_vfs > 0) {
      pfs[i].num_vfs = config.num_vfs;
      make_vfs(i);
      show_device(*this->device(config.address));
    }
  }
  for (const std::string& name : machine.other_links) {
    Link link{.name = IfName{name}, .hw_address = {2, 0xaa, 0, 0, 0, static_cast<uint8_t>(netdevs.size())}};
    link.mtu = 1500;
    set_up(add_netdev({.ns = kInitialNs, .link = link}), true);
  }
}

std::function<void()> FakeState::take_hook(const std::string& line) {
  std::lock_guard lock(mutex_);
  auto found = std::ranges::find_if(hooks, [&](const Hook& hook) { return line.find(hook.part) != line.npos; });
  if (found == hooks.end()) return nullptr;
  std::function<void()> action = std::move(found->action);
  hooks.erase(found);
  return action;
}

int FakeState::injected_errno(const std::string& line) {
  for (Fault& fault : faults) {
    bool hit = fault.call > 0 ? fault.call == calls : fault.times != 0 && line.find(fault.part) != line.npos;
    if (!hit) continue;
    if (fault.times > 0) --fault.times;
    return fault.sys_errno;
  }
  return 0;
}

Result<void> FakeState::change(const std::string& line, const std::string& what,
                               const std::function<Result<void>()>& effect) {
  if (auto action = take_hook(line)) action();
  auto lock = look();
  if (!killed && kill_at && calls >= *kill_at) killed = true;
  if (killed) return fail(Code::kCanceled, "killed before: {}", line);
  ++calls;
  int injected = injected_errno(line);
  auto done = injected != 0 ? Result<void>(fail(system_error(injected, what))) : effect();
  std::string note = line;
  if (!done) note += " -> " + (done.error().sys_errno != 0 ? errno_name(done.error().sys_errno) : done.error().message);
  journal.push_back(note);
  if (kill_at && calls >= *kill_at && kill == FakeKernel::Kill::kUnanswered) {
    killed = true;
    return fail(Code::kCanceled, "killed after: {}", line);
  }
  return done;
}

std::unique_lock<std::recursive_mutex> FakeState::look() {
  std::unique_lock lock(mutex_);
  run_due();
  reap_namespaces();
  return lock;
}

Result<void> FakeState::wait(Deadline deadline, const std::string& what, const std::function<bool()>& ready) {
  if (auto action = take_hook("wait for " + what)) action();
  auto lock = look();
  while (true) {
    if (killed) return fail(Code::kCanceled, "killed while waiting for an {}", what);
    if (ready()) return {};
    if (pending_.empty() || pending_.begin()->first > deadline) {
      now = std::max(now, deadline);
      return fail(Code::kTimeout, "no {} before the deadline", what);
    }
    now = std::max(now, pending_.begin()->first);
    run_due();
    reap_namespaces();
  }
}

void FakeState::later(std::chrono::milliseconds delay, std::function<void()> action) {
  if (delay.count() < 0) return;
  if (delay.count() == 0) return action();
  pending_.emplace(now + delay, std::move(action));
}

void FakeState::run_due() {
  while (!pending_.empty() && pending_.begin()->first <= now) {
    auto action = std::move(pending_.begin()->second);
    pending_.erase(pending_.begin());
    action();
  }
}

void FakeState::announce(const std::string& action, const std::string& subsystem, const std::string& path,
                         std::map<std::string, std::string> properties) {
  Uevent event{.action = action, .subsystem = subsystem, .devpath = path, .properties = std::move(properties)};
  if (event.devpath.starts_with("/sys")) event.devpath.erase(0, 4);
  event.properties.insert({{"ACTION", action}, {"SUBSYSTEM", subsystem}, {"DEVPATH", event.devpath}});
  std::erase_if(streams, [&](const std::weak_ptr<std::deque<Uevent>>& stream) {
    auto queue = stream.lock();
    if (queue) queue->push_back(event);
    return queue == nullptr;
  });
}

void FakeState::link_changed(const FakeNetdev& changed) {
  if (changed.ns == kInitialNs) ++link_changes;
}

namespace {

std::string vf_text(const VfInfo& vf) {
  std::string text = fmt::format("{}: mac {} vlan {}", vf.index, vf.mac.value_or(MacAddress{}), vf.vlan);
  if (vf.qos != 0) text += fmt::format(" qos {}", vf.qos);
  if (vf.proto == VlanProto::k8021ad) text += " 802.1ad";
  if (vf.spoof_check) text += *vf.spoof_check ? " spoofchk" : " no-spoofchk";
  if (vf.trust) text += *vf.trust ? " trust" : " no-trust";
  if (vf.link_state) text += fmt::format(" state {}", static_cast<int>(*vf.link_state));
  if (vf.min_tx_rate_mbps != 0 || vf.max_tx_rate_mbps != 0)
    text += fmt::format(" rate {}-{}", vf.min_tx_rate_mbps, vf.max_tx_rate_mbps);
  if (vf.node_guid) text += fmt::format(" node {}", *vf.node_guid);
  if (vf.port_guid) text += fmt::format(" port {}", *vf.port_guid);
  return text;
}

std::string netdev_text(const FakeNetdev& netdev) {
  const Link& link = netdev.link;
  std::string text = fmt::format("{} mtu {} {}", link.name, link.mtu, link.up ? "up" : "down");
  if (!link.kind.empty()) text += " " + link.kind;
  if (netdev.pci) text += fmt::format(" pci {}", *netdev.pci);
  if (auto mac = link.mac(); mac && !mac->is_zero() && netdev.pci) text += fmt::format(" mac {}", *mac);
  if (!link.alias.empty()) text += fmt::format(" alias \"{}\"", link.alias);
  if (link.group != 0) text += fmt::format(" group {}", link.group);
  if (link.promiscuous) text += " promisc";
  if (link.all_multicast) text += " allmulti";
  if (link.tx_queue != 0) text += fmt::format(" txqueuelen {}", link.tx_queue);
  if (link.vrf_table != 0) text += fmt::format(" table {}", link.vrf_table);
  if (netdev.master != 0) text += " port";
  std::set<std::string> parts;  // sorted
  for (const IpPrefix& address : netdev.addresses) parts.insert(address.to_string());
  for (const Route& route : netdev.routes)
    parts.insert(fmt::format("route {}{}{}", route.is_default() ? "default" : route.destination.to_string(),
                             route.gateway ? " via " + route.gateway->to_string() : "",
                             route.table ? fmt::format(" table {}", *route.table) : ""));
  for (const IpPrefix& network : netdev.unrouted) parts.insert(fmt::format("no route {}", network));
  return parts.empty() ? text : fmt::format("{} {}", text, fmt::join(parts, " "));
}

}  // namespace

std::string FakeState::snapshot() {
  std::string text;
  for (const FakePfState& pf : pfs) {
    text += fmt::format("pf {} vfs {} autoprobe {} {}\n", pf.config.address, pf.num_vfs, pf.autoprobe,
                        eswitch_mode_name(pf.mode));
    for (const VfInfo& vf : pf.vfs) text += fmt::format("  setting {}\n", vf_text(vf));
  }
  for (const auto& [address, one] : devices)
    text += fmt::format("device {} driver {} override {}\n", address, one.driver.empty() ? "-" : one.driver,
                        one.override_driver.empty() ? "-" : one.override_driver);
  std::map<std::string, const FakeNs*> by_name;
  for (const auto& [id, ns] : namespaces)
    if (!ns.gone) by_name[id == kInitialNs ? "" : ns.name.empty() ? fmt::format("~unnamed {}", id) : ns.name] = &ns;
  for (const auto& [name, ns] : by_name) {
    text += fmt::format("netns {}\n", name.empty() ? "(initial)" : name);
    for (const auto& [key, value] : ns->sysctls) text += fmt::format("  sysctl {} {}\n", key, value);
    for (const Rule& rule : ns->rules) text += fmt::format("  rule {}\n", describe(rule));
    std::set<std::string> lines;
    for (const auto& [id, one] : netdevs)
      if (one.ns == ns->id) lines.insert(netdev_text(one));
    for (const std::string& line : lines) text += "  " + line + "\n";
  }
  std::set<std::string> lines;
  for (const FakeRdma& one : rdma) {
    const FakeNetdev* on = netdev(one.netdev);
    lines.insert(fmt::format("rdma {}{} in {}\n", one.name, on == nullptr ? "" : " on " + on->link.name.value,
                             one.ns == kInitialNs ? "(initial)" : namespaces[one.ns].name));
  }
  for (const std::string& line : lines) text += line;
  return text;
}

}  // namespace railbed::os
