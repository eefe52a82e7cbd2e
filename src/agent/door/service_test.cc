// SPDX-License-Identifier: Apache-2.0
// Requests by the plugin's name: each type of the table is answered by the handler of its role, and the life of a dummy
// interface, as a runtime leads it.
#include "agent/door/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/test_requests.h"
#include "api/cni_types.h"

namespace railbed::agent {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class ServiceTest : public RequestTest {
 protected:
  RequestStory story;  // of the last request

  Reply ask(cni::Command command, const std::string& type, const std::string& members, const std::string& ifname = "") {
    cni::Request request{.command = command, .type = type, .args_text = "", .path = {"/opt/cni/bin"}};
    if (!ifname.empty()) {
      request.container_id = "c1";
      request.netns = "/run/netns/a";
      request.ifname = ifname;
    }
    request.config = fmt::format(R"({{"cniVersion":"1.1.0","name":"n","type":"{}"{}{}}})", type,
                                 members.empty() ? "" : ",", members);
    story = {};
    return Service(backends).handle(request, story);
  }
};

TEST_F(ServiceTest, EveryTypeIsAnsweredByTheHandlerOfItsRole) {
  for (const api::CniType& type : api::cni_types()) {
    const std::string name(type.name);
    const Reply reply = ask(cni::Command::kAdd, name, R"("ipam":{"type":"nothing"})", "net1");
    const bool unsupported = reply.output.find("is not supported") != std::string::npos;
    EXPECT_EQ(unsupported, !type.ours) << name << reply.output;
    // These answer STATUS without looking at anything else.
    if (!type.makes_or_changes_interfaces()) continue;
    const Reply status = ask(cni::Command::kStatus, name, "");
    EXPECT_EQ(status.status, 0) << name << status.output;
  }
  EXPECT_TRUE(interfaces().empty());
}

TEST_F(ServiceTest, ADummyLivesAndGoes) {
  constexpr const char* kIpam = R"("ipam":{"type":"static","addresses":[{"address":"10.1.0.2/24"}]})";
  const std::string before = kernel.snapshot();
  EXPECT_EQ(ask(cni::Command::kStatus, "dummy", kIpam).status, 0);
  const Reply added = ask(cni::Command::kAdd, "dummy", kIpam, "net1");
  ASSERT_EQ(added.status, 0) << added.output;
  EXPECT_THAT(added.output, HasSubstr(R"("address": "10.1.0.2/24")"));
  EXPECT_THAT(added.output, HasSubstr(R"("name": "net1")"));
  EXPECT_THAT(story.networks, testing::ElementsAre("n"));
  EXPECT_GT(story.seconds[static_cast<size_t>(Phase::kKernel)], 0);
  EXPECT_THAT(kernel.snapshot(), HasSubstr("dummy"));
  const std::string attached = kernel.snapshot();
  const Reply again = ask(cni::Command::kAdd, "dummy", kIpam, "net1");
  EXPECT_EQ(again.output, added.output);
  EXPECT_EQ(kernel.snapshot(), attached);
  EXPECT_EQ(ask(cni::Command::kCheck, "dummy", kIpam, "net1").status, 0);
  // What is valid stays; what is not goes.
  EXPECT_EQ(
      ask(cni::Command::kGc, "dummy", R"("cni.dev/valid-attachments":[{"containerID":"c1","ifname":"net1"}])").status,
      0);
  EXPECT_EQ(kernel.snapshot(), attached);
  EXPECT_EQ(ask(cni::Command::kGc, "dummy", R"("cni.dev/valid-attachments":[])").status, 0);
  EXPECT_EQ(kernel.snapshot(), before);
  EXPECT_NE(ask(cni::Command::kCheck, "dummy", kIpam, "net1").status, 0);
  ASSERT_EQ(ask(cni::Command::kAdd, "dummy", kIpam, "net1").status, 0);
  EXPECT_EQ(ask(cni::Command::kDel, "dummy", kIpam, "net1").status, 0);
  EXPECT_THAT(story.networks, testing::ElementsAre("n"));
  EXPECT_EQ(ask(cni::Command::kDel, "dummy", kIpam, "net1").status, 0);
  EXPECT_EQ(kernel.snapshot(), before);
  EXPECT_THAT(interfaces(), IsEmpty());
}

TEST_F(ServiceTest, ADummyNeedsAnAddress) {
  for (const auto& [members, says] : {std::pair("", "ipam is missing"), std::pair(R"("ipam":{})", "ipam is empty"),
                                      std::pair(R"("ipam":{"type":"static"})", "ipam type static has no addresses")}) {
    const std::string before = kernel.snapshot();
    const Reply reply = ask(cni::Command::kAdd, "dummy", members, "net1");
    EXPECT_NE(reply.status, 0) << members;
    EXPECT_THAT(reply.output, HasSubstr(says));
    EXPECT_EQ(kernel.snapshot(), before);
    EXPECT_THAT(interfaces(), IsEmpty());
  }
}

// The program of the original has this name, too, and a list may call it by it.
TEST_F(ServiceTest, ASecondNameIsTheSameType) {
  const Reply reply = ask(cni::Command::kAdd, "ib-sriov-cni", R"("link_state":"up")", "net1");
  EXPECT_THAT(reply.output, HasSubstr("plugin ib-sriov-cni"));
  EXPECT_THAT(reply.output, testing::Not(HasSubstr("is not supported")));
}

}  // namespace
}  // namespace railbed::agent
