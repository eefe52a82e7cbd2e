// SPDX-License-Identifier: Apache-2.0
#include "check/findings/object_states.h"

#include <gtest/gtest.h>

namespace railbed::check {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

std::string network(const std::string& name) {
  return "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: " + name +
         ", namespace: ai}\nspec: {config: '{\"cniVersion\": \"0.3.1\", \"type\": \"macvlan\", \"master\": \"eth1\"}'}\n";
}

std::string pod(const std::string& networks) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ai, annotations: {k8s.v1.cni.cncf.io/networks: \"" +
         networks + "\"}}\nspec: {containers: [{name: c, image: i}]}\n";
}

Report report_of(const Files& files) {
  std::vector<doc::SourcePtr> sources;
  for (const auto& [name, content] : files)
    sources.push_back(std::make_shared<const doc::Source>(doc::Source{name, content}));
  Settings settings;
  settings.object_states = true;
  return check(sources, {}, settings);
}

// "id file" of what is new, with the notes that name a cause.
std::string new_findings(const Files& before, const Files& now) {
  Report report = report_of(now);
  keep_what_is_new(report_of(before), "main", report);
  std::string out;
  for (const doc::Diagnostic& finding : report.findings.all()) {
    out += fmt::format("{} {}\n", finding.id, finding.span.source->name);
    for (const auto& note : finding.notes)
      if (note.text.starts_with("caused by")) out += fmt::format("  {} {}\n", note.span.to_string(), note.text);
  }
  return out;
}

TEST(ObjectStates, WhatWasThereBeforeIsNotNew) {
  const Files files = {{"net.yaml", network("a")}, {"pod.yaml", pod("a, b")}};
  EXPECT_EQ(new_findings(files, files), "");
  Files moved = files;
  moved[1].second = "# words\n" + moved[1].second;
  moved[0].first = "networks/net.yaml";
  EXPECT_EQ(new_findings(files, moved), "");
}

TEST(ObjectStates, AFindingInAnUntouchedFileNamesWhatChanged) {
  const Files before = {{"net.yaml", network("a") + "---\n" + network("b")}, {"pod.yaml", pod("a, b")}};
  const Files renamed = {{"net.yaml", network("a") + "---\n" + network("c")}, before[1]};
  EXPECT_EQ(new_findings(before, renamed),
            "RB-POD-001 pod.yaml\n  - caused by NetworkAttachmentDefinition ai/b, which was removed since main\n");
}

TEST(ObjectStates, AFindingOfTheChangedObjectNeedsNoOtherCause) {
  const Files before = {{"net.yaml", network("a")}, {"pod.yaml", pod("a")}};
  const Files now = {before[0], {"pod.yaml", pod("a, b")}};
  EXPECT_EQ(new_findings(before, now), "RB-POD-001 pod.yaml\n");
}

}  // namespace
}  // namespace railbed::check
