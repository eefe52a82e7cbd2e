// SPDX-License-Identifier: Apache-2.0
#include "api/policy.h"

#include <algorithm>

#include "api/compare.h"
#include "api/metadata.h"
#include "api/names.h"
#include "base/number.h"
#include "base/text.h"
#include "doc/members.h"

namespace railbed::api {

namespace {

using doc::Value;

constexpr std::string_view kPolicy = kind_named("SriovNetworkNodePolicy").name;
constexpr int kMaxVfs = 65535;  // TotalVFs is 16 bits wide (PCIe 9.3.3.5)

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
  PolicyReader(const Value& object, doc::Diagnostics& out) : object_(object), out_(out) {}

  SriovNetworkNodePolicy read() {
    policy_.meta = read_metadata(object_, out_);
    if (const Value* spec = doc::object_in(object_, "spec")) read_spec(*spec);
    if (policy_.meta.name.value == "default")
      out_.warning("RB-API-009", policy_.meta.name.span, "the operator ignores a policy that is named \"default\"")
          .of(doc::Layer::kObject)
          .for_one_machine();
    return std::move(policy_);
  }

 private:
  void read_spec(const Value& spec) {
    policy_.resource_name = doc::text_field(spec, "resourceName");
    check_resource_name(policy_.resource_name, "spec.resourceName", out_);
    policy_.node_selector = doc::text_map_at(spec, "nodeSelector");
    const Value* node_selector = spec.find("nodeSelector");
    policy_.node_selector_span = node_selector ? node_selector->span : spec.span;
    policy_.priority = doc::number_field(spec, "priority", 99);
    policy_.num_vfs = doc::number_field(spec, "numVfs");
    policy_.mtu = doc::number_field(spec, "mtu");
    policy_.is_rdma = doc::flag_field(spec, "isRdma");
    policy_.need_vhost_net = doc::flag_field(spec, "needVhostNet");
    policy_.exclude_topology = doc::flag_field(spec, "excludeTopology");
    policy_.externally_managed = doc::flag_field(spec, "externallyManaged");
    policy_.vdpa_type = doc::text_field(spec, "vdpaType");
    read_modes(spec);
    // Go's serialisation writes a bridge that was never set as {}.
    if (const Value* bridge = doc::object_in(spec, "bridge"); bridge != nullptr && bridge->find("ovs") != nullptr)
      policy_.bridge = {.value = *bridge, .present = true, .span = bridge->span};
    if (const Value* selector = doc::object_in(spec, "nicSelector")) read_nic_selector(*selector);
    check_together();
  }

  void read_modes(const Value& spec) {
    const auto type = doc::text_field(spec, "deviceType");
    policy_.device_type = {.value = type.value == kVfioPciDriver ? DeviceType::kVfioPci : DeviceType::kNetdevice,
                           .present = type.present,
                           .span = type.span};
    const auto link = doc::text_field(spec, "linkType");
    const WantedLinkType wanted = parse_link_type(link.value);
    policy_.link_type = {.value = wanted, .present = link.present, .span = link.span};
    const auto mode = doc::text_field(spec, "eSwitchMode");
    policy_.eswitch_mode = {.value = parse_eswitch_mode(mode.value).value_or(EswitchMode::kLegacy),
                            .present = mode.present,
                            .span = mode.span};
    // As in the operator's webhook: an InfiniBand VF with a kernel driver is always for RDMA.
    if (!policy_.is_rdma.present && wanted == WantedLinkType::kInfiniband &&
        *policy_.device_type == DeviceType::kNetdevice)
      policy_.is_rdma.value = true;
  }

  void read_nic_selector(const Value& object) {
    NicSelector& selector = policy_.nic_selector;
    selector.span = object.span;
    selector.vendor = read_id(object, "vendor", "15b3");
    selector.device_id = read_id(object, "deviceID", "101d");
    read_root_devices(object);
    read_pf_names(object);
    selector.net_filter = doc::text_field(object, "netFilter");
    if (selector.net_filter.present && !is_net_filter(*selector.net_filter))
      wrong(selector.net_filter.span,
            fmt::format("spec.nicSelector.netFilter must look like openstack/NetworkID:<uuid> or aws/NetworkID:<id>, "
                        "found \"{}\"",
                        *selector.net_filter));
    const bool others = selector.vendor.present || selector.device_id.present || !selector.root_devices.empty() ||
                        !selector.pf_names.empty();
    if (selector.net_filter.present && others)
      wrong(selector.net_filter.span, "spec.nicSelector.netFilter cannot be combined with other selectors");
  }

  Field<std::string> read_id(const Value& selector, std::string_view key, std::string_view example) {
    Field<std::string> id = doc::text_field(selector, key);
    if (id.present && !id.value.empty() && !is_hex4(id.value))
      wrong(id.span, fmt::format("spec.nicSelector.{} must be four hexadecimal digits such as \"{}\", found \"{}\"",
                                 key, example, id.value));
    id.value = lower(id.value);
    return id;
  }

  void read_root_devices(const Value& selector) {
    const Value::Array* list = doc::list_in(selector, "rootDevices");
    if (list == nullptr) return;
    for (const Value& item : *list) {
      const std::string* text = item.as_string();
      if (text == nullptr) continue;
      if (text->find('#') != std::string::npos) {
        wrong(item.span, "spec.nicSelector.rootDevices takes no VF range")
            .with_fix("select the VFs with pfNames: [\"<interface>#<first>-<last>\"]");
        continue;
      }
      auto address = PciAddress::parse(*text);
      if (!address)
        wrong(item.span, fmt::format("spec.nicSelector.rootDevices: {}", address.error().message));
      else
        policy_.nic_selector.root_devices.push_back({*address, true, item.span});
      if (address && std::ranges::count(*text, ':') == 1)
        out_.warning("RB-API-005", item.span,
                     fmt::format("the operator compares addresses as texts; \"{}\" matches nothing there", *text))
            .of(doc::Layer::kObject)
            .with_fix(fmt::format("write \"{}\"", *address))
            .that_fails_where_applied();
    }
  }

  void read_pf_names(const Value& selector) {
    const Value::Array* list = doc::list_in(selector, "pfNames");
    if (list == nullptr) return;
    for (const Value& item : *list) {
      const std::string* text = item.as_string();
      if (text == nullptr) continue;
      auto name = parse_pf_name(*text);
      if (!name) {
        wrong(item.span, fmt::format("spec.nicSelector.pfNames: {}", name.error().message)).with_fix(name.error().hint);
        continue;
      }
      if (name->vfs && policy_.num_vfs.present && name->vfs->last >= *policy_.num_vfs && *policy_.num_vfs > 0)
        wrong(item.span, fmt::format("spec.nicSelector.pfNames: \"{}\" ends at VF {}, but numVfs: {} makes VFs 0 to {}",
                                     *text, name->vfs->last, *policy_.num_vfs, *policy_.num_vfs - 1))
            .note(policy_.num_vfs.span, "numVfs is here");
      policy_.nic_selector.pf_names.push_back({*std::move(name), true, item.span});
    }
  }

  // Fields that exclude or require each other.
  void check_together() {
    const bool vfio = *policy_.device_type == DeviceType::kVfioPci;
    const bool switchdev = *policy_.eswitch_mode == EswitchMode::kSwitchdev;
    if (vfio && *policy_.is_rdma)
      wrong(policy_.is_rdma.span, "isRdma: true needs the kernel's driver, not deviceType: vfio-pci")
          .note(policy_.device_type.span, "deviceType is here")
          .with_fix("deviceType: netdevice");
    if (policy_.vdpa_type.present && (vfio || !switchdev))
      wrong(policy_.vdpa_type.span, "vdpaType needs deviceType: netdevice and eSwitchMode: switchdev");
    if (!policy_.bridge.present) return;
    if (!switchdev) wrong(policy_.bridge.span, "bridge needs eSwitchMode: switchdev");
    if (*policy_.link_type == WantedLinkType::kInfiniband) wrong(policy_.bridge.span, "bridge needs linkType: eth");
    if (*policy_.externally_managed)
      wrong(policy_.bridge.span, "bridge cannot be combined with externallyManaged: true");
  }

  doc::Diagnostic& wrong(const doc::Span& span, std::string message) {
    return wrong_value(span, std::move(message), out_);
  }

  const Value& object_;
  doc::Diagnostics& out_;
  SriovNetworkNodePolicy policy_;
};

Result<int> parse_vf(std::string_view text) {
  const std::optional<int> value = whole_number<int>(text);
  if (text.starts_with('-') || value.value_or(kMaxVfs) >= kMaxVfs)
    return fail(Code::kInvalid, "\"{}\" is not the number of a VF", text);
  return *value;
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

SriovNetworkNodePolicy read_policy(const Value& object, doc::Diagnostics& out) {
  return PolicyReader(object, out).read();
}

std::optional<SriovNetworkNodePolicy> parse_policy(const Value& object, doc::Diagnostics& diagnostics) {
  return parsed<read_policy>(kPolicy, object, StatusPart::kSkipped, diagnostics);
}

}  // namespace railbed::api
