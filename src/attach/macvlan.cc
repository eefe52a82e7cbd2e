// SPDX-License-Identifier: Apache-2.0
// Type macvlan: an interface with its own MAC on top of another.
//
// Keys: master (absent: the interface of the default route), linkInContainer (the master is the pod's), mode,
// mtu, mac, bcqueuelen.
#include "attach/types.h"

namespace railbed::attach {
namespace {

constexpr Word<os::MacvlanMode> kMacvlanModes[] = {{"bridge", os::MacvlanMode::kBridge},
                                                   {"private", os::MacvlanMode::kPrivate},
                                                   {"vepa", os::MacvlanMode::kVepa},
                                                   {"passthru", os::MacvlanMode::kPassthru}};

}  // namespace

Result<void> read_macvlan(const Keys& keys, const InterfaceRequest&, InterfaceSpec& spec) {
  spec.way = Way::kMake;
  spec.master_in_pod = TRY(keys.boolean("linkInContainer")).value_or(false);
  spec.host_link = TRY(keys.text("master")).value_or("");
  spec.mtu = TRY(keys.number("mtu"));
  spec.mac = TRY(keys.mac("mac"));
  spec.broadcast_queue = TRY(keys.number("bcqueuelen"));
  if (spec.broadcast_queue == 0) spec.broadcast_queue.reset();
  spec.macvlan_mode = TRY(keys.choice("mode", kMacvlanModes)).value_or(os::MacvlanMode::kBridge);
  return {};
}

Result<DetachReport> detach_original_macvlan(Original& original) {
  return original.remove_made("macvlan");
}

}  // namespace railbed::attach
