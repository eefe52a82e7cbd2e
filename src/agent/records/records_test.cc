// SPDX-License-Identifier: Apache-2.0
#include "agent/records/records.h"

#include <gtest/gtest.h>

#include "agent/records/meta_records.h"
#include "node/netns_name.h"

namespace railbed::agent {
namespace {

cni::Request request_for(const std::string& container, const std::string& pod) {
  cni::Request request{.container_id = container, .ifname = "net1"};
  if (!pod.empty()) request.args = {{"K8S_POD_NAMESPACE", "llm"}, {"K8S_POD_NAME", pod}};
  return request;
}

TEST(Sandbox, ContainersArePartOfTheKeyUnlessUpMadeTheNamespace) {
  EXPECT_EQ(sandbox_of(request_for("4f3a", "worker-0")).key(), "llm/worker-0@4f3a");
  EXPECT_EQ(sandbox_of(request_for("4f3a", "")).key(), "@4f3a");
  EXPECT_EQ(sandbox_of(request_for(node::netns_name("llm/worker-0"), "worker-0")).key(), "llm/worker-0");
}

TEST(Pods, ThoseOfSandboxesWithoutAnythingAreForgotten) {
  auto store = state::memory_store();
  for (const char* pod : {"llm/a@c1", "llm/b@c2", "llm/c@c3", "llm/d"}) ASSERT_TRUE(store->put_pod({.pod = pod}));
  ASSERT_TRUE(store->put_attachment({.pod = "llm/b@c2", .interface = "net1"}));
  ASSERT_TRUE(put_sandbox_note(*store, {.key = "llm/c@c3"}));
  EXPECT_EQ(*forget_empty_pods(*store), 1);
  std::vector<std::string> left;
  const auto pods = store->pods();
  for (const state::PodRecord& pod : *pods) left.push_back(pod.pod);
  EXPECT_EQ(left, (std::vector<std::string>{"llm/b@c2", "llm/c@c3", "llm/d"}));
}

TEST(KeysOfContainer, FindsTheRecordsOfADelWithoutArguments) {
  auto store = state::memory_store();
  ASSERT_TRUE(store->put_attachment({.pod = "llm/worker-0@4f3a", .interface = "net1"}).has_value());
  ASSERT_TRUE(store->put_attachment({.pod = "llm/worker-0@4f3b", .interface = "net1"}).has_value());
  EXPECT_EQ(*keys_of_container(*store, request_for("4f3a", "")), std::vector<std::string>{"llm/worker-0@4f3a"});
  EXPECT_EQ(*keys_of_container(*store, request_for("4f3a", "worker-0")), std::vector<std::string>{"llm/worker-0@4f3a"});
  // Records are found under any name of the pod, but only those of this container.
  EXPECT_EQ(*keys_of_container(*store, request_for("4f3a", "renamed")), std::vector<std::string>{"llm/worker-0@4f3a"});
  EXPECT_EQ(*keys_of_container(*store, request_for("ffff", "")), std::vector<std::string>{"@ffff"});
}

TEST(Results, AnInterfaceAndItsAddresses) {
  attach::InterfaceResult made{
      .interface = "net1", .mac = "02:00:00:00:00:01", .mtu = 9000, .device = *PciAddress::parse("0000:01:10.0")};
  cni::AddResult addresses;
  addresses.addresses.push_back({.address = *IpPrefix::parse("10.1.0.2/24")});
  cni::AddResult answer = result_of(made, "/run/netns/a", addresses);
  ASSERT_EQ(answer.interfaces.size(), 1u);
  EXPECT_EQ(answer.interfaces[0], (cni::Interface{.name = "net1",
                                                  .mac = "02:00:00:00:00:01",
                                                  .sandbox = "/run/netns/a",
                                                  .mtu = 9000,
                                                  .pci_id = "0000:01:10.0"}));
  EXPECT_EQ(answer.addresses[0].interface, 0);
}

TEST(Results, AChainedPluginChangesItsInterfaceOnly) {
  cni::AddResult previous;
  previous.interfaces = {{.name = "net1", .mac = "02:00:00:00:00:01"},  // on the host, by chance of this name
                         {.name = "net1", .mac = "02:00:00:00:00:01", .sandbox = "/run/netns/a"},
                         {.name = "eth0", .mac = "02:00:00:00:00:09", .sandbox = "/run/netns/a"}};
  cni::AddResult answer = merged(previous, {.interface = "net1", .mac = "02:00:00:00:00:05", .mtu = 1400}, "net1");
  EXPECT_EQ(answer.interfaces[0], previous.interfaces[0]);
  EXPECT_EQ(answer.interfaces[2], previous.interfaces[2]);
  EXPECT_EQ(answer.interfaces[1].mac, "02:00:00:00:00:05");
  EXPECT_EQ(answer.interfaces[1].mtu, 1400);
}

TEST(PodRecords, AreKeptAsLongAsThereAreAttachments) {
  auto store = state::memory_store();
  state::Sandbox sandbox{"llm/worker-0", "4f3a"};
  ASSERT_TRUE(remember_pod(*store, sandbox, "/run/netns/a").has_value());
  ASSERT_TRUE(store->put_attachment({.pod = sandbox.key(), .interface = "net1"}).has_value());
  ASSERT_TRUE(forget_pod_if_empty(*store, sandbox.key()).has_value());
  EXPECT_EQ(store->pods()->size(), 1u);
  EXPECT_FALSE(store->pods()->front().netns_ours);
  ASSERT_TRUE(store->forget_attachment(sandbox.key(), "net1").has_value());
  ASSERT_TRUE(forget_pod_if_empty(*store, sandbox.key()).has_value());
  EXPECT_TRUE(store->pods()->empty());
  // A pod without a name is nothing that a person would look for.
  ASSERT_TRUE(remember_pod(*store, {"", "4f3a"}, "/run/netns/a").has_value());
  EXPECT_TRUE(store->pods()->empty());
}

}  // namespace
}  // namespace railbed::agent
