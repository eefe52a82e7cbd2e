// SPDX-License-Identifier: Apache-2.0
// Converts a spec to the planned changes, only by reading.
//
// Why: everything that can be refused is refused here, before anything is written or changed.
// Threading: one thread.
// Failure: NotFound, Conflict, Invalid, Unsupported, with interface and network.
#pragma once

#include "attach/host.h"
#include "attach/pod_view.h"

namespace railbed::attach {

struct Prepared {
  InterfaceSpec spec;  // with the PF found out
  Before before;
  state::Attachment record;  // kBegun; its spec as it was asked for, which is what is compared
  IfIndex host_link;         // what moves, or the parent of what is made
  IfIndex pf_link;
  os::VfChange vf_change;  // of spec.vf_settings, those that differ
  InterfaceResult result;  // as far as it is known

  std::string title() const;  // for errors: "interface net1 (network default/rail-1)"
};

// Where the interface will be.
struct Place {
  std::string pod;
  std::string netns;  // path
  PodView& view;
  uint32_t group = 0;  // for made interfaces
  os::NetnsIdentity identity;
  std::optional<os::Nsid> nsid;  // nullopt: this kernel gives none
};

// `earlier` are those that the same request has prepared so far.
Result<Prepared> prepare(Host& host, state::Store& store, const InterfaceSpec& spec, const Place& place,
                         const std::vector<Prepared>& earlier);

}  // namespace railbed::attach
