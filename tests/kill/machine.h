// SPDX-License-Identifier: Apache-2.0
// The small machine that the kill loop works on, made of veth pairs in the namespaces that its process is in,
// and all of its state as text lines, so that two moments can be compared.
//
// Threading: one thread. Failure: throws std::runtime_error with what could not be made or read.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "os/ports/kernel.h"

namespace railbed::kill {

class Machine {
 public:
  Machine();

  // va0 to va3 are devices for pods; each has a peer, an MTU and a MAC, and some have an alias, addresses or routes of
  // the host. pa0 and pa1 are parents of macvlans. Pods are namespaces.
  void make();
  void make_pod(const std::string& name);
  void remove_pod(const std::string& name);
  // The pod's namespace has no name between these; a descriptor of this process holds it.
  void take_name(const std::string& name);
  void give_name(const std::string& name);
  std::string pod_path(const std::string& name) const;

  // Links, addresses, routes, sysctls of pods, files of IPAM and of the agent, leases, attachments: sorted lines
  // without values that differ each time (interface indexes, container ids, random MACs).
  std::vector<std::string> state();

 private:
  void add_namespace(const std::string& label, os::LinkPort& links, std::vector<std::string>& lines);
  static void add_rdma(const std::string& label, Result<std::unique_ptr<os::RdmaPort>> rdma,
                       std::vector<std::string>& lines);
  std::unique_ptr<os::Kernel> kernel_;
  std::vector<std::string> pods_;
  std::map<std::string, std::unique_ptr<os::Netns>> nameless_;
};

}  // namespace railbed::kill
