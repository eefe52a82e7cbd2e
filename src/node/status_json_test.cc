// SPDX-License-Identifier: Apache-2.0
// The JSON of `railbed status` is a contract: all of it, once with every field filled and once with nothing to say.
#include <gtest/gtest.h>

#include "doc/json.h"
#include "node/status.h"

namespace railbed::node {
namespace {

TEST(StatusJson, HasEveryField) {
  Status status{.node = "gpu-a"};
  status.policies.push_back({.policy = "net/rail0",
                             .state = "failed",
                             .pfs = {"0000:01:00.0", "0000:02:00.0"},
                             .shadowed_by = {"net/other"},
                             .detail = "partly",
                             .failed_step = "0000:01:00.0/vfs",
                             .error = "write: EBUSY"});
  status.pods.push_back({.name = "p",
                         .ns = "llm",
                         .container = "abc",
                         .netns = "/run/netns/p",
                         .interfaces = {{.name = "net1",
                                         .network = "llm/a",
                                         .type = "sriov",
                                         .vf = "0000:01:10.2",
                                         .pf = "0000:01:00.0",
                                         .rail = "ens1f0",
                                         .mac = "02:00:00:00:00:01",
                                         .mtu = 9000,
                                         .rdma = "mlx5_7",
                                         .soft = true,
                                         .addresses = {"10.1.0.6/24", "fd00::6/64"},
                                         .state = "attached"}},
                         .error = "no VF is free"});
  status.pfs.push_back(
      {.pci = "0000:01:00.0",
       .name = "ens1f0",
       .num_vfs = 1,
       .total_vfs = 8,
       .ours = true,
       .vfs = {{.index = 0, .pci = "0000:01:10.0", .driver = "mlx5_core", .name = "ens1f0v0", .owner = "llm/p"}}});
  status.leases.push_back(
      {.pool = "llm/a", .address = IpAddress::parse("10.1.0.6").value(), .pod = "llm/p", .interface = "net1"});
  status.held_back = {"0000:02:00.0 keeps its VFs"};
  status.interrupted = {"0000:02:00.0/mtu"};
  EXPECT_EQ(doc::to_json(to_value(status), 1), R"({
 "apiVersion": "railbed.dev/v1",
 "kind": "Status",
 "node": "gpu-a",
 "policies": [
  {
   "policy": "net/rail0",
   "state": "failed",
   "pfs": [
    "0000:01:00.0",
    "0000:02:00.0"
   ],
   "shadowedBy": [
    "net/other"
   ],
   "detail": "partly",
   "failedStep": "0000:01:00.0/vfs",
   "error": "write: EBUSY"
  }
 ],
 "pods": [
  {
   "name": "p",
   "namespace": "llm",
   "container": "abc",
   "netns": "/run/netns/p",
   "interfaces": [
    {
     "name": "net1",
     "network": "llm/a",
     "type": "sriov",
     "vf": "0000:01:10.2",
     "pf": "0000:01:00.0",
     "rail": "ens1f0",
     "mac": "02:00:00:00:00:01",
     "mtu": 9000,
     "rdma": "mlx5_7",
     "soft": true,
     "addresses": [
      "10.1.0.6/24",
      "fd00::6/64"
     ],
     "state": "attached"
    }
   ],
   "error": "no VF is free"
  }
 ],
 "pfs": [
  {
   "pci": "0000:01:00.0",
   "name": "ens1f0",
   "numVfs": 1,
   "totalVfs": 8,
   "ours": true,
   "vfs": [
    {
     "index": 0,
     "pci": "0000:01:10.0",
     "driver": "mlx5_core",
     "name": "ens1f0v0",
     "owner": "llm/p"
    }
   ]
  }
 ],
 "leases": [
  {
   "pool": "llm/a",
   "address": "10.1.0.6",
   "pod": "llm/p",
   "interface": "net1"
  }
 ],
 "heldBack": [
  "0000:02:00.0 keeps its VFs"
 ],
 "begunSteps": [
  "0000:02:00.0/mtu"
 ]
})");
}

// What does not apply is left out: no container without a runtime, no error without a failure, no name for a VF
// elsewhere.
TEST(StatusJson, LeavesOutWhatDoesNotApply) {
  Status status{.node = "n"};
  status.policies.push_back({.policy = "net/a", .state = "applied"});
  status.pods.push_back({.name = "p", .ns = "d", .netns = "/run/netns/p"});
  status.pfs.push_back({.pci = "0000:01:00.0", .name = "eth0", .vfs = {{.index = 3, .pci = "0000:01:00.4"}}});
  EXPECT_EQ(doc::to_json(to_value(status)),
            R"({"apiVersion":"railbed.dev/v1","kind":"Status","node":"n",)"
            R"("policies":[{"policy":"net/a","state":"applied","pfs":[],"shadowedBy":[],"detail":""}],)"
            R"("pods":[{"name":"p","namespace":"d","netns":"/run/netns/p","interfaces":[]}],)"
            R"("pfs":[{"pci":"0000:01:00.0","name":"eth0","numVfs":0,"totalVfs":0,"ours":false,)"
            R"("vfs":[{"index":3,"pci":"0000:01:00.4","driver":"","owner":""}]}],)"
            R"("leases":[],"heldBack":[],"begunSteps":[]})");
}

}  // namespace
}  // namespace railbed::node
