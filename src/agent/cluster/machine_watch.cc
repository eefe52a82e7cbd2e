// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/machine_watch.h"

#include <thread>
#include <utility>

#include "base/log.h"

namespace railbed::agent {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds kPause{1000};   // between two changes that are reported
constexpr milliseconds kNoticed{250};  // how soon the end, and a change that waited, is noticed

}  // namespace

bool concerns_vfs(const os::Uevent& event) {
  if (event.action == "overrun") return true;
  if (event.subsystem == "pci")
    return event.action == "bind" || event.action == "unbind" || event.action == "add" || event.action == "remove";
  // Soft RDMA devices have no place on a bus; they come and go with pods.
  if (event.subsystem == "infiniband") return event.devpath.starts_with("/devices/pci");
  return false;
}

std::map<std::string, bool> links_of_pfs(const facts::NodeFacts& facts) {
  std::map<std::string, bool> links;
  for (const facts::Nic& nic : facts.nics) {
    if (nic.vfs.empty()) continue;
    for (const facts::NetInterface& netdev : nic.netdevs) links.emplace(netdev.name, netdev.carrier.value_or(false));
  }
  return links;
}

MachineWatch::MachineWatch(os::Kernel& kernel, std::function<void()> changed)
    : kernel_(kernel), changed_(std::move(changed)) {}

void MachineWatch::expect(std::map<std::string, bool> links) {
  const std::lock_guard lock(mutex_);
  expected_ = std::move(links);
}

Result<void> MachineWatch::open() {
  devices_ = TRY(kernel_.uevents().open().context("listening to the kernel's announcements of devices"));
  links_ = TRY(kernel_.link_watch().context("listening to changes of interfaces"));
  return {};
}

Result<void> MachineWatch::hear_devices(os::Deadline deadline) {
  const os::Uevent event = TRY(devices_->next(deadline));
  if (concerns_vfs(event)) notice();
  return {};
}

Result<void> MachineWatch::hear_links(os::Deadline deadline) {
  const Result<void> heard = links_->next(deadline);
  // Also where nothing was heard: what is expected may be older than the last announcement.
  look_at_links();
  return heard;
}

void MachineWatch::look_at_links() {
  bool differs = false;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [name, had_link] : expected_) {
      // An interface that is down has no carrier to be read.
      const auto carrier = os::read_line(kernel_.files(), fmt::format("/sys/class/net/{}/carrier", name));
      const bool has_link = carrier.has_value() && *carrier == "1";
      differs = differs || has_link != had_link;
      had_link = has_link;
    }
  }
  if (differs) notice();
}

void MachineWatch::notice() {
  {
    const std::lock_guard lock(mutex_);
    const os::Deadline now = kernel_.clock().now();
    waits_ = reported_at_ && now - *reported_at_ < kPause;
    if (waits_) return;
    reported_at_ = now;
  }
  changed_();
}

void MachineWatch::report_what_waits() {
  {
    const std::lock_guard lock(mutex_);
    if (!waits_ || kernel_.clock().now() - *reported_at_ < kPause) return;
  }
  notice();
}

void MachineWatch::follow(const std::stop_token& stop, const char* what,
                          Result<void> (MachineWatch::*hear)(os::Deadline)) {
  while (!stop.stop_requested()) {
    const Result<void> heard = (this->*hear)(kernel_.clock().now() + kNoticed);
    if (!heard && heard.error().code != Code::kTimeout)
      return log::warn(fmt::format("{} are detected at the next scan only: {}", what, heard.error().story()));
    report_what_waits();
  }
}

void MachineWatch::run(std::stop_token stop) {
  if (const Result<void> opened = open(); !opened)
    return log::warn("changes of VFs are detected at the next scan only: " + opened.error().story());
  const std::jthread links([&] { follow(stop, "added and removed links", &MachineWatch::hear_links); });
  follow(stop, "added and removed devices", &MachineWatch::hear_devices);
}

}  // namespace railbed::agent
