// SPDX-License-Identifier: Apache-2.0
// Requests by the plugin's name: each type of the table is answered by the handler of its role, and the life of a dummy
// interface, as a runtime leads it.
#include "agent/door/service.h"

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/test_requests.h"
#include "schema/cni_types.h"

namespace railbed::agent {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kIpam = R"("ipam":{"type":"static","addresses":[{"address":"10.1.0.2/24"}]})";

class ServiceTest : public RequestTest {
 protected:
  RequestStory story;       // of the last request
  std::string netns_proof;  // of the next

  Reply ask(cni::Command command, const std::string& type, const std::string& members, const std::string& ifname = "") {
    cni::Request request{.command = command, .type = type, .args_text = "", .path = {"/opt/cni/bin"}};
    if (!ifname.empty()) {
      request.container_id = "c1";
      request.netns = "/run/netns/a";
      request.ifname = ifname;
      request.netns_proof = netns_proof;
    }
    request.config = fmt::format(R"({{"cniVersion":"1.1.0","name":"n","type":"{}"{}{}}})", type,
                                 members.empty() ? "" : ",", members);
    story = {};
    return Service(backends, meta).handle(request, story);
  }
};

TEST_F(ServiceTest, EveryTypeIsAnsweredByTheHandlerOfItsRole) {
  for (const schema::CniType& type : schema::cni_types()) {
    const std::string name(type.name);
    const Reply reply = ask(cni::Command::kAdd, name, R"("ipam":{"type":"nothing"})", "net1");
    const bool unsupported = text_of(reply).find("is not supported") != std::string::npos;
    EXPECT_EQ(unsupported, !type.ours) << name << text_of(reply);
    // These answer STATUS without looking at anything else.
    if (!type.makes_or_changes_interfaces()) continue;
    const Reply status = ask(cni::Command::kStatus, name, "");
    EXPECT_TRUE(status.result.has_value()) << name << text_of(status);
  }
  EXPECT_TRUE(interfaces().empty());
}

TEST_F(ServiceTest, ADummyLivesAndGoes) {
  const std::string before = kernel.snapshot();
  EXPECT_TRUE(ask(cni::Command::kStatus, "dummy", kIpam).result.has_value());
  const Reply added = ask(cni::Command::kAdd, "dummy", kIpam, "net1");
  ASSERT_TRUE(added.result.has_value()) << text_of(added);
  EXPECT_THAT(text_of(added), HasSubstr(R"("address": "10.1.0.2/24")"));
  EXPECT_THAT(text_of(added), HasSubstr(R"("name": "net1")"));
  EXPECT_THAT(story.networks, testing::ElementsAre("n"));
  EXPECT_GT(story.seconds[static_cast<size_t>(Phase::kKernel)], 0);
  EXPECT_THAT(kernel.snapshot(), HasSubstr("dummy"));
  const std::string attached = kernel.snapshot();
  const Reply again = ask(cni::Command::kAdd, "dummy", kIpam, "net1");
  EXPECT_EQ(text_of(again), text_of(added));
  EXPECT_EQ(kernel.snapshot(), attached);
  EXPECT_TRUE(ask(cni::Command::kCheck, "dummy", kIpam, "net1").result.has_value());
  // What is valid stays; what is not goes.
  EXPECT_TRUE(ask(cni::Command::kGc, "dummy", R"("cni.dev/valid-attachments":[{"containerID":"c1","ifname":"net1"}])")
                  .result.has_value());
  EXPECT_EQ(kernel.snapshot(), attached);
  EXPECT_TRUE(ask(cni::Command::kGc, "dummy", R"("cni.dev/valid-attachments":[])").result.has_value());
  EXPECT_EQ(kernel.snapshot(), before);
  EXPECT_FALSE(ask(cni::Command::kCheck, "dummy", kIpam, "net1").result.has_value());
  ASSERT_TRUE(ask(cni::Command::kAdd, "dummy", kIpam, "net1").result.has_value());
  EXPECT_TRUE(ask(cni::Command::kDel, "dummy", kIpam, "net1").result.has_value());
  EXPECT_THAT(story.networks, testing::ElementsAre("n"));
  EXPECT_TRUE(ask(cni::Command::kDel, "dummy", kIpam, "net1").result.has_value());
  EXPECT_EQ(kernel.snapshot(), before);
  EXPECT_THAT(interfaces(), IsEmpty());
}

TEST_F(ServiceTest, ADummyNeedsAnAddress) {
  for (const auto& [members, says] : {std::pair("", "ipam is missing"), std::pair(R"("ipam":{})", "ipam is empty"),
                                      std::pair(R"("ipam":{"type":"static"})", "ipam type static has no addresses")}) {
    const std::string before = kernel.snapshot();
    const Reply reply = ask(cni::Command::kAdd, "dummy", members, "net1");
    EXPECT_FALSE(reply.result.has_value()) << members;
    EXPECT_THAT(text_of(reply), HasSubstr(says));
    EXPECT_EQ(kernel.snapshot(), before);
    EXPECT_THAT(interfaces(), IsEmpty());
  }
}

// Whatever keeps the agent from knowing that a namespace is not the host's refuses.
TEST_F(ServiceTest, ANamespaceThatCannotBeLookedAtIsRefused) {
  kernel.refuse_netns("/run/netns/a", EMFILE);
  for (const cni::Command command : {cni::Command::kAdd, cni::Command::kCheck, cni::Command::kDel}) {
    const Reply reply = ask(command, "dummy", kIpam, "net1");
    EXPECT_FALSE(reply.result.has_value());
    EXPECT_THAT(text_of(reply), HasSubstr("open network namespace /run/netns/a: EMFILE (Too many open files)"));
  }
  EXPECT_THAT(interfaces(), IsEmpty());
}

// The look and the use are one: what is held for the request is where its interfaces come, not what has the path then.
TEST_F(ServiceTest, ARequestStaysInTheNamespaceThatItsShimSaw) {
  os::NetnsPort& netns = kernel.netns();
  auto seen = netns.open("/run/netns/a").value();
  const os::NetnsIdentity pod = netns.identity(*seen).value();
  auto held = netns.hold(std::move(seen)).value();
  kernel.before("link", [&] {
    EXPECT_TRUE(netns.remove("a").has_value());
    EXPECT_TRUE(netns.create("a").has_value());
  });
  const Reply added = ask(cni::Command::kAdd, "macvlan", R"("master":"eth1",)" + std::string(kIpam), "net1");
  EXPECT_FALSE(added.result.has_value());  // the runtime has another namespace at that path by now
  EXPECT_THAT(text_of(added), HasSubstr("vanished while its interfaces were attached"));
  held.reset();
  auto now = netns.open("/run/netns/a").value();
  EXPECT_NE(netns.identity(*now).value(), pod);
  EXPECT_FALSE((*netns.links(*now))->find(IfName{"net1"}, os::WithVfs::kNo).has_value());
  EXPECT_THAT(interfaces(), IsEmpty());
}

// A DEL that was kept while no agent ran enters only what was at its path then.
TEST_F(ServiceTest, AKeptDelDoesNotEnterWhatHasItsPathNow) {
  const std::string id =
      fmt::format("{:x}", kernel.netns().identity(*kernel.netns().open("/run/netns/a").value())->number);
  const auto made = [&] {
    auto links = kernel.netns().links(*kernel.netns().open("/run/netns/a").value()).value();
    return links->find(IfName{"net1"}, os::WithVfs::kNo).has_value();
  };
  // As the original plugin made it: nothing is recorded of it.
  auto links = kernel.netns().links(*kernel.netns().open("/run/netns/a").value()).value();
  ASSERT_TRUE(links->create({.kind = "dummy", .name = IfName{"net1"}}).has_value());
  for (const std::string& proof : {"another-boot id:" + id, kernel.boot_id() + " id:77", kernel.boot_id() + " file:1",
                                   kernel.boot_id() + " " + id, std::string("nonsense")}) {
    netns_proof = proof;
    EXPECT_TRUE(ask(cni::Command::kDel, "dummy", kIpam, "net1").result.has_value()) << proof;
    EXPECT_TRUE(made()) << proof;
  }
  netns_proof = kernel.boot_id() + " id:" + id;
  EXPECT_TRUE(ask(cni::Command::kDel, "dummy", kIpam, "net1").result.has_value());
  EXPECT_FALSE(made());
}

// The program of the original has this name, too, and a list may call it by it.
TEST_F(ServiceTest, ASecondNameIsTheSameType) {
  const Reply reply = ask(cni::Command::kAdd, "ib-sriov-cni", R"("link_state":"up")", "net1");
  EXPECT_THAT(text_of(reply), HasSubstr("plugin ib-sriov-cni"));
  EXPECT_THAT(text_of(reply), testing::Not(HasSubstr("is not supported")));
}

}  // namespace
}  // namespace railbed::agent
