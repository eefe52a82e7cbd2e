// SPDX-License-Identifier: Apache-2.0
// From a wish to what will be done, by looking only.
//
// Why: whatever can be refused is refused here, before anything is written or changed. Threading: one thread.
// Failure: NotFound, Conflict, Invalid, Unsupported, with interface and network.
#pragma once

#include "attach/host.h"

namespace railbed::attach {

struct Prepared {
  Wish wish;   // with the PF found out
  Wish asked;  // as it was asked for: what is written down and compared
  Before before;
  state::Attachment record;  // kBegun
  IfIndex host_link;         // what moves, or the parent of what is made
  IfIndex pf_link;
  os::VfChange vf_change;  // of wish.vf_settings, those that differ
  InterfaceResult result;  // as far as it is known
};

// `others` are all attachments in the store; `netns` is the pod's path. `group` is for made interfaces.
Result<Prepared> prepare(Host& host, const Wish& wish, const std::string& pod, const std::string& netns,
                         const std::vector<state::Attachment>& others, uint32_t group);

}  // namespace railbed::attach
