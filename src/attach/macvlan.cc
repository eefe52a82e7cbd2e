// SPDX-License-Identifier: Apache-2.0
// Type macvlan: an interface with its own MAC on top of another.
//
// Keys: master (absent: the interface of the default route), linkInContainer (the master is the pod's), mode,
// mtu, mac, bcqueuelen.
#include "attach/types.h"

namespace railbed::attach {

Result<void> read_macvlan(const Keys& keys, const InterfaceWanted&, Wish& wish) {
  constexpr int kMostQueued = 1'000'000;
  wish.way = Way::kMake;
  wish.master_in_pod = TRY(keys.boolean("linkInContainer")).value_or(false);
  wish.host_link = TRY(keys.text("master")).value_or("");
  wish.mtu = TRY(keys.number("mtu", 0, 65535));
  wish.mac = TRY(keys.mac("mac"));
  wish.broadcast_queue = TRY(keys.number("bcqueuelen", 0, kMostQueued));
  if (wish.broadcast_queue == 0) wish.broadcast_queue.reset();
  size_t mode = TRY(keys.choice("mode", {"bridge", "private", "vepa", "passthru"})).value_or(0);
  wish.macvlan_mode = static_cast<os::MacvlanMode>(mode);
  return {};
}

}  // namespace railbed::attach
