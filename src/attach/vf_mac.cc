// SPDX-License-Identifier: Apache-2.0
#include "attach/vf_mac.h"

namespace railbed::attach {

Result<void> set_mac(Host& host, os::LinkPort& port, IfIndex link, const MacAddress& mac,
                     const std::optional<PciAddress>& pf, const std::optional<VfIndex>& vf,
                     const std::function<Result<void>(bool trusted)>& before_trust) {
  Result<void> set = port.change(link, {.mac = mac});
  if (set.has_value() || !pf.has_value() || !vf.has_value() || set.error().code == Code::kCanceled) return set;
  os::Link pf_link = TRY(host.pf_link(*pf));
  os::LinkPort* host_port = TRY(host.links());
  os::Link fresh = TRY(host_port->find(pf_link.index, os::WithVfs::kYes));
  std::optional<bool> trusted;
  for (const os::VfInfo& info : fresh.vfs)
    if (info.index == *vf) trusted = info.trust;
  if (trusted != false) return set;

  TRY(before_trust(false));
  TRY(host_port->change_vf(pf_link.index, *vf, {.trust = true}));
  Result<void> again = port.change(link, {.mac = mac});
  TRY(host_port->change_vf(pf_link.index, *vf, {.trust = false}));
  return again;
}

}  // namespace railbed::attach
