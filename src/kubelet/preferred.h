// SPDX-License-Identifier: Apache-2.0
// Which of the free VFs a container should preferably get, if the kubelet leaves the choice to the plugin.
//
// Why: a pod of a large model needs its VFs on as many PFs (rails) as possible, since two VFs of one PF share its
// bandwidth, and on as few NUMA nodes as that allows. It is only a preference: the Topology Manager decides what must
// be on one node, and queries the rest.
// Threading: pure.
// Failure: none; preferences are met as far as possible.
#pragma once

#include "kubelet/devices.h"

namespace railbed::kubelet {

struct PreferenceRequest {
  std::vector<std::string> available;     // ids
  std::vector<std::string> must_include;  // ids, which are in the answer whatever else is
  size_t size = 0;
};

// `size` ids, each once, or all that there are. The same request has the same answer.
std::vector<std::string> preferred(const Resource& resource, const PreferenceRequest& request);

}  // namespace railbed::kubelet
