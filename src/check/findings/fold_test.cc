// SPDX-License-Identifier: Apache-2.0
#include "check/findings/fold.h"

#include <gtest/gtest.h>

#include "doc/text.h"

namespace railbed::check {
namespace {

const std::string kText =
    "kind: SriovNetworkNodePolicy\nspec:\n  resourceName: rail0\n  numVfs: many\n---\nkind: SriovNetwork\n"
    "spec:\n  resourceName: rail0\n---\nkind: Pod\n";

class FoldTest : public testing::Test {
 protected:
  doc::SourcePtr source_ = std::make_shared<doc::Source>(doc::Source{"a.yaml", kText});
  doc::LineIndex index_{source_};
  doc::Diagnostics findings_;
  size_t at(std::string_view words) const { return kText.find(words); }
};

TEST_F(FoldTest, WhatMissesABrokenObjectBecomesANoteThere) {
  findings_.error("RB-API-004", index_.at(at("many"), 4), "spec.numVfs must be an integer").of(doc::Layer::kObject);
  findings_.warning("RB-NET-001", index_.at(at("kind: SriovNetwork\n"), 4), "no policy makes p/rail0")
      .looks_for("p/rail0");
  findings_.error("RB-POD-001", index_.at(at("kind: Pod"), 4), "no network ai/blue").looks_for("ai/blue");
  fold(findings_);
  ASSERT_EQ(findings_.all().size(), 2u);
  ASSERT_EQ(findings_.all()[0].notes.size(), 1u);
  EXPECT_EQ(findings_.all()[0].notes[0].text, "because of it: no policy makes p/rail0");
  EXPECT_EQ(findings_.all()[1].id, "RB-POD-001");
}

// A pod with its own mistake that also asks for a network that does not exist.
TEST_F(FoldTest, WhatTheBrokenObjectItselfMissesStays) {
  findings_.error("RB-API-004", index_.at(at("many"), 4), "spec.numVfs must be an integer").of(doc::Layer::kObject);
  findings_.error("RB-POD-001", index_.at(at("rail0"), 5), "no network ai/rail0").looks_for("ai/rail0");
  fold(findings_);
  EXPECT_EQ(findings_.all().size(), 2u);
}

// How many findings are left of a mistake in an object that names network ai/rail0, and of another that misses it.
size_t left_beside(const std::string& object, std::string_view wrong, doc::Layer layer) {
  const auto source = std::make_shared<doc::Source>(doc::Source{"a.yaml", object + "---\nkind: Pod\n"});
  const doc::LineIndex index(source);
  doc::Diagnostics findings;
  findings.error("RB-API-004", index.at(source->text.find(wrong), wrong.size()), "must be a string").of(layer);
  findings.error("RB-POD-001", index.at(source->text.rfind("kind: Pod"), 4), "no network").looks_for("ai/rail0");
  fold(findings);
  return findings.all().size();
}

TEST(Fold, AMistakeInWhatAsksForANetworkHidesNone) {
  const std::string spec = "spec:\n  networks: ai/rail0\n  wrong: true\n";
  for (const char* kind :
       {"Pod", "StatefulSet", "Job", "MPIJob", "LeaderWorkerSet", "\"Deployment\"", "RayCluster # x"})
    for (const doc::Layer layer : {doc::Layer::kObject, doc::Layer::kText})
      EXPECT_EQ(left_beside(fmt::format("apiVersion: a/v1\nkind: {}\n{}", kind, spec), "wrong", layer), 2U) << kind;
  EXPECT_EQ(left_beside("{\n  \"kind\": \"Job\",\n  \"a\": \"rail0\", \"wrong\": 1\n}\n", "wrong", doc::Layer::kObject),
            2U);
  for (const char* kind : {"SriovNetwork", "NetworkAttachmentDefinition", "ConfigMap", "Policy"})
    EXPECT_EQ(left_beside(fmt::format("apiVersion: a/v1\nkind: {}\n{}", kind, spec), "wrong", doc::Layer::kObject), 1U)
        << kind;
  // A template of a pod inside is not the object's kind.
  EXPECT_EQ(left_beside("kind: Policy\nspec:\n  kind: Pod\n  name: rail0\n  wrong: 1\n", "wrong", doc::Layer::kObject),
            1U);
}

TEST(Fold, AnObjectOnOneLineEndsWithIt) {
  const auto left = [](const std::string& name) {
    const std::string text = fmt::format(
        "{{apiVersion: a/v1, kind: SriovNetworkNodePolicy, spec: {{resourceName: {}, numVfs: many}}}}\n"
        "kind: SriovNetwork\nspec:\n  resourceName: rail0\n",
        name);
    const auto source = std::make_shared<doc::Source>(doc::Source{"a.yaml", text});
    const doc::LineIndex index(source);
    doc::Diagnostics findings;
    findings.error("RB-API-004", index.at(text.find("many"), 4), "an integer").of(doc::Layer::kObject);
    findings.warning("RB-NET-001", index.at(text.find("kind: SriovNetwork\n"), 4), "no policy").looks_for("p/rail0");
    fold(findings);
    return findings.all().size();
  };
  EXPECT_EQ(left("rail0"), 1U);
  EXPECT_EQ(left("rail1"), 2U) << "that policy would not make it";
}

TEST_F(FoldTest, AWarningBreaksNothing) {
  findings_.warning("RB-API-002", index_.at(at("many"), 4), "unknown field").of(doc::Layer::kObject);
  findings_.warning("RB-NET-001", index_.at(at("kind: SriovNetwork\n"), 4), "no policy makes p/rail0")
      .looks_for("p/rail0");
  fold(findings_);
  EXPECT_EQ(findings_.all().size(), 2u);
}

TEST_F(FoldTest, TheSameFindingTwiceIsOneAndKeepsItsRepair) {
  const doc::Span span = index_.at(at("many"), 4);
  findings_.error("RB-API-004", span, "one");
  findings_.error("RB-API-004", span, "two").with_edit(span, "8");
  findings_.error("RB-API-005", span, "three");
  fold(findings_);
  ASSERT_EQ(findings_.all().size(), 2u);
  EXPECT_EQ(findings_.all()[0].message, "two");
  EXPECT_EQ(findings_.all()[1].message, "three");
}

// Numbers of other families mean other things.
TEST_F(FoldTest, TwoRulesThatReportOnePlaceAreTwoMistakes) {
  const doc::Span span = index_.at(at("many"), 4);
  findings_.error("RB-VF-002", span, "too many");
  findings_.error("RB-VF-003", span, "not of the partition");
  fold(findings_);
  EXPECT_EQ(findings_.all().size(), 2u);
}

TEST_F(FoldTest, EveryMissingFieldIsReportedOnce) {
  const doc::Span object = index_.at(at("resourceName"), 1);
  for (const char* path : {"spec.numVfs", "spec.nodeSelector", "spec.numVfs"})
    findings_.error("RB-API-006", object, fmt::format("{} is missing", path))
        .of(doc::Layer::kObject)
        .that_says(doc::Says::kMissingField)
        .about_field(path);
  fold(findings_);
  ASSERT_EQ(findings_.all().size(), 2u);
  EXPECT_EQ(findings_.all()[0].message, "spec.numVfs is missing");
  EXPECT_EQ(findings_.all()[1].message, "spec.nodeSelector is missing");
}

}  // namespace
}  // namespace railbed::check
