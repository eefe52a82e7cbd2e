// SPDX-License-Identifier: Apache-2.0
// plan, up and down as programs, alone and beside an agent, over the real kernel.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "os/ports/processes.h"
#include "scratch.h"

namespace railbed {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kNetworks = R"(
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: { name: plain, namespace: llm }
spec: { config: '{ "type": "macvlan", "master": "up0", "mtu": MTU, "ipam": { "type": "whereabouts", "range": "10.12.0.0/24" } }' }
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: { name: host, namespace: llm }
spec: { config: '{ "type": "host-device", "device": "hd0" }' }
)";

std::string pod(const std::string& name, const std::string& networks) {
  return fmt::format(
      "---\napiVersion: v1\nkind: Pod\nmetadata: {{ name: {}, namespace: llm, annotations: {{ "
      "k8s.v1.cni.cncf.io/networks: \"{}\" }} }}\nspec: {{ nodeName: n1, containers: [] }}\n",
      name, networks);
}

std::string manifests(const std::string& mtu, const std::string& pods) {
  std::string text = kNetworks;
  return text.replace(text.find("MTU"), 3, mtu) + pods;
}

class UpTest : public ScratchTest {
 protected:
  void SetUp() override {
    ScratchTest::SetUp();
    if (IsSkipped()) return;
    std::string name = (std::filesystem::temp_directory_path() / "railbed-up-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    make_veth("up0", "up1");
    make_veth("hd0", "hd1");
    write("two.yaml", manifests("1450", pod("a", "plain, host") + pod("b", "plain")));
    write("one.yaml", manifests("1400", pod("a", "plain, host")));
  }
  void TearDown() override {
    ScratchTest::TearDown();
    std::filesystem::remove_all(folder_);
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(std::filesystem::path(folder_) / name) << text;
  }

  // What the verb printed on both streams, with its exit status at the end.
  std::string verb(const std::string& arguments) const {
    return shell(fmt::format("railbed {}; echo status $?", arguments));
  }

  std::string shell(const std::string& script) const {
    const std::string railbed = fmt::format(
        "railbed() {{ {} \"$@\" --state-dir state --agent agent.sock 2>&1; }}; cd {}; ", RAILBED_PROGRAM, folder_);
    auto ran = os::real_processes()->run({.program = "/bin/bash",
                                          .arguments = {"-c", railbed + script},
                                          .environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
                                          .input = "",
                                          .deadline = std::chrono::steady_clock::now() + std::chrono::minutes(3)});
    EXPECT_TRUE(ran.has_value()) << ran.error().to_string();
    return ran ? ran->output : "";
  }

  std::string folder_;
};

TEST_F(UpTest, WhatIsPlannedIsDoneAndThenNothingIsLeft) {
  EXPECT_THAT(verb("plan two.yaml --node n1"),
              AllOf(HasSubstr("node n1: 2 steps for pods\n"),
                    HasSubstr("attach net1 to llm/plain (up0), net2 to llm/host (hd0)\n"), HasSubstr("status 2\n")));
  EXPECT_THAT(verb("up two.yaml --node n1"), AllOf(HasSubstr("3 interfaces attached"), HasSubstr("status 0\n")));
  EXPECT_THAT(verb("plan two.yaml --node n1"),
              AllOf(HasSubstr("node n1: nothing to change\n"), HasSubstr("status 0\n")));
  EXPECT_THAT(verb("up two.yaml --node n1"),
              AllOf(HasSubstr("nothing to do"), Not(HasSubstr("attaching")), HasSubstr("status 0\n")));

  EXPECT_THAT(verb("plan one.yaml --node n1"),
              AllOf(HasSubstr("llm/b: it is in none of the manifests\n"),
                    HasSubstr("detach net1, remove its network namespace\n"),
                    HasSubstr("disrupts llm/a  detach net1 [MTU 1400 instead of 1450]\n"), HasSubstr("status 2\n")));
  EXPECT_THAT(verb("up one.yaml --node n1"), AllOf(HasSubstr("llm/b: 1 interface detached\n"),
                                                   HasSubstr("1 interface attached"), HasSubstr("status 0\n")));
  EXPECT_THAT(verb("plan one.yaml --node n1"), HasSubstr("status 0\n"));
  EXPECT_THAT(verb("down"), AllOf(HasSubstr("llm/a: 2 interfaces detached\n"), HasSubstr("status 0\n")));
  EXPECT_TRUE(has(*host_, "hd0")) << "it has come home";
}

// The agent has an empty folder of manifests: all that it knows was handed over, also to the one that comes after it.
TEST_F(UpTest, BesideAnAgentTheManifestsAreHandedOver) {
  const std::string said = shell(fmt::format(
      R"(mkdir manifests
agent() {{
  {} agent --socket agent.sock --state-dir state --pending pending --records records --manifests manifests \
    --metrics off --node n1 >>agent.log 2>&1 &
  pid=$!
  for i in $(seq 600); do grep -q "answers on" agent.log && return; sleep 0.1; done
}}
gone() {{ kill $pid; wait $pid; : >agent.log; }}
agent
for verb in plan up plan up; do echo "first $verb"; railbed $verb two.yaml --node n1; echo "status $?"; done
gone; agent
for verb in plan up plan; do echo "then $verb"; railbed $verb one.yaml --node n1; echo "status $?"; done
echo "at last"; railbed down; echo "status $?"
gone)",
      RAILBED_PROGRAM));
  const auto part = [&](const std::string& from, const std::string& to) {
    const size_t begin = said.find(from);
    return begin == std::string::npos ? said : said.substr(begin, said.find(to, begin) - begin);
  };
  const std::string first = part("first plan", "then plan");
  EXPECT_THAT(first, AllOf(HasSubstr("node n1: 2 steps for pods\n"), HasSubstr("3 interfaces attached"),
                           HasSubstr("node n1: nothing to change\n"), HasSubstr("nothing to do")));
  const std::string then = part("then plan", "at last");
  EXPECT_THAT(then, AllOf(HasSubstr("disrupts llm/a  attach net1 to llm/plain (up0) [MTU 1400 instead of 1450]\n"),
                          HasSubstr("llm/b: 1 interface detached\n"), HasSubstr("MTU 1400"),
                          HasSubstr("node n1: nothing to change\n")));
  EXPECT_THAT(part("at last", "no such text"),
              AllOf(HasSubstr("llm/a: 2 interfaces detached\n"), HasSubstr("status 0")));
  EXPECT_THAT(said, Not(HasSubstr("status 1"))) << said;
  EXPECT_TRUE(has(*host_, "hd0")) << "it has come home";
}

}  // namespace
}  // namespace railbed
