// SPDX-License-Identifier: Apache-2.0
// DEL of what an original plugin attached: its own files say how things were, and the code that undoes our
// attachments undoes this one.
//
// Formats, read only: sriov-cni and ib-sriov-cni keep the configuration with what was before
// (/var/lib/cni/sriov/<container>-<interface>), rdma-cni the device's names, tuning the settings that it
// changed; host-device puts the interface's name at home into its alias.
#include <algorithm>

#include "attach/give_back.h"
#include "attach/json_fields.h"
#include "attach/rebind.h"
#include "base/pci_driver.h"

namespace railbed::attach {
namespace {

class Foreign {
 public:
  Foreign(os::Kernel& kernel, state::Store* ours, const ForeignInterface& interface, os::Deadline deadline)
      : kernel_(kernel), ours_(ours), interface_(interface), deadline_(deadline), host_(kernel) {}

  Result<DetachReport> run() {
    TRY(look_inside());
    if (interface_.type == "macvlan" || interface_.type == "ipvlan") return made();
    if (interface_.type == "host-device") return host_device();
    if (interface_.type == "sriov") return sriov();
    if (interface_.type == "ib-sriov") return ib_sriov();
    if (interface_.type == "tuning") return tuning();
    if (interface_.type == "rdma") return rdma();
    if (interface_.type == "sbr") return source_routing();
    if (interface_.type == "vrf") return vrf();
    return DetachReport{};
  }

 private:
  Result<void> look_inside() {
    if (interface_.netns_path.empty()) return {};
    auto opened = kernel_.netns().open(interface_.netns_path);
    if (!opened.has_value() && opened.error().code == Code::kNotFound) return {};
    netns_ = TRY(std::move(opened));
    links_ = TRY(kernel_.netns().links(*netns_));
    inside_ = TRY(links_->list(os::WithVfs::kNo));
    return {};
  }

  // In the pod; null where there is none.
  const os::Link* in_pod() const {
    auto found = std::ranges::find(inside_, interface_.name, &os::Link::name);
    return found == inside_.end() ? nullptr : &*found;
  }
  const os::Link* in_pod(PciAddress device) const {
    auto found = std::ranges::find_if(inside_, [&](const os::Link& link) {
      return link.parent_bus == "pci" && link.parent_device == device.to_string();
    });
    return found == inside_.end() ? nullptr : &*found;
  }

  // Nothing where the file is not there.
  Result<std::optional<doc::Value>> left_file(const std::string& directory, const std::string& name) {
    if (name.find('/') != std::string::npos || name.find("..") != std::string::npos)
      return fail(Code::kInvalid, "\"{}\" cannot be part of a file's name", name);
    std::string path = directory + "/" + name;
    Result<std::string> text = kernel_.files().read(path);
    if (!text.has_value() && text.error().code == Code::kNotFound) return std::optional<doc::Value>{};
    std::string content = TRY(std::move(text));
    return std::optional(TRY(parse_object(content).context("{}", path)));
  }
  std::string file_name() const { return interface_.container_id + "-" + interface_.name.value; }

  // Undoes `before` as if it were ours.
  Result<DetachReport> give(const Before& before, const std::string& device = "") {
    auto store = state::memory_store();
    state::Attachment record{.pod = "@" + interface_.container_id,
                             .interface = interface_.name.value,
                             .netns = interface_.netns_path,
                             .type = interface_.type,
                             .status = state::AttachmentStatus::kDetaching,
                             .device = device,
                             .undo = undo_text(Wish{}, before)};
    TRY(store->put_attachment(record));
    GivenBack given = TRY(give_back(host_, *store, {record}, netns_.get(), deadline_));
    if (!given.failures.empty()) return fail(std::move(given.failures.front().error));
    return DetachReport{.detached = 1, .notes = std::move(given.notes)};
  }

  Result<bool> is_ours(const std::string& device) {
    if (ours_ == nullptr) return false;
    return !TRY(ours_->attachments_with(device)).empty();
  }

  Result<DetachReport> made() {
    const os::Link* link = in_pod();
    if (link == nullptr || link->kind != interface_.type) return DetachReport{};
    Result<void> removed = links_->remove(link->index);
    if (!removed.has_value() && removed.error().code != Code::kNotFound) return fail(removed.error());
    return DetachReport{.detached = 1};
  }

  static Before now_of(const os::Link& link) {
    Before before{.way = Way::kMove, .name = link.name.value, .index = link.index.value, .kind = link.kind};
    before.hw_address = link.hw_address;
    return before;
  }

  // Where the pod's namespace has ended, its device is at home, under the pod's name. A name and an alias alone prove
  // nothing, since the host's own interfaces may have them: the configuration must name that very device.
  Result<const os::Link*> at_home() {
    if (netns_ != nullptr) return nullptr;
    const os::Link* link = TRY(host_.by_name(interface_.name.value));
    if (link == nullptr || link->alias.empty() || link->alias == link->name.value) return nullptr;
    const std::string address = text_in(interface_.config, "pciBusID");
    const bool named = link->alias == text_in(interface_.config, "device") ||
                       (!address.empty() && link->parent_bus == "pci" && link->parent_device == address);
    return named ? link : nullptr;
  }

  // The alias tells its name at home.
  Result<DetachReport> host_device() {
    const os::Link* link = in_pod();
    if (link == nullptr) link = TRY(at_home());
    if (link == nullptr || link->name.value == "lo") return DetachReport{};
    // A virtual one without an alias is the pod's own: every version of the original writes it.
    if (link->alias.empty() && link->parent_device.empty()) return DetachReport{};
    if (TRY(is_ours(link->parent_device.empty() ? link->alias : link->parent_device))) return DetachReport{};
    Before before = now_of(*link);
    std::string home = link->alias.empty() ? text_in(interface_.config, "device") : link->alias;
    if (IfName::parse(home).has_value()) before.name = home;
    if (link->parent_bus == "pci") before.device = TRY(PciAddress::parse(link->parent_device));
    return give(before);
  }

  // Where the VF is: in this pod, or at home; another pod's is left alone.
  Result<std::optional<Before>> vf_before(const doc::Value& file) {
    Before before{.way = Way::kMove};
    before.device = TRY(parsed_in<PciAddress>(file, "deviceID"));
    if (!before.device.has_value() || !device_exists(kernel_.files(), *before.device) ||
        TRY(is_ours(before.device->to_string())))
      return std::optional<Before>{};
    if (auto place = TRY(vf_place(kernel_.files(), *before.device))) {
      before.pf = place->pf;
      before.vf = place->index;
    }
    const os::Link* link = in_pod(*before.device);
    if (link == nullptr) link = TRY(host_.by_pci(*before.device));
    if (link == nullptr) {
      std::string driver = driver_of(kernel_.files(), *before.device);
      if (!is_user_space_driver(driver)) return std::optional<Before>{};
      before.way = Way::kVfio;
      return std::optional(before);
    }
    Before at = now_of(*link);
    before.name = at.name;
    before.index = at.index;
    before.hw_address = at.hw_address;
    return std::optional(before);
  }

  static void take_name(const std::string& name, Before& before) {
    if (IfName::parse(name).has_value()) before.name = name;
  }

  Result<DetachReport> sriov() {
    auto file = TRY(left_file("/var/lib/cni/sriov", file_name()));
    if (!file.has_value()) return DetachReport{};
    auto found = TRY(vf_before(*file));
    const doc::Value* was = file->find("OrigVfState");
    if (!found.has_value() || was == nullptr || !was->is_object()) return DetachReport{};
    Before before = std::move(*found);
    take_name(text_in(*was, "HostIFName"), before);
    before.mtu = number_in(*was, "MTU");
    TRY(settings_before(*file, *was, before.vf_settings));
    if (auto mac = MacAddress::parse(text_in(*was, "EffectiveMAC")); mac.has_value() && before.way == Way::kMove) {
      std::vector<uint8_t> bytes(mac->bytes.begin(), mac->bytes.end());
      if (bytes != before.hw_address) {
        before.new_mac.emplace();
        std::ranges::copy(before.hw_address, before.new_mac->bytes.begin());
        before.hw_address = std::move(bytes);
      }
    }
    return give(before, before.device->to_string());
  }

  // What the configuration had set; the administrative MAC always.
  static Result<void> settings_before(const doc::Value& file, const doc::Value& was, os::VfChange& settings) {
    auto given = [&](const char* key) {
      const doc::Value* value = file.find(key);
      return value != nullptr && !value->is_null() && !(value->is_string() && value->as_string()->empty());
    };
    if (auto mac = MacAddress::parse(text_in(was, "AdminMAC")); mac.has_value()) settings.mac = *mac;
    constexpr int k8021ad = 0x88a8;
    if (given("vlan"))
      settings.vlan =
          os::VfChange::Vlan{number_in(was, "Vlan"), number_in(was, "VlanQoS"),
                             number_in(was, "VlanProto") == k8021ad ? os::VlanProto::k8021ad : os::VlanProto::k8021q};
    if (given("spoofchk")) settings.spoof_check = flag_in(was, "SpoofChk");
    if (given("trust") && was.find("Trust") != nullptr) settings.trust = flag_in(was, "Trust");
    if (given("min_tx_rate") || given("max_tx_rate"))
      settings.rate = os::VfChange::Rate{number_in(was, "MinTxRate"), number_in(was, "MaxTxRate")};
    int state = number_in(was, "LinkState");
    if (given("link_state") && state >= 0 && state <= 2) settings.link_state = static_cast<os::VfLinkState>(state);
    return {};
  }

  Result<DetachReport> ib_sriov() {
    std::optional<doc::Value> file;
    for (const char* directory : {"/var/lib/cni/ib-sriov", "/var/lib/cni/ib-sriov-cni", "/var/lib/cni/infiniband"})
      if (!file.has_value()) file = TRY(left_file(directory, file_name()));
    if (!file.has_value()) return DetachReport{};
    auto found = TRY(vf_before(*file));
    if (!found.has_value()) return DetachReport{};
    Before before = std::move(*found);
    take_name(text_in(*file, "HostIFNames"), before);
    if (!text_in(*file, "link_state").empty()) before.vf_settings.link_state = os::VfLinkState::kAuto;
    TRY(guid_before(*file, before));
    if (const doc::Value* state = file->find("RdmaNetState"); state != nullptr && state->is_object())
      take_rdma(*state, before);
    return give(before, before.device->to_string());
  }

  // No GUID is all ones; one that differs counts from the driver's next start.
  Result<void> guid_before(const doc::Value& file, Before& before) {
    auto guid = Guid::parse(text_in(file, "HostIFGUID"));
    if (!guid.has_value() || !before.pf.has_value()) return {};
    if (guid->is_zero()) guid->value = UINT64_MAX;
    os::VfInfo now = TRY(host_.vf(*before.pf, *before.vf));
    if (!now.port_guid.has_value() || now.port_guid == *guid) return {};
    before.vf_settings.node_guid = *guid;
    before.vf_settings.port_guid = *guid;
    before.rebind = driver_of(kernel_.files(), *before.device);
    return {};
  }

  static void take_rdma(const doc::Value& state, Before& before) {
    std::string name = text_in(state, "containerRdmaDevName");
    if (name.empty()) name = text_in(state, "ContainerRdmaDevName");
    if (name.empty()) return;
    before.rdma = {name};
    before.rdma_undo = RdmaUndo::kMoveBack;
  }

  Before change_of(const os::Link* link) const {
    Before before{.way = Way::kExisting, .name = interface_.name.value};
    if (link == nullptr) return before;
    before = now_of(*link);
    before.way = Way::kExisting;
    return before;
  }

  Result<DetachReport> tuning() {
    const os::Link* link = in_pod();
    std::string directory = text_in(interface_.config, "dataDir");
    if (directory.empty()) directory = "/run/cni/tuning";
    if (!directory.starts_with('/') || directory.find("..") != std::string::npos)
      return fail(Code::kInvalid, "dataDir is \"{}\", but must be an absolute path", directory);
    auto file = TRY(left_file(directory, interface_.container_id + "_" + interface_.name.value + ".json"));
    if (!file.has_value() || link == nullptr) return DetachReport{};
    Before before = change_of(link);
    before.mtu = number_in(*file, "mtu");
    before.promiscuous = optional_flag(*file, "promisc");
    before.all_multicast = optional_flag(*file, "allmulti");
    before.tx_queue = optional_number(*file, "txQLen");
    if (auto mac = MacAddress::parse(text_in(*file, "mac")); mac.has_value() && link->mac() != *mac) {
      before.new_mac = link->mac();
      before.hw_address.assign(mac->bytes.begin(), mac->bytes.end());
    }
    return give(before);
  }

  Result<DetachReport> rdma() {
    auto file = TRY(left_file("/var/lib/cni/rdma", text_in(interface_.config, "name") + "-" + file_name()));
    if (!file.has_value() || netns_ == nullptr) return DetachReport{};  // the kernel has moved it
    Before before = change_of(in_pod());
    take_rdma(*file, before);
    return give(before);
  }

  // Its rules are those from the interface's addresses.
  Result<DetachReport> source_routing() {
    const os::Link* link = in_pod();
    if (link == nullptr) return DetachReport{};
    Before before = change_of(link);
    std::vector<os::LinkAddress> addresses = TRY(links_->addresses());
    for (const os::Rule& rule : TRY(links_->rules()))
      for (const os::LinkAddress& one : addresses)
        if (one.link == link->index && one.prefix.address == rule.source.address &&
            rule.source.length == rule.source.address.bits())
          before.rules.push_back(rule);
    if (before.rules.empty()) return DetachReport{};
    return give(before);
  }

  Result<DetachReport> vrf() {
    const os::Link* link = in_pod();
    std::string name = text_in(interface_.config, "vrfname");
    if (netns_ == nullptr || name.empty()) return DetachReport{};
    auto vrf =
        std::ranges::find_if(inside_, [&](const os::Link& one) { return one.name.value == name && one.kind == "vrf"; });
    if (vrf == inside_.end()) return DetachReport{};
    if (link != nullptr && link->master && link->master != vrf->index) link = nullptr;
    Before before = change_of(link);
    before.vrf = name;
    if (link != nullptr)
      for (const os::LinkAddress& one : TRY(links_->addresses()))
        if (one.link == link->index && one.prefix.address.family == IpFamily::kV6 &&
            !one.prefix.address.to_gid().is_link_local())
          before.addresses.push_back(one.prefix);
    return give(before);
  }

  os::Kernel& kernel_;
  state::Store* ours_;
  const ForeignInterface& interface_;
  os::Deadline deadline_;
  Host host_;
  std::unique_ptr<os::Netns> netns_;
  std::unique_ptr<os::LinkPort> links_;
  std::vector<os::Link> inside_;
};

}  // namespace

Result<DetachReport> detach_foreign(os::Kernel& kernel, const ForeignInterface& interface, os::Deadline deadline,
                                    state::Store* ours) {
  return Foreign(kernel, ours, interface, deadline)
      .run()
      .context("interface {} of container {}, attached by the original {}", interface.name, interface.container_id,
               interface.type);
}

}  // namespace railbed::attach
