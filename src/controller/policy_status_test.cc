// SPDX-License-Identifier: Apache-2.0
#include "controller/policy_status.h"

#include <gtest/gtest.h>

#include "doc/json.h"
#include "doc/text.h"
#include "schema/schema.h"

namespace railbed::controller {
namespace {

using State = graph::PolicyOutcome::State;

NodeOutcome on(std::string node, State state, NodeProgress progress = NodeProgress::kDone) {
  NodeOutcome out{
      .node = std::move(node), .outcome = {.policy = "op/rail0", .state = state}, .progress = progress, .error = ""};
  if (state == State::kApplied || state == State::kPartly) out.outcome.pfs = {"ens1f0"};
  if (state == State::kShadowed || state == State::kPartly) out.outcome.shadowed_by = {"op/rail1 on ens1f1"};
  if (state == State::kRefused) out.outcome.detail = "policy op/rail0 asks for 16 VFs, ens1f0 allows 8";
  if (state == State::kNoMatch) out.outcome.detail = "no NIC has vendor 15b3; here are: 8086";
  if (state == State::kIgnored) out.outcome.detail = "numVfs is 0";
  if (state == State::kOtherNode) out.outcome.detail = "the node has no label gpu";
  if (progress == NodeProgress::kFailed)
    out.error = "create 8 VFs: write /sys/bus/pci/devices/0000:01:00.0/sriov_numvfs: ENOSPC";
  return out;
}

std::string status_of(std::vector<NodeOutcome> nodes, doc::Value before = {}) {
  return doc::to_json(policy_status(
      {.generation = 3, .status = std::move(before), .now = "2026-11-22T15:00:00Z", .nodes = std::move(nodes)}));
}

std::string condition(std::string_view status, std::string_view reason, std::string_view message,
                      std::string_view since = "2026-11-22T15:00:00Z") {
  return fmt::format(
      R"("conditions":[{{"lastTransitionTime":"{}","message":"{}","observedGeneration":3,"reason":"{}","status":"{}","type":"Ready"}}])",
      since, message, reason, status);
}

TEST(PolicyStatus, SaysWhereItAppliesAndWhyNot) {
  struct Row {
    std::vector<NodeOutcome> nodes;
    std::string status;
  };
  const std::vector<Row> rows{
      {{on("a", State::kApplied), on("b", State::kApplied), on("c", State::kOtherNode)},
       R"({"applied":2,)" + condition("True", "Applied", "") +
           R"(,"failed":0,"matched":2,"observedGeneration":3,"summary":"2 of 2"})"},
      {{on("a", State::kApplied), on("b", State::kApplied, NodeProgress::kNotYet)},
       R"({"applied":1,)" + condition("Unknown", "Pending", "1 of its nodes have not applied it yet") +
           R"(,"failed":0,"matched":2,"nodes":[{"message":"not yet applied by the node","name":"b","pfs":["ens1f0"],)"
           R"("state":"Pending"}],"observedGeneration":3,"summary":"1 of 2"})"},
      {{on("a", State::kApplied, NodeProgress::kFailed), on("b", State::kRefused)},
       R"({"applied":0,)" +
           condition(
               "False", "Failed",
               "node a: create 8 VFs: write /sys/bus/pci/devices/0000:01:00.0/sriov_numvfs: ENOSPC (and 1 more)") +
           R"(,"failed":2,"matched":2,"nodes":[{"message":"create 8 VFs: write /sys/bus/pci/devices/0000:01:00.0/sriov_numvfs: ENOSPC",)"
           R"("name":"a","pfs":["ens1f0"],"state":"Failed"},)"
           R"({"message":"policy op/rail0 asks for 16 VFs, ens1f0 allows 8","name":"b","state":"Failed"}],)"
           R"("observedGeneration":3,"summary":"0 of 2"})"},
      {{on("a", State::kShadowed), on("b", State::kPartly)},
       R"({"applied":0,)" + condition("False", "NotOnAllPfs", "node a: op/rail1 on ens1f1 took its VFs (and 1 more)") +
           R"(,"failed":0,"matched":2,"nodes":[{"message":"op/rail1 on ens1f1 took its VFs","name":"a","state":"Shadowed"},)"
           R"({"message":"op/rail1 on ens1f1 took VFs","name":"b","pfs":["ens1f0"],"state":"Held"}],)"
           R"("observedGeneration":3,"summary":"0 of 2"})"},
      {{on("a", State::kOtherNode), on("b", State::kNoMatch)},
       R"({"applied":0,)" + condition("False", "NoNicMatches", "node b: no NIC has vendor 15b3; here are: 8086") +
           R"(,"failed":0,"matched":0,"observedGeneration":3,"summary":"0 of 0"})"},
      {{on("a", State::kOtherNode)},
       R"({"applied":0,)" + condition("False", "NoNodeMatches", "no node has the labels of its nodeSelector") +
           R"(,"failed":0,"matched":0,"observedGeneration":3,"summary":"0 of 0"})"},
      {{on("a", State::kIgnored)},
       R"({"applied":0,)" + condition("False", "Ignored", "numVfs is 0") +
           R"(,"failed":0,"matched":0,"observedGeneration":3,"summary":"0 of 0"})"},
  };
  for (const Row& row : rows) EXPECT_EQ(status_of(row.nodes), row.status);
}

// A status that is written for nothing wakes all who watch it.
TEST(PolicyStatus, IsEqualWhereNothingChanged) {
  const std::vector<NodeOutcome> nodes{on("a", State::kApplied)};
  const doc::Value first =
      policy_status({.generation = 3, .status = {}, .now = "2026-11-22T15:00:00Z", .nodes = nodes});
  EXPECT_EQ(policy_status({.generation = 3, .status = first, .now = "2026-11-22T16:00:00Z", .nodes = nodes}), first);
  const doc::Value failed = policy_status({.generation = 3,
                                           .status = first,
                                           .now = "2026-11-22T16:00:00Z",
                                           .nodes = {on("a", State::kApplied, NodeProgress::kFailed)}});
  EXPECT_EQ(*failed.find("conditions")->as_array()->front().find("lastTransitionTime")->as_string(),
            "2026-11-22T16:00:00Z");
  EXPECT_EQ(status_of(nodes, doc::Value("nonsense")), status_of(nodes));
}

TEST(PolicyStatus, StaysSmallInALargeCluster) {
  std::vector<NodeOutcome> nodes;
  for (int i = 0; i < 5000; ++i)
    nodes.push_back(on(fmt::format("node{:04}", i), State::kApplied, NodeProgress::kFailed));
  const doc::Value status =
      policy_status({.generation = 3, .status = {}, .now = "2026-11-22T15:00:00Z", .nodes = nodes});
  EXPECT_EQ(status.find("nodes")->as_array()->size(), kListedNodes);
  EXPECT_EQ(*status.find("summary")->as_string(), "0 of 5000");
  EXPECT_LT(doc::to_json(status).size(), 16u * 1024);
}

// Any node's token may write any text into its own status.
TEST(PolicyStatus, StaysSmallAndCleanWhateverNodesSay) {
  std::vector<NodeOutcome> nodes;
  for (int i = 0; i < 50; ++i) {
    nodes.push_back(on(fmt::format("node{:02}", i), State::kApplied, NodeProgress::kFailed));
    nodes.back().error = "\x1b[2J" + std::string(900'000, 'M');
    nodes.back().outcome.pfs.assign(1000, std::string(100, 'p'));
  }
  nodes.push_back(on("z", State::kApplied, NodeProgress::kFailed));
  const doc::Value status =
      policy_status({.generation = 3, .status = {}, .now = "2026-11-22T15:00:00Z", .nodes = nodes});
  EXPECT_LT(doc::to_json(status).size(), 48u * 1024);
  EXPECT_EQ(status.find("nodes")->as_array()->size(), kListedNodes);
  EXPECT_EQ(*status.find("summary")->as_string(), "0 of 51");
  const std::string& message = *status.find("conditions")->as_array()->front().find("message")->as_string();
  EXPECT_TRUE(message.starts_with("node node00: \\x1b[2JMMM")) << message.substr(0, 40);
  EXPECT_TRUE(message.ends_with("MM … (and 50 more)")) << message.substr(message.size() - 40);
}

TEST(PolicyStatus, CutsTextsBetweenCharacters) {
  EXPECT_EQ(copied_text(std::string(kLongestText, 'a')), std::string(kLongestText, 'a'));
  for (size_t before = 0; before < 4; ++before) {
    std::string text(before, 'a');
    while (text.size() <= kLongestText) text += "é";
    const std::string cut = copied_text(text);
    EXPECT_LE(cut.size(), kLongestText);
    EXPECT_EQ(doc::first_invalid_utf8(cut), std::nullopt) << before;
    EXPECT_EQ(cut.find("\uFFFD"), std::string::npos) << before;
  }
  EXPECT_LE(copied_text(std::string(kLongestText, '\x01')).size(), kLongestText);
}

// What is written is what the definition of the kind knows: the API server would prune the rest.
TEST(PolicyStatus, HasTheFieldsOfTheSchema) {
  const schema::Schema* kind = schema::find_schema("sriovnetwork.openshift.io/v1", "SriovNetworkNodePolicy");
  const doc::Value status =
      policy_status({.generation = 3,
                     .status = {},
                     .now = "2026-11-22T15:00:00Z",
                     .nodes = {on("a", State::kApplied, NodeProgress::kFailed), on("b", State::kPartly)}});
  doc::Diagnostics found;
  schema::check_schema(status, *kind->fields.at("status"), "status", found);
  EXPECT_TRUE(found.all().empty()) << found.all().front().message;
}

}  // namespace
}  // namespace railbed::controller
