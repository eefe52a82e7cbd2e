// SPDX-License-Identifier: Apache-2.0
// The common part of preparing an interface, whether it is moved into the pod or already exists there. Only for
// prepare.cc and prepare_existing.cc.
//
// Threading: one thread.
// Failure: as prepare()'s.
#pragma once

#include <string>
#include <vector>

#include "attach/prepare.h"

namespace railbed::attach {

class Preparation {
 protected:
  Preparation(Host& host, state::Store& store, PodView& pod, Prepared& prepared)
      : host_(host), store_(store), pod_(pod), spec_(prepared.spec), before_(prepared.before), out_(prepared) {}

  // Records the interface's present state.
  void remember(const os::Link& link);
  // The routing table of each address that has rules of its own.
  Result<std::vector<int>> tables();
  // Rules and VRF, known before anything is changed, so that they can be undone.
  Result<void> pod_routing();
  // Whether another pod of the node has the MAC or GUID that this one's author chose. What an administrator wrote into
  // a definition is not compared. Conflict.
  Result<void> identity_is_free();
  // Records the character devices of existing RDMA devices; in exclusive mode plans their move.
  Result<void> hardware_rdma(const std::vector<std::string>& names);

  Host& host_;
  state::Store& store_;
  PodView& pod_;
  InterfaceSpec& spec_;
  Before& before_;
  Prepared& out_;
};

// Prepares tuning, sbr, vrf and rdma in a chain: they change an interface that is in the pod.
Result<void> prepare_existing(Host& host, state::Store& store, PodView& pod, Prepared& prepared);

}  // namespace railbed::attach
