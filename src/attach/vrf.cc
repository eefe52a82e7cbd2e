// SPDX-License-Identifier: Apache-2.0
// Type vrf, chained: the interface becomes a port of a VRF of the pod, which is made where it is not there.
//
// Keys: vrfname, table (absent: the lowest that no VRF of the pod has).
#include <algorithm>

#include "attach/json_fields.h"
#include "attach/types.h"

namespace railbed::attach {

Result<void> read_vrf(const Keys& keys, const InterfaceRequest&, InterfaceSpec& spec) {
  const std::optional<std::string> name = TRY(keys.text("vrfname"));
  if (*name == spec.interface)
    return fail(keys.invalid(fmt::format("vrfname {} is the name of the interface itself", *name)));
  spec.vrf = VrfSpec{*name, TRY(keys.number("table")).value_or(0)};
  return {};
}

Result<DetachReport> detach_original_vrf(Original& original) {
  const os::Link* link = original.in_pod();
  std::string name = text_in(original.interface().config, "vrfname");
  if (!original.has_pod() || name.empty()) return DetachReport{};
  auto vrf = std::ranges::find_if(original.inside(),
                                  [&](const os::Link& one) { return one.name.value == name && one.kind == "vrf"; });
  if (vrf == original.inside().end()) return DetachReport{};
  if (link != nullptr && link->master && link->master != vrf->index) link = nullptr;
  Before before = original.change_of(link);
  before.vrf = name;
  if (link != nullptr)
    for (const os::LinkAddress& one : TRY(original.links().addresses()))
      if (one.link == link->index && one.prefix.address.family == IpFamily::kV6 &&
          !one.prefix.address.to_gid().is_link_local())
        before.addresses.push_back(one.prefix);
  return original.restore_all(before);
}

}  // namespace railbed::attach
