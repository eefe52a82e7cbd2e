// SPDX-License-Identifier: Apache-2.0
// The value of k8s.v1.cni.cncf.io/network-status, as Multus writes it.
//
// Why as Multus: programs read it (`gateway`, addresses without prefix), regardless of the written standard.
// Threading: pure.
// Failure: none.
#pragma once

#include <string>
#include <vector>

#include "cni/add_result.h"

namespace railbed::agent {

// One network of the pod, attached.
struct NetworkStatus {
  std::string name;  // "namespace/name"; the configuration's name for the default network
  bool is_default = false;
  cni::AddResult result;
  doc::Value device_info;  // an object, or null
};

// One element per interface in the pod.
doc::Value to_value(const NetworkStatus& network);
// Those of all networks, in one array.
doc::Value to_value(const std::vector<NetworkStatus>& networks);
// That array as the annotation's text.
std::string annotation_text(const doc::Value& status);

}  // namespace railbed::agent
