// SPDX-License-Identifier: Apache-2.0
// Type tuning, chained: MAC, MTU, modes and sysctls of the interface that another plugin made.
//
// Keys: mac, mtu, promisc, allmulti, txQLen, sysctl; the same under a pod's cni-args win. Sysctls of the interface
// (…IFNAME…) end with it; others stay in the pod's namespace. A false `promisc` is none, as the original has it.
#include "api/network_demands.h"
#include "attach/json_fields.h"
#include "attach/types.h"

namespace railbed::attach {
namespace {

Result<void> read_sysctls(const Keys& keys, InterfaceSpec& spec) {
  const doc::Value* sysctls = TRY(keys.object("sysctl"));
  if (sysctls == nullptr) return {};
  for (const doc::Value::Member& member : *sysctls->as_object()) {
    const std::string path = api::sysctl_path(member.key, spec.interface);
    const std::string* value = member.value.as_string();
    if (value == nullptr) return fail(keys.invalid(fmt::format("sysctl {} must be a string", member.key)));
    if (const std::string problem = api::sysctl_problem(path); !problem.empty())
      return fail(keys.invalid(fmt::format("sysctl {} {}", member.key, problem)));
    std::erase_if(spec.sysctls, [&](const auto& other) { return other.first == path; });
    spec.sysctls.emplace_back(path, *value);
    spec.sysctl_names.push_back(member.key);
  }
  return {};
}

Result<void> read_settings(const Keys& keys, InterfaceSpec& spec) {
  if (auto mac = TRY(keys.mac("mac"))) spec.mac = mac;
  if (auto mtu = TRY(keys.number("mtu")); mtu.value_or(0) != 0) spec.mtu = mtu;
  if (auto on = TRY(keys.boolean("promisc")); on.value_or(false)) spec.promiscuous = true;
  if (auto on = TRY(keys.boolean("allmulti"))) spec.all_multicast = on;
  if (auto length = TRY(keys.number("txQLen"))) spec.tx_queue = length;
  return read_sysctls(keys, spec);
}

}  // namespace

Result<void> read_tuning(const Keys& keys, const InterfaceRequest& request, InterfaceSpec& spec) {
  TRY(read_settings(keys, spec));
  if (!request.selection.cni_args.present || !request.selection.cni_args.value.is_object()) return {};
  api::Plugin arguments{"tuning (cni-args)", request.selection.cni_args.value};
  return read_settings(Keys(*schema::find_cni_type("tuning"), arguments, request.network), spec);
}

Result<DetachReport> detach_original_tuning(Original& original) {
  const os::Link* link = original.in_pod();
  std::string directory = text_in(original.interface().config, "dataDir");
  if (directory.empty()) directory = "/run/cni/tuning";
  if (!directory.starts_with('/') || directory.find("..") != std::string::npos)
    return fail(Code::kInvalid, "dataDir is \"{}\", but must be an absolute path", directory);
  auto file = TRY(original.left_file(
      directory, original.interface().container_id + "_" + original.interface().name.value + ".json"));
  if (!file.has_value() || link == nullptr) return DetachReport{};
  Before before = original.change_of(link);
  before.mtu = number_in(*file, "mtu");
  before.promiscuous = optional_flag(*file, "promisc");
  before.all_multicast = optional_flag(*file, "allmulti");
  before.tx_queue = optional_number(*file, "txQLen");
  if (auto mac = MacAddress::parse(text_in(*file, "mac")); mac.has_value() && link->mac() != *mac) {
    before.new_mac = link->mac();
    before.hw_address.assign(mac->bytes.begin(), mac->bytes.end());
  }
  return original.restore_all(before);
}

}  // namespace railbed::attach
