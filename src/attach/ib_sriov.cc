// SPDX-License-Identifier: Apache-2.0
// Type ib-sriov: an InfiniBand VF.
//
// Keys: deviceID or pciBusID (where no pool gave a VF), link_state, guid; a pod's infiniband-guid or
// cni-args.guid wins. `pkey` is for whoever programs the subnet manager (api warns about it). A GUID that
// differs from the VF's needs the VF's driver to be bound anew; GUIDs that were set when the VF was made do
// not.
#include "attach/types.h"

namespace railbed::attach {
namespace {

Result<std::optional<Guid>> wanted_guid(const Keys& keys, const InterfaceWanted& wanted) {
  if (wanted.selection.infiniband_guid.present) return std::optional(wanted.selection.infiniband_guid.value);
  std::optional<std::string> text;
  if (wanted.selection.cni_args.present)
    if (const doc::Value* guid = wanted.selection.cni_args->find("guid");
        guid != nullptr && guid->is_string())
      text = *guid->as_string();
  if (!text.has_value()) text = TRY(keys.text("guid"));
  if (!text.has_value()) return std::optional<Guid>{};
  return std::optional(TRY(Guid::parse(*text).context("{}", keys.invalid("guid").message)));
}

}  // namespace

Result<void> read_ib_sriov(const Keys& keys, const InterfaceWanted& wanted, Wish& wish) {
  TRY(read_vf(keys, wanted, wish));
  if (wanted.selection.mac.present)
    return fail(
        keys.invalid("an InfiniBand interface has no MAC address to set; ask for an infiniband-guid"));
  wish.vf_settings.link_state = TRY(read_link_state(keys));
  std::optional<Guid> guid = TRY(wanted_guid(keys, wanted));
  if (guid.has_value() && (guid->value == 0 || guid->value == UINT64_MAX))
    return fail(keys.invalid(fmt::format("{} is no GUID for a port", guid->to_pairs())));
  wish.vf_settings.node_guid = guid;
  wish.vf_settings.port_guid = guid;
  return {};
}

}  // namespace railbed::attach
