// SPDX-License-Identifier: Apache-2.0
// RDMA devices of the fake kernel: hardware devices that come with their driver, and rxe on any interface.
#include <algorithm>
#include <cerrno>

#include "os/fake/state.h"

namespace railbed::os {
namespace {

std::string gid_text(Guid guid) {
  return fmt::format("fe80:0000:0000:0000:{}", guid.to_string());
}

std::string verbs_folder(const FakeRdma& rdma) {
  return fmt::format("/sys/class/infiniband_verbs/uverbs{}", rdma.verbs);
}
std::string verbs_file(const FakeRdma& rdma) {
  return fmt::format("/dev/infiniband/uverbs{}", rdma.verbs);
}

}  // namespace

void FakeState::add_rdma(FakeRdma added) {
  added.index = added.verbs = next_rdma_++;
  rdma.push_back(std::move(added));
  show_rdma(rdma.back());
  announce("add", "infiniband", "/sys/class/infiniband/" + rdma.back().name, {{"NAME", rdma.back().name}});
}

void FakeState::forget_rdma(const FakeRdma& gone) {
  std::string link = "/sys/class/infiniband/" + gone.name;
  if (auto path = files.real_path(link)) files.remove(*path);
  files.remove(verbs_folder(gone));
  files.remove(verbs_file(gone));
  files.remove(link);
  announce("remove", "infiniband", link, {{"NAME", gone.name}});
}

// On a move the device's files are recreated, under the lowest free number.
void FakeState::renumber_verbs(FakeRdma& moved) {
  files.remove(verbs_folder(moved));
  files.remove(verbs_file(moved));
  moved.verbs = 0;
  while (std::ranges::any_of(rdma, [&](const FakeRdma& one) { return &one != &moved && one.verbs == moved.verbs; }))
    ++moved.verbs;
  show_rdma(moved);
}

void FakeState::remove_rdma_on(NetdevId on) {
  std::erase_if(rdma, [&](const FakeRdma& one) {
    bool gone = !one.pci && one.netdev == on;
    if (gone) forget_rdma(one);
    return gone;
  });
}

void FakeState::remove_rdma_of(PciAddress address) {
  std::erase_if(rdma, [&](const FakeRdma& one) {
    bool gone = one.pci == address;
    if (gone) forget_rdma(one);
    return gone;
  });
}

// In shared mode a device is visible everywhere, its interface only in that interface's namespace.
RdmaLink FakeState::rdma_link_shown(const FakeRdma& shown, NsId from) {
  RdmaLink link{.index = shown.index, .name = shown.name, .node_guid = shown.guid, .system_image_guid = shown.guid};
  FakeDevice* owner = shown.pci ? device(*shown.pci) : nullptr;
  bool infiniband = owner != nullptr && pf_of(*owner).config.infiniband;
  link.protocol = infiniband ? "ib" : "roce";
  if (owner != nullptr) link.firmware = pf_of(*owner).config.firmware;
  RdmaLinkPort port;
  const FakeNetdev* on = netdev(shown.netdev);
  bool active = on != nullptr ? on->link.lower_up : infiniband && pf_of(*owner).carrier;
  port.state = active ? "ACTIVE" : "DOWN";
  port.physical_state = active ? "LinkUp" : "Disabled";
  if (infiniband) {
    port.lid = static_cast<int>(shown.index) + 1;
    port.sm_lid = 1;
    port.subnet_prefix = 0xfe80000000000000;
  }
  if (on != nullptr && on->ns == from) {
    port.netdev = on->link.index;
    port.netdev_name = on->link.name.value;
  }
  link.ports.push_back(std::move(port));
  return link;
}

void FakeState::show_rdma(const FakeRdma& shown) {
  FakeDevice* owner = shown.pci ? device(*shown.pci) : nullptr;
  const FakeNetdev* on = netdev(shown.netdev);
  bool infiniband = owner != nullptr && pf_of(*owner).config.infiniband;
  std::string path =
      (owner == nullptr ? "/sys/devices/virtual/infiniband/" : owner->path + "/infiniband/") + shown.name;
  auto put = [&](std::string_view name, const std::string& text) {
    files.put_file(fmt::format("{}/{}", path, name), text + "\n");
  };
  RdmaLink link = rdma_link_shown(shown, kInitialNs);
  bool active = link.ports[0].state == "ACTIVE";
  put("node_guid", shown.guid.to_string());
  put("sys_image_guid", shown.guid.to_string());
  put("node_type", "1: CA");
  put("fw_ver", link.firmware);
  if (owner != nullptr)
    files.put_link(path + "/device", fmt::format("../../../{}", *shown.pci));
  else if (on != nullptr)
    put("parent", on->link.name.value);
  put("ports/1/state", active ? "4: ACTIVE" : "1: DOWN");
  put("ports/1/phys_state", active ? "5: LinkUp" : "3: Disabled");
  put("ports/1/link_layer", infiniband ? "InfiniBand" : "Ethernet");
  put("ports/1/rate", infiniband         ? "400 Gb/sec (4X NDR)"
                      : owner == nullptr ? "2.5 Gb/sec (1X SDR)"
                                         : "100 Gb/sec (4X EDR)");
  put("ports/1/lid", fmt::format("{:#x}", link.ports[0].lid.value_or(0)));
  put("ports/1/sm_lid", fmt::format("{:#x}", link.ports[0].sm_lid.value_or(0)));
  put("ports/1/gids/0", gid_text(shown.guid));
  put("ports/1/gid_attrs/types/0", infiniband ? "IB/RoCE v1" : "RoCE v2");
  if (on != nullptr && !infiniband) put("ports/1/gid_attrs/ndevs/0", on->link.name.value);
  files.put_file(verbs_folder(shown) + "/ibdev", shown.name + "\n");
  files.put_file(verbs_file(shown), "");
  files.put_file("/dev/infiniband/rdma_cm", "");
  put("ports/1/pkeys/0", "0xffff");
  files.put_link("/sys/class/infiniband/" + shown.name, "../.." + path.substr(4));
}

void FakeState::show_rdma_state(const FakeNetdev& changed) {
  for (const FakeRdma& one : rdma)
    if (one.netdev == changed.id) show_rdma(one);
}

namespace {

class FakeRdmaPort : public RdmaPort {
 public:
  FakeRdmaPort(std::shared_ptr<FakeState> state, NsId ns) : state_(std::move(state)), ns_(ns) {}

  Result<std::vector<RdmaLink>> list() override {
    auto lock = state_->look();
    std::vector<RdmaLink> links;
    for (const FakeRdma& one : state_->rdma)
      if (shared() || one.ns == ns_) links.push_back(state_->rdma_link_shown(one, ns_));
    return links;
  }
  Result<RdmaNetnsMode> netns_mode() override { return state_->machine.rdma_mode; }

  Result<void> create_soft(const std::string& type, const std::string& name, const IfName& netdev) override {
    std::string text = fmt::format("{} type {} netdev {}", name, type, netdev);
    std::string what = "RDMA_NLDEV_CMD_NEWLINK " + text;
    return state_->change("rdma create " + text, what, [&]() -> Result<void> {
      if (type != "rxe") return fail(system_error(EINVAL, what));
      FakeNetdev* on = state_->netdev_by_name(ns_, netdev.value);
      if (on == nullptr) return fail(system_error(ENODEV, what));
      for (const FakeRdma& one : state_->rdma)
        if (one.name == name || (!one.pci && one.netdev == on->id)) return fail(system_error(EEXIST, what));
      // Even in exclusive mode the device appears in the initial namespace, whatever the caller's.
      state_->add_rdma({.name = name, .netdev = on->id, .guid = guid_of(on->link.mac().value_or(MacAddress{}))});
      return {};
    });
  }
  Result<void> remove_soft(const std::string& name) override {
    std::string what = "RDMA_NLDEV_CMD_DELLINK " + name;
    return state_->change("rdma remove " + name, what, [&]() -> Result<void> {
      FakeRdma* found = find(name);
      if (found == nullptr) return fail(Code::kNotFound, "{}: there is no such RDMA device", what);
      if (found->pci) return fail(system_error(EINVAL, what));
      state_->remove_rdma_on(found->netdev);
      return {};
    });
  }
  Result<void> move(const std::string& name, const Netns& netns) override {
    std::string text = fmt::format("{} netns {}", name, netns.path());
    std::string what = "RDMA_NLDEV_CMD_SET " + text;
    return state_->change("rdma move " + text, what, [&]() -> Result<void> {
      FakeRdma* found = find(name);
      if (found == nullptr) return fail(Code::kNotFound, "RDMA_NLDEV_CMD_SET {}: there is no such RDMA device", name);
      if (shared() || !found->pci) return fail(system_error(EOPNOTSUPP, what));
      auto target = state_->open_netns.find(netns.fd());
      if (target == state_->open_netns.end() || state_->namespaces[target->second].gone)
        return fail(system_error(EINVAL, what));
      found->ns = target->second;
      state_->renumber_verbs(*found);
      return {};
    });
  }

 private:
  bool shared() const { return state_->machine.rdma_mode == RdmaNetnsMode::kShared; }
  FakeRdma* find(const std::string& name) {
    for (FakeRdma& one : state_->rdma)
      if (one.name == name && (shared() || one.ns == ns_)) return &one;
    return nullptr;
  }

  std::shared_ptr<FakeState> state_;
  NsId ns_;
};

}  // namespace

Result<std::unique_ptr<RdmaPort>> fake_rdma(std::shared_ptr<FakeState> state, NsId ns) {
  if (!state->machine.rdma) {
    Error error = system_error(EPROTONOSUPPORT, "socket NETLINK_RDMA");
    error.hint = "this kernel has no RDMA, or its modules are not loaded (modprobe ib_uverbs)";
    return fail(std::move(error));
  }
  return std::make_unique<FakeRdmaPort>(std::move(state), ns);
}

}  // namespace railbed::os
