// SPDX-License-Identifier: Apache-2.0
// What findings say of themselves, over all cases of testdata/check: nothing that folds, drops or repairs looks at an
// id or at words, so a maker that forgets to say what its finding is makes those blind. Here ids may be compared.
#include "check/findings/subjects.h"

#include <gtest/gtest.h>

#include "check/case_files.h"
#include "check/findings/fold.h"
#include "check/findings/output.h"
#include "check/read/objects.h"
#include "doc/yaml.h"

namespace railbed::check {
namespace {

using doc::Layer;
using doc::Says;

bool is_of(const doc::Diagnostic& finding, std::initializer_list<std::string_view> families) {
  return std::ranges::any_of(families, [&](std::string_view family) { return finding.id.starts_with(family); });
}

Layer expected_layer(const doc::Diagnostic& finding) {
  if (is_of(finding, {"RB-YAML-", "RB-JSON-"})) return Layer::kText;
  if (is_of(finding, {"RB-API-"})) return Layer::kObject;
  // These are about the keys of annotations, and not about the text that is their value.
  if (is_of(finding, {"RB-ANN-007", "RB-ANN-008"})) return Layer::kMeaning;
  return is_of(finding, {"RB-CNI-", "RB-IPAM-", "RB-ANN-"}) ? Layer::kEmbedded : Layer::kMeaning;
}

// An object that cannot be read is no part of the one before it.
TEST(SubjectsTest, AnErrorOfYamlIsNotOfTheObjectBefore) {
  const auto subject = [](const std::string& text) {
    const Report report = testing_cases::report_of("a.yaml", text);
    for (const doc::Diagnostic& one : report.findings.all())
      if (one.layer == Layer::kText) return one.subject.kind;
    return std::string("none");
  };
  const std::string secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {A: b}\n";
  EXPECT_EQ(subject(secret + "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\nspec:\n  a: \"\\$\"\n"),
            "");
  EXPECT_EQ(subject(secret + "---\nkind: Deployment\nspec:\n  a: \"\\$\"\n"), "");
  EXPECT_EQ(subject(secret + "kind: Secret\n"), "Secret") << "a key twice is of the object itself";
  EXPECT_EQ(subject("kind: Secret\n" + secret.substr(0, secret.find("kind")) + "data: {}\ndata: {}\n"), "Secret");
}

TEST(SubjectsTest, EveryFindingSaysWhatItWasMadeOfAndWhatItSays) {
  std::map<Says, int> seen;
  int findings = 0;
  for (const auto& path : testing_cases::files_in(testdata() / "check")) {
    if (path.extension() == ".expected" || path.extension() == ".fixed") continue;
    const Report report = testing_cases::report_of(path.filename().string(), content(path));
    for (const doc::Diagnostic& finding : report.findings.all()) {
      ++findings;
      ++seen[finding.says];
      const std::string about = path.string() + "\n" + doc::render(finding);
      EXPECT_EQ(finding.layer, expected_layer(finding)) << about;
      const bool of_fields = finding.layer == Layer::kObject || finding.layer == Layer::kEmbedded;
      EXPECT_EQ(finding.says == Says::kUnknownField, of_fields && finding.id.ends_with("-002")) << about;
      EXPECT_EQ(finding.says == Says::kMisplacedField, of_fields && finding.id.ends_with("-003")) << about;
      EXPECT_EQ(finding.says == Says::kWrongType, of_fields && finding.id.ends_with("-004")) << about;
      EXPECT_EQ(is_missing(finding), of_fields && finding.id.ends_with("-006")) << about;
      EXPECT_EQ(finding.says == Says::kBadIndentation, finding.id == "RB-YAML-002") << about;
      EXPECT_EQ(finding.says == Says::kMissingNetwork, finding.id == "RB-POD-001") << about;
      EXPECT_EQ(finding.audience, doc::Audience::kEveryone) << about;
      if (finding.says == Says::kMissingField && finding.message.ends_with(" is missing")) {
        EXPECT_EQ(finding.message, finding.subject.field + " is missing");
      }
    }
  }
  EXPECT_GT(findings, 200);
  for (const Says says :
       {Says::kBadIndentation, Says::kPlaceholder, Says::kUnknownKind, Says::kGivenTwice, Says::kUnknownField,
        Says::kMisplacedField, Says::kWrongType, Says::kMissingField, Says::kMisspeltField, Says::kMissingNetwork,
        Says::kMatchesNoNic, Says::kSelectsNoNode, Says::kAboveWebhookLimit})
    EXPECT_GT(seen[says], 0) << static_cast<int>(says);
}

// What no file of testdata/check shows, or shows only to be repaired.
TEST(SubjectsTest, WhatIsSaidOfTexts) {
  struct Case {
    std::string about, spec;
    Layer layer;
    Says says;
    std::string field;
  };
  const Case cases[] = {
      {"dots", "  numVfs: 8\n  ...\n  mtu: 9000\n", Layer::kText, Says::kDots, ""},
      {"a placeholder that YAML reads as a map", "  resourceName: {NAME}/a\n", Layer::kText, Says::kPlaceholder, ""},
      {"a field without a value", "  numVfs:\n", Layer::kObject, Says::kEmptyField, "spec.numVfs"},
      {"a list that is never closed", "  numVfs: [\n", Layer::kText, Says::kOther, ""},
  };
  for (const Case& c : cases) {
    const std::string text =
        "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\n"
        "metadata: {name: a}\nspec:\n" +
        c.spec;
    const Report report = testing_cases::report_of("a.yaml", text);
    const auto found = std::ranges::find_if(report.findings.all(), [&](const doc::Diagnostic& finding) {
      return finding.is(c.layer, c.says) && (c.field.empty() || finding.subject.field == c.field);
    });
    EXPECT_NE(found, report.findings.all().end()) << c.about << "\n" << to_text(report);
  }
}

// A plugin of somebody else's cannot be compared, which is worth a note; `plan` and `up` say more of it.
TEST(SubjectsTest, WhatIsOnlyForOneMachineIsANoteAtMost) {
  const std::string network =
      "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: a}\nspec:\n"
      "  config: '{\"cniVersion\": \"1.0.0\", \"name\": \"a\", \"type\": \"TYPE\"}'\n";
  const auto reported = [&](const std::string& type) {
    std::string text = network;
    text.replace(text.find("TYPE"), 4, type);
    const Report report = testing_cases::report_of("a.yaml", text);
    const auto found = std::ranges::find(report.findings.all(), "RB-CNI-001", &doc::Diagnostic::id);
    return found == report.findings.all().end() ? "" : severity_name(found->severity);
  };
  EXPECT_EQ(reported("somebody-elses"), "note");
  EXPECT_EQ(reported("bridge"), "");
  EXPECT_EQ(reported("tunning"), "warning");
}

constexpr std::string_view kTwoObjects =
    "apiVersion: sriovnetwork.openshift.io/v1\n"
    "kind: SriovNetwork\n"
    "metadata: {name: rail0, namespace: ai}\n"
    "spec:\n"
    "  resourceName: rail0\n"
    "  ipam: '{\"type\": \"static\"}'\n"
    "---\n"
    "kind: Pod\n"
    "metadata: {name: p, labels: {a.b/c: x}}\n"
    "spec:\n"
    "  containers:\n"
    "  - name: one\n"
    "  - name: two\n";

struct TwoObjects : testing::Test {
  doc::SourcePtr source = std::make_shared<doc::Source>(doc::Source{"a.yaml", std::string(kTwoObjects)});
  doc::LineIndex index{source};
  doc::Diagnostics problems;
  Bundle bundle = read_bundle({source}, problems);

  doc::Subject subject_of(const doc::Span& span) const {
    doc::Diagnostics findings;
    findings.error("RB-X-001", span, "x");
    name_subjects(bundle, findings);
    return findings.all()[0].subject;
  }
  std::string at(std::string_view words, size_t length) const {
    return subject_of(index.at(kTwoObjects.find(words), length)).to_string();
  }
};

TEST_F(TwoObjects, APlaceInATextSaysWhichFieldOfWhichObjectItIs) {
  EXPECT_EQ(at("rail0, namespace", 5), "SriovNetwork ai/rail0: metadata.name");
  EXPECT_EQ(at("resourceName", 12), "SriovNetwork ai/rail0: spec.resourceName");
  EXPECT_EQ(at("static", 6), "SriovNetwork ai/rail0: spec.ipam");
  EXPECT_EQ(at("two\n", 3), "Pod p: spec.containers[1].name");
  EXPECT_EQ(at("a.b/c", 5), "Pod p: metadata.labels[a.b/c]");
}

TEST_F(TwoObjects, TheObjectItselfHasNoField) {
  const doc::Subject subject = subject_of(bundle.documents[1].value.span);
  EXPECT_EQ(subject.to_string(), "Pod p");
  EXPECT_EQ(subject.field, "");
}

TEST_F(TwoObjects, WhatTheMakerSaidStays) {
  doc::Diagnostics findings;
  findings.error("RB-X-001", index.at(kTwoObjects.find("static"), 6), "x").about_field("ipam.type");
  name_subjects(bundle, findings);
  EXPECT_EQ(findings.all()[0].subject.to_string(), "SriovNetwork ai/rail0: ipam.type");
}

TEST_F(TwoObjects, APlaceElsewhereIsOfNoObject) {
  const auto other = std::make_shared<doc::Source>(doc::Source{"b.yaml", "x: 1\n"});
  EXPECT_EQ(subject_of({other, 1, 1}).to_string(), "");
  EXPECT_EQ(subject_of({}).to_string(), "");
  EXPECT_EQ(subject_of({source}).to_string(), "");  // of the file, not of an object in it
}

}  // namespace
}  // namespace railbed::check
