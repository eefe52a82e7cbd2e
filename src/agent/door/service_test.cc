// SPDX-License-Identifier: Apache-2.0
// Requests by the plugin's name: each type of the table is answered by the handler of its role.
#include "agent/door/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/test_requests.h"
#include "api/cni_types.h"

namespace railbed::agent {
namespace {

using testing::HasSubstr;

class ServiceTest : public RequestTest {
 protected:
  Reply ask(cni::Command command, const std::string& type, const std::string& members, const std::string& ifname = "") {
    cni::Request request{.command = command, .type = type, .args_text = "", .path = {"/opt/cni/bin"}};
    if (!ifname.empty()) {
      request.container_id = "c1";
      request.netns = "/run/netns/a";
      request.ifname = ifname;
    }
    request.config = fmt::format(R"({{"cniVersion":"1.1.0","name":"n","type":"{}"{}{}}})", type,
                                 members.empty() ? "" : ",", members);
    return Service(parts).handle(request);
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

// The program of the original has this name, too, and a list may call it by it.
TEST_F(ServiceTest, ASecondNameIsTheSameType) {
  const Reply reply = ask(cni::Command::kAdd, "ib-sriov-cni", R"("link_state":"up")", "net1");
  EXPECT_THAT(reply.output, HasSubstr("plugin ib-sriov-cni"));
  EXPECT_THAT(reply.output, testing::Not(HasSubstr("is not supported")));
}

}  // namespace
}  // namespace railbed::agent
