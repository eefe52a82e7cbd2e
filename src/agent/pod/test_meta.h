// SPDX-License-Identifier: Apache-2.0
// The requests of a runtime for a pod with an executed default network and networks of railbed. Only included by tests.
#pragma once

#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/test_requests.h"

namespace railbed::agent {

inline constexpr const char* kMacvlan = R"({"cniVersion":"1.0.0","type":"macvlan","master":"eth1",)"
                                        R"("ipam":{"type":"whereabouts","range":"10.9.0.0/24"}})";
inline constexpr const char* kBridgeAnswer =
    R"({"cniVersion":"1.0.0","interfaces":[{"name":"eth0","mac":"02:00:00:00:00:01","sandbox":"/run/netns/a"}],)"
    R"("ips":[{"address":"10.1.0.5/16","gateway":"10.1.0.1","interface":0}],"dns":{}})";

class MetaTest : public RequestTest {
 protected:
  void SetUp() override {
    RequestTest::SetUp();
    install("bridge", kBridgeAnswer);
    pods.add_network("rail", kMacvlan);
    pods.add_pod("rail, rail@second");
  }

  Result<std::string> ask(cni::Command command, const std::string& members = "", const std::string& container = "c1") {
    cni::Request request{
        .command = command,
        .type = "railbed",
        .container_id = container,
        .netns = netns_path,
        .ifname = "eth0",
        .args = {{"K8S_POD_NAMESPACE", "ns"}, {"K8S_POD_NAME", pod}},
        .args_text = "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=" + pod,
        .path = {"/opt/cni/bin"},
        .config = R"({"cniVersion":"1.1.0","name":"pods","type":"railbed",)" + delegates + members + "}"};
    auto config = cni::read_plugin_config(request.config);
    if (!config.has_value()) return std::unexpected(config.error());
    return meta_request(backends, meta, request, *config);
  }

  std::vector<std::string> links_inside() {
    std::vector<std::string> names;
    auto netns = kernel.netns().open("/run/netns/a");
    if (!netns) return names;
    auto links = kernel.netns().links(**netns);
    auto list = (*links)->list(os::WithVfs::kNo);
    for (const os::Link& link : *list)
      if (link.name.value != "lo") names.push_back(link.name.value);
    return names;
  }
  void expect_nothing_left() {
    EXPECT_THAT(interfaces(), ::testing::ElementsAre());
    EXPECT_TRUE(store->all_leases()->empty());
    EXPECT_TRUE(store->pods()->empty());
    EXPECT_TRUE(store->notes("meta/")->empty());
    EXPECT_THAT(links_inside(), ::testing::ElementsAre());
  }

  std::thread recovery;
  bool recovered = false;
  std::string pod = "a", netns_path = "/run/netns/a";
  std::string delegates = R"("delegates":[{"cniVersion":"1.0.0","name":"cbr0","type":"bridge"}])";
};

}  // namespace railbed::agent
