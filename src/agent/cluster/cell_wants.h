// SPDX-License-Identifier: Apache-2.0
// How many addresses of each whereabouts range this node needs before pods request them.
//
// A network for whose resource the node has VFs needs as many as those, since each VF may become an interface of a pod.
// Several networks of one resource and one range share them. Any other network needs as many as the pods that are bound
// to this node have interfaces of it; the agent sees a pod at the same time as its kubelet, and long before its
// runtime. Networks that configurations of the runtime name are not visible here: their addresses are leased when an
// ADD requests them. An annotation is arbitrary user input: a pod that names more networks than an ADD accepts is not
// counted, and interfaces beyond kMostInterfacesAhead get their addresses when their ADD requests them.
// Threading: pure.
// Failure: none; what cannot be read fails the ADD, which reports the reason.
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
