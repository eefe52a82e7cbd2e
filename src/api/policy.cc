// SPDX-License-Identifier: Apache-2.0
#include "api/policy.h"

#include <algorithm>
#include <charconv>

#include "api/metadata.h"
#include "api/names.h"
#include "doc/fields.h"

namespace railbed::api {

namespace {

constexpr int kMaxVfs = 65535;  // TotalVFs is 16 bits wide (PCIe 9.3.3.5)
constexpr int kMaxMtu = 65535;

// Fields of spec that are often indented one level too deep.
const std::vector<Elsewhere> kFieldsOfSpec = [] {
  std::vector<Elsewhere> out;
  for (std::string_view key :
       {"deviceType", "isRdma", "linkType", "eSwitchMode", "numVfs", "mtu", "priority", "resourceName", "nodeSelector",
        "needVhostNet", "vdpaType", "excludeTopology", "externallyManaged", "bridge"})
    out.push_back({key, "is a field of spec, not of spec.nicSelector", "indent it as far as the other fields of spec"});
  return out;
}();

const std::vector<Elsewhere> kFieldsOfNicSelector = [] {
  std::vector<Elsewhere> out;
  for (std::string_view key : {"vendor", "deviceID", "rootDevices", "pfNames", "netFilter"})
    out.push_back({key, "is a field of spec.nicSelector, not of spec", "indent it below 'nicSelector:'"});
  for (std::string_view key : {"vlan", "ipam", "spoofChk", "trust", "linkState", "networkNamespace"})
    out.push_back({key, "is a field of SriovNetwork, not of SriovNetworkNodePolicy", ""});
  return out;
}();

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool is_hex4(std::string_view text) {
  return text.size() == 4 && std::ranges::all_of(text, [](unsigned char c) { return std::isxdigit(c); });
}

bool is_net_filter(std::string_view text) {
  for (std::string_view cloud : {"openstack/NetworkID:", "aws/NetworkID:"}) {
    if (!text.starts_with(cloud)) continue;
    const std::string_view id = text.substr(cloud.size());
    return !id.empty() && std::ranges::all_of(id, [](unsigned char c) { return std::isalnum(c) || c == '-'; });
  }
  return false;
}

class PolicyReader {
 public:
  PolicyReader(const doc::Value& object, doc::Diagnostics& out) : object_(object), out_(out) {}

  SriovNetworkNodePolicy read() {
    doc::Fields top(object_, "", "RB-API", out_);
    top.ignore({"apiVersion", "kind", "status"});
    policy_.meta = read_metadata(top, out_);
    top.require("spec");
    if (const doc::Value* spec = top.object("spec")) read_spec(*spec);
    top.finish(top_level({{"nicSelector", "is a field of spec", "indent it below 'spec:'"},
                          {"numVfs", "is a field of spec", "indent it below 'spec:'"},
                          {"resourceName", "is a field of spec", "indent it below 'spec:'"},
                          {"nodeSelector", "is a field of spec", "indent it below 'spec:'"}}));
    if (policy_.meta.name.value == "default")
      top.warning(9, policy_.meta.name.span, "the operator ignores a policy that is named \"default\"")
          .for_one_machine();
    return std::move(policy_);
  }

 private:
  void read_spec(const doc::Value& object) {
    doc::Fields spec(object, "spec", "RB-API", out_);
    for (std::string_view key : {"resourceName", "nodeSelector", "numVfs", "nicSelector"}) spec.require(key);
    policy_.resource_name = spec.text("resourceName");
    check_resource_name(policy_.resource_name, "spec.resourceName", out_);
    policy_.node_selector = read_string_map(spec, "nodeSelector");
    const doc::Value* node_selector = object.find("nodeSelector");
    policy_.node_selector_span = node_selector ? node_selector->span : object.span;
    policy_.priority = spec.integer("priority", 0, 99, 99);
    policy_.num_vfs = spec.integer("numVfs", 0, kMaxVfs);
    policy_.mtu = spec.integer("mtu", 1, kMaxMtu);
    policy_.is_rdma = spec.boolean("isRdma");
    policy_.need_vhost_net = spec.boolean("needVhostNet");
    policy_.exclude_topology = spec.boolean("excludeTopology");
    policy_.externally_managed = spec.boolean("externallyManaged");
    policy_.vdpa_type = spec.choice("vdpaType", {"virtio", "vhost"});
    read_modes(spec);
    // Go's serialisation writes a bridge that was never set as {}.
    if (const doc::Value* bridge = spec.object("bridge"); bridge != nullptr && bridge->find("ovs") != nullptr)
      policy_.bridge = {.value = *bridge, .present = true, .span = bridge->span};
    if (const doc::Value* selector = spec.object("nicSelector")) read_nic_selector(*selector);
    check_together(spec);
    spec.finish(kFieldsOfNicSelector);
  }

  void read_modes(doc::Fields& spec) {
    const auto type = spec.choice("deviceType", {"netdevice", "vfio-pci"});
    policy_.device_type = {.value = type.value == kVfioPciDriver ? DeviceType::kVfioPci : DeviceType::kNetdevice,
                           .present = type.present,
                           .span = type.span};
    const auto link = spec.choice("linkType", {"eth", "ETH", "ib", "IB"});
    const WantedLinkType wanted = parse_link_type(link.value);
    policy_.link_type = {.value = wanted, .present = link.present, .span = link.span};
    const auto mode = spec.choice("eSwitchMode", {"legacy", "switchdev"});
    policy_.eswitch_mode = {.value = parse_eswitch_mode(mode.value).value_or(EswitchMode::kLegacy),
                            .present = mode.present,
                            .span = mode.span};
    // As in the operator's webhook: an InfiniBand VF with a kernel driver is always for RDMA.
    if (!policy_.is_rdma.present && wanted == WantedLinkType::kInfiniband &&
        *policy_.device_type == DeviceType::kNetdevice)
      policy_.is_rdma.value = true;
  }

  void read_nic_selector(const doc::Value& object) {
    NicSelector& selector = policy_.nic_selector;
    selector.span = object.span;
    doc::Fields fields(object, "spec.nicSelector", "RB-API", out_);
    selector.vendor = read_id(fields, "vendor", "15b3");
    selector.device_id = read_id(fields, "deviceID", "101d");
    read_root_devices(fields);
    read_pf_names(fields);
    selector.net_filter = fields.text("netFilter");
    if (selector.net_filter.present && !is_net_filter(*selector.net_filter))
      fields.error(5, selector.net_filter.span,
                   fmt::format("spec.nicSelector.netFilter must look like openstack/NetworkID:<uuid> or "
                               "aws/NetworkID:<id>, found \"{}\"",
                               *selector.net_filter));
    const bool others = selector.vendor.present || selector.device_id.present || !selector.root_devices.empty() ||
                        !selector.pf_names.empty();
    if (selector.net_filter.present && others)
      fields.error(5, selector.net_filter.span, "spec.nicSelector.netFilter cannot be combined with other selectors");
    const std::vector<std::string_view> keys = {"vendor", "deviceID", "rootDevices", "pfNames", "netFilter"};
    if (std::ranges::none_of(keys, [&](std::string_view key) { return object.find(key) != nullptr; }))
      fields.require_one_of(keys, {},
                            "spec.nicSelector selects nothing: it needs vendor, deviceID, "
                            "rootDevices, pfNames or netFilter");
    fields.finish(kFieldsOfSpec);
  }

  Field<std::string> read_id(doc::Fields& fields, std::string_view key, std::string_view example) {
    Field<std::string> id = fields.text(key);
    if (id.present && !id.value.empty() && !is_hex4(id.value))
      fields.error(5, id.span,
                   fmt::format("{} must be four hexadecimal digits such as \"{}\", found \"{}\"", fields.path_of(key),
                               example, id.value));
    id.value = lower(id.value);
    return id;
  }

  void read_root_devices(doc::Fields& fields) {
    const doc::Value::Array* list = fields.list("rootDevices");
    if (list == nullptr) return;
    for (const doc::Value& item : *list) {
      const auto text = fields.text_of(item, "spec.nicSelector.rootDevices");
      if (!item.is_string()) continue;
      if (text.value.find('#') != std::string::npos) {
        fields.error(5, item.span, "spec.nicSelector.rootDevices takes no VF range")
            .with_fix("select the VFs with pfNames: [\"<interface>#<first>-<last>\"]");
        continue;
      }
      auto address = PciAddress::parse(text.value);
      if (!address)
        fields.error(5, item.span, fmt::format("spec.nicSelector.rootDevices: {}", address.error().message));
      else
        policy_.nic_selector.root_devices.push_back({*address, true, item.span});
      if (address && std::ranges::count(text.value, ':') == 1)
        fields
            .warning(5, item.span,
                     fmt::format("the operator compares addresses as texts; \"{}\" matches nothing there", text.value))
            .with_fix(fmt::format("write \"{}\"", *address));
    }
  }

  void read_pf_names(doc::Fields& fields) {
    const doc::Value::Array* list = fields.list("pfNames");
    if (list == nullptr) return;
    for (const doc::Value& item : *list) {
      const auto text = fields.text_of(item, "spec.nicSelector.pfNames");
      if (!item.is_string()) continue;
      auto name = parse_pf_name(text.value);
      if (!name) {
        fields.error(5, item.span, fmt::format("spec.nicSelector.pfNames: {}", name.error().message))
            .with_fix(name.error().hint);
        continue;
      }
      if (name->vfs && policy_.num_vfs.present && name->vfs->last >= *policy_.num_vfs && *policy_.num_vfs > 0)
        fields
            .error(5, item.span,
                   fmt::format("spec.nicSelector.pfNames: \"{}\" ends at VF {}, but numVfs: {} makes VFs 0 to {}",
                               text.value, name->vfs->last, *policy_.num_vfs, *policy_.num_vfs - 1))
            .note(policy_.num_vfs.span, "numVfs is here");
      policy_.nic_selector.pf_names.push_back({*std::move(name), true, item.span});
    }
  }

  // Fields that exclude or require each other.
  void check_together(doc::Fields& spec) {
    const bool vfio = *policy_.device_type == DeviceType::kVfioPci;
    const bool switchdev = *policy_.eswitch_mode == EswitchMode::kSwitchdev;
    if (vfio && *policy_.is_rdma)
      spec.error(5, policy_.is_rdma.span, "isRdma: true needs the kernel's driver, not deviceType: vfio-pci")
          .note(policy_.device_type.span, "deviceType is here")
          .with_fix("deviceType: netdevice");
    if (policy_.vdpa_type.present && (vfio || !switchdev))
      spec.error(5, policy_.vdpa_type.span, "vdpaType needs deviceType: netdevice and eSwitchMode: switchdev");
    if (!policy_.bridge.present) return;
    if (!switchdev) spec.error(5, policy_.bridge.span, "bridge needs eSwitchMode: switchdev");
    if (*policy_.link_type == WantedLinkType::kInfiniband)
      spec.error(5, policy_.bridge.span, "bridge needs linkType: eth");
    if (*policy_.externally_managed)
      spec.error(5, policy_.bridge.span, "bridge cannot be combined with externallyManaged: true");
  }

  const doc::Value& object_;
  doc::Diagnostics& out_;
  SriovNetworkNodePolicy policy_;
};

Result<int> parse_vf(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || text[0] == '-' || error != std::errc{} || end != text.data() + text.size() || value >= kMaxVfs)
    return fail(Code::kInvalid, "\"{}\" is not the number of a VF", text);
  return value;
}

}  // namespace

WantedLinkType parse_link_type(std::string_view text) {
  const std::string small = lower(std::string(text));
  if (small == "ib") return WantedLinkType::kInfiniband;
  return small == "eth" ? WantedLinkType::kEthernet : WantedLinkType::kAny;
}

Result<PfName> parse_pf_name(std::string_view text) {
  const size_t hash = text.find('#');
  PfName name{.name = std::string(text.substr(0, hash))};
  const bool bad = std::ranges::any_of(name.name, [](unsigned char c) { return c <= ' ' || c == '/'; });
  if (name.name.empty() || bad)
    return fail(Code::kInvalid, "\"{}\" does not begin with the name of an interface", text);
  if (hash == std::string_view::npos) return name;
  const std::string_view range = text.substr(hash + 1);
  const size_t dash = range.find('-');
  const std::string_view first = range.substr(0, dash);
  const std::string_view last = dash == std::string_view::npos ? first : range.substr(dash + 1);
  auto from = parse_vf(first);
  auto to = parse_vf(last);
  if (!from || !to || dash == std::string_view::npos) {
    Error error{.code = Code::kInvalid,
                .message = fmt::format("\"{}\": a VF range looks like {}#0-3", text, name.name)};
    if (from && to) error.hint = fmt::format("write \"{}#{}-{}\"", name.name, *from, *from);
    if (range.find(',') != std::string_view::npos) error.hint = "write one entry for each range";
    return fail(std::move(error));
  }
  if (*from > *to) return fail(Code::kInvalid, "\"{}\": the VF range ends before it begins", text);
  name.vfs = PfName::Range{*from, *to};
  return name;
}

std::optional<SriovNetworkNodePolicy> parse_policy(const doc::Value& object, doc::Diagnostics& diagnostics) {
  doc::Diagnostics found;
  SriovNetworkNodePolicy policy = PolicyReader(object, found).read();
  const bool right = !found.has_errors();
  diagnostics.append(std::move(found));
  if (!right) return std::nullopt;
  return policy;
}

bool operator==(const SriovNetworkNodePolicy& a, const SriovNetworkNodePolicy& b) {
  return a.meta == b.meta && a.resource_name == b.resource_name && a.node_selector == b.node_selector &&
         a.priority == b.priority && a.num_vfs == b.num_vfs && a.mtu == b.mtu && a.nic_selector == b.nic_selector &&
         a.device_type == b.device_type && a.is_rdma == b.is_rdma && a.link_type == b.link_type &&
         a.eswitch_mode == b.eswitch_mode && a.need_vhost_net == b.need_vhost_net && a.vdpa_type == b.vdpa_type &&
         a.exclude_topology == b.exclude_topology && a.externally_managed == b.externally_managed &&
         a.bridge == b.bridge;
}

}  // namespace railbed::api
