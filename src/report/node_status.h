// SPDX-License-Identifier: Apache-2.0
// The part of `railbed status -o json` about one node that the report's drawing needs.
//
// Why an own value: the status has much more, and in a cluster the same is built from the API server's objects
// (cluster.h).
// Threading: plain value; reading is pure.
// Failure: Code::kInvalid with the field's path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace railbed::report {

struct NodeStatus {
  struct Interface {
    std::string name, network, vf, pf, rdma, rail;
    bool soft = false;
    std::vector<std::string> addresses;
  };
  struct Pod {
    std::string name, space;  // space: the Kubernetes namespace
    std::vector<Interface> interfaces;
  };
  struct Vf {
    int index = 0;
    std::string pci, owner;  // owner: "" when free
  };
  struct Pf {
    std::string pci, name, rail;
    std::vector<Vf> vfs;
  };
  std::string name;
  std::vector<Pod> pods;
  std::vector<Pf> pfs;
};
Result<NodeStatus> node_from_status_json(std::string_view text);

}  // namespace railbed::report
