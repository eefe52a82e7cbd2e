// SPDX-License-Identifier: Apache-2.0
// Type ib-sriov: an InfiniBand VF.
//
// Keys: deviceID or pciBusID (where no pool gave a VF), link_state, guid, rdmaIsolation, ibKubernetesEnabled;
// a pod's infiniband-guid or cni-args.guid wins. `pkey` is for the program that configures the subnet manager (api
// warns about it). A GUID that differs from the VF's needs the VF's driver to be re-bound; GUIDs that were set when the
// VF was made do not.
#include "attach/json_fields.h"
#include "attach/types.h"

namespace railbed::attach {
namespace {

Result<Guid> guid_of(const Keys& keys, const std::string& text) {
  return Guid::parse(text).context("{}", keys.invalid("guid").message);
}

// That of the pod's annotation.
Result<std::optional<Guid>> chosen_guid(const Keys& keys, const InterfaceRequest& request) {
  if (request.selection.infiniband_guid.present) return std::optional(request.selection.infiniband_guid.value);
  const doc::Value* guid = request.selection.cni_args.present ? request.selection.cni_args->find("guid") : nullptr;
  if (guid == nullptr || !guid->is_string()) return std::optional<Guid>{};
  return std::optional(TRY(guid_of(keys, *guid->as_string())));
}

Result<std::optional<Guid>> defined_guid(const Keys& keys) {
  const std::optional<std::string> text = TRY(keys.text("guid"));
  if (!text.has_value()) return std::optional<Guid>{};
  return std::optional(TRY(guid_of(keys, *text)));
}

// With ib-kubernetes an attachment must wait until it has given the pod a GUID and configured the subnet manager.
Result<void> check_configured(const Keys& keys, const InterfaceRequest& request, const std::optional<Guid>& guid) {
  const doc::Value* said = nullptr;
  if (request.selection.cni_args.present) said = request.selection.cni_args.value.find(kIbKubernetesWord);
  bool configured = said != nullptr && said->is_string() && *said->as_string() == "configured";
  if (configured && guid.has_value()) return {};
  return fail(Error{.code = Code::kBusy,
                    .message = keys.invalid(configured ? "ibKubernetesEnabled, but the pod has no GUID"
                                                       : "ib-kubernetes has not configured this interface yet")
                                   .message,
                    .hint = "check that ib-kubernetes is running; it sets mellanox.infiniband.app and guid in the "
                            "pod's cni-args"});
}

}  // namespace

Result<void> read_ib_sriov(const Keys& keys, const InterfaceRequest& request, InterfaceSpec& spec) {
  TRY(read_vf(keys, request, spec));
  if (request.selection.mac.present)
    return fail(keys.invalid("an InfiniBand interface has no MAC address to set; request an infiniband-guid"));
  if (!spec.auxiliary.empty()) return fail(keys.invalid(fmt::format("{} is not a VF", spec.auxiliary)));
  spec.rdma_isolated = TRY(keys.boolean("rdmaIsolation")).value_or(false);
  if (spec.rdma_isolated) spec.rdma = spec.rdma_required = true;
  spec.vf_settings.link_state = TRY(read_link_state(keys));
  spec.chosen_guid = TRY(chosen_guid(keys, request));
  const std::optional<Guid> guid = spec.chosen_guid.has_value() ? spec.chosen_guid : TRY(defined_guid(keys));
  if (TRY(keys.boolean("ibKubernetesEnabled")).value_or(false)) TRY(check_configured(keys, request, guid));
  if (guid.has_value() && (guid->value == 0 || guid->value == UINT64_MAX))
    return fail(keys.invalid(fmt::format("{} is not a valid port GUID", guid->to_pairs())));
  spec.vf_settings.node_guid = guid;
  spec.vf_settings.port_guid = guid;
  return {};
}

namespace {

// No GUID is all ones; one that differs counts from the driver's next start.
Result<void> guid_before(Original& original, const doc::Value& file, Before& before) {
  auto guid = Guid::parse(text_in(file, "HostIFGUID"));
  if (!guid.has_value() || !before.pf.has_value()) return {};
  if (guid->is_zero()) guid->value = UINT64_MAX;
  os::VfInfo now = TRY(original.host().vf(*before.pf, *before.vf));
  if (!now.port_guid.has_value() || now.port_guid == *guid) return {};
  before.vf_settings.node_guid = *guid;
  before.vf_settings.port_guid = *guid;
  before.rebind = driver_of(original.kernel().files(), *before.device);
  return {};
}

}  // namespace

Result<DetachReport> detach_original_ib_sriov(Original& original) {
  std::optional<doc::Value> file;
  for (const char* directory : {"/var/lib/cni/ib-sriov", "/var/lib/cni/ib-sriov-cni", "/var/lib/cni/infiniband"})
    if (!file.has_value()) file = TRY(original.left_file(directory, original.file_name()));
  if (!file.has_value()) return DetachReport{};
  auto found = TRY(original.vf_before(*file));
  if (!found.has_value()) return DetachReport{};
  Before before = std::move(*found);
  take_name(text_in(*file, "HostIFNames"), before);
  if (!text_in(*file, "link_state").empty()) before.vf_settings.link_state = os::VfLinkState::kAuto;
  TRY(guid_before(original, *file, before));
  if (const doc::Value* state = file->find("RdmaNetState"); state != nullptr && state->is_object())
    take_rdma(*state, before);
  return original.restore_all(before, before.device->to_string());
}

}  // namespace railbed::attach
