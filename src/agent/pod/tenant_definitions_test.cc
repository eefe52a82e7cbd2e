// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/tenant_definitions.h"

#include <gtest/gtest.h>

#include "agent/pod/meta_pod.h"
#include "agent/pod/sources.h"
#include "schema/cni_types.h"

namespace railbed::agent {
namespace {

std::string use(const std::string& plugins) {
  const auto config =
      parse_network_config(fmt::format(R"({{"cniVersion": "1.0.0", "name": "n", "plugins": [{}]}})", plugins));
  return use_of_node(cni::list_config_of(config.value()).value()).value_or("nothing");
}

TEST(TenantDefinitions, WorkWithAResourceAlone) {
  const char* plain[] = {
      R"({"type": "sriov", "vlan": 100, "ipam": {"type": "whereabouts", "range": "10.0.0.0/24"}}, {"type": "tuning", "sysctl": {"net.core.somaxconn": "500"}}, {"type": "rdma"})",
      R"({"type": "ib-sriov", "pkey": "0x8001", "capabilities": {"infinibandGUID": true}})",
      R"({"type": "host-device", "ipam": {"type": "dhcp"}})",
      R"({"type": "sriov", "ipam": {"type": "host-local", "subnet": "10.0.0.0/24"}}, {"type": "macvlan", "master": "net1", "linkInContainer": true})",
      R"({"type": "dummy", "ipam": {"type": "static", "addresses": [{"address": "10.0.0.1/24"}]}}, {"type": "sbr"}, {"type": "vrf", "vrfname": "red"})",
      R"({"type": "sriov", "ipam": {}})",
      R"({"type": "host-device", "hwaddr": null, "device": "", "ipam": {"type": "host-local", "subnet": "10.0.0.0/24", "dataDir": ""}})",
  };
  for (const char* one : plain) EXPECT_EQ(use(one), "nothing") << one;
}

TEST(TenantDefinitions, SayWhatTheyTakeOfTheNode) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"type": "bridge"})", "its plugin bridge is executed as root on the node"},
      {R"({"type": "sriov"}, {"type": "firewall"})", "its plugin firewall is executed as root on the node"},
      {R"({"type": "multus"})", "its plugin multus is executed as root on the node"},
      {R"({"type": "railbed"})", "its plugin railbed is executed as root on the node"},
      {R"({"type": "sh"})", "its plugin sh is executed as root on the node"},
      {R"({"type": "sriov", "ipam": {"type": "calico-ipam"}})",
       "its IPAM plugin calico-ipam is executed as root on the node"},
      {R"({"type": "macvlan", "master": "eth0"})", "its key master (macvlan) refers to the host: eth0"},
      {R"({"type": "macvlan", "master": "eth0", "linkInContainer": false})",
       "its key master (macvlan) refers to the host: eth0"},
      {R"({"type": "macvlan", "master": null})",
       "it has no master, so its macvlan uses the interface of the node's default route"},
      {R"({"type": "macvlan", "master": ""})",
       "it has no master, so its macvlan uses the interface of the node's default route"},
      {R"({"type": "macvlan", "linkInContainer": "true"})",
       "it has no master, so its macvlan uses the interface of the node's default route"},
      // The capability of any plugin of the list lets the pod choose the device of the first.
      {R"({"type": "host-device"}, {"type": "macvlan", "master": "net1", "linkInContainer": true, "capabilities": {"deviceID": true}})",
       "its capability deviceID (macvlan) lets pods name devices"},
      {R"({"type": "ipvlan"})", "it has no master, so its ipvlan uses the interface of the node's default route"},
      {R"({"type": "host-device", "device": "eth0"})", "its key device (host-device) refers to the host: eth0"},
      {R"({"type": "host-device", "hwaddr": "02:00:00:00:00:01"})",
       "its key hwaddr (host-device) refers to the host: 02:00:00:00:00:01"},
      {R"({"type": "host-device", "kernelpath": "/sys/devices/a"})",
       "its key kernelpath (host-device) refers to the host: /sys/devices/a"},
      {R"({"type": "host-device", "pciBusID": "0000:01:00.0"})",
       "its key pciBusID (host-device) refers to the host: 0000:01:00.0"},
      {R"({"type": "sriov", "deviceID": "0000:01:00.2"})", "its key deviceID (sriov) refers to the host: 0000:01:00.2"},
      {R"({"type": "sriov", "capabilities": {"deviceID": true}})",
       "its capability deviceID (sriov) lets pods name devices"},
      {R"({"type": "sriov"}, {"type": "tuning", "dataDir": "/etc"})",
       "its key dataDir (tuning) refers to the host: /etc"},
      {R"({"type": "sriov", "ipam": {"type": "host-local", "subnet": "10.0.0.0/24", "dataDir": "/etc"}})",
       "its key dataDir (host-local) refers to the host: /etc"},
      {R"({"type": "sriov", "ipam": {"type": "host-local", "resolvConf": "/etc/shadow"}})",
       "its key resolvConf (host-local) refers to the host: /etc/shadow"},
      {R"({"type": "sriov", "ipam": {"type": "dhcp", "daemonSocketPath": "/run/docker.sock"}})",
       "its key daemonSocketPath (dhcp) refers to the host: /run/docker.sock"},
      {R"({"type": "sriov", "deviceID": ["0000:01:00.2"]})",
       "its key deviceID (sriov) refers to the host: a value that is not a string"},
  };
  for (const auto& [plugins, wanted] : cases) EXPECT_EQ(use(plugins), wanted) << plugins;
}

// Who adds a key to a type that railbed serves says whether it names something of the host.
TEST(TenantDefinitions, KeysThatSoundLikeTheHostsAreMarked) {
  for (const schema::CniType& type : schema::cni_types())
    for (const schema::CniKey& key : type.keys)
      for (const char* part : {"dev", "Dir", "dir", "path", "Path", "master", "Conf", "socket"}) {
        const bool sounds = key.name.find(part) != std::string_view::npos && key.name != "configuration_path";
        EXPECT_TRUE(!type.ours || !sounds || key.of_host) << type.name << ": " << key.name;
      }
}

}  // namespace
}  // namespace railbed::agent
