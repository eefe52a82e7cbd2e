// SPDX-License-Identifier: Apache-2.0
// How many addresses this node is to have of each whereabouts range, before pods need them.
//
// A network whose VFs the node has wants as many as those, since each VF may become an interface of a pod. Several
// networks of one resource and one range share them. Any other network wants as many as the pods that are bound to this
// node have interfaces of it; the agent hears of a pod when its kubelet does, and long before its runtime. Networks
// that configurations of the runtime name are not seen here: their addresses are leased when an ADD asks. An annotation
// is any user's text: a pod that names more networks than an ADD accepts counts for none, and interfaces beyond
// kMostInterfacesAhead get their addresses when their ADD asks. Threading: pure. Failure: none; what cannot be read
// fails the ADD, which says why.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ipam/cells.h"
#include "kube/cache.h"

namespace railbed::agent {

inline constexpr size_t kMostInterfacesAhead = 4096;  // of all pods of the node

// Of the caches as cluster_objects.h keeps them; `vfs` by resource.
std::vector<ipam::CellWant> cell_wants(const kube::Objects& pods, const kube::Objects& networks,
                                       const std::map<std::string, uint64_t>& vfs);

}  // namespace railbed::agent
