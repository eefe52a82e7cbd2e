// SPDX-License-Identifier: Apache-2.0
#include "check/project/project_file.h"

#include <gtest/gtest.h>

#include "check/project/policy.h"
#include "doc/json.h"

namespace railbed::check {
namespace {

doc::SourcePtr source_of(const std::string& text, const std::string& name = "railbed.yaml") {
  return std::make_shared<const doc::Source>(doc::Source{name, text});
}

// The project as JSON; "no project", or the messages.
std::string read(const std::string& text) {
  doc::Diagnostics problems;
  const auto project = read_project_file(source_of(text), problems);
  if (project && problems.all().empty()) return doc::to_json(to_value(*project));
  std::string out = problems.all().empty() ? "no project" : "";
  for (const doc::Diagnostic& one : problems.all())
    out += fmt::format("{}: {} [{}]{}\n", one.span.to_string(), one.message, one.id,
                       one.fix.empty() ? "" : " fix: " + one.fix);
  return out;
}

constexpr const char* kWhole =
    "apiVersion: railbed.dev/v1\n"
    "kind: CheckProject\n"
    "exclude: [charts/*/ci, \"*.tmpl.yaml\"]\n"
    "class: {\"docs/**\": page, test/: fixture}\n"
    "ignore:\n"
    "  legacy/:\n"
    "    ids: [RB-RES-001, rb-label]\n"
    "    reason: set up by Terraform\n"
    "  old.yaml: [RB-MTU-001]\n"
    "severity: {RB-ADDR-002: note, RB-MTU: warning, RB-CMD-004: off}\n"
    "cluster-networks: [10.128.0.0/14, \"fd00::/48\"]\n"
    "resource-prefix: nvidia.com\n"
    "environments: [clusters/a/, ./clusters/b]\n";

TEST(ProjectFile, IsReadAsAWhole) {
  EXPECT_EQ(read(kWhole),
            R"({"apiVersion":"railbed.dev/v1","kind":"CheckProject","exclude":["charts/*/ci","*.tmpl.yaml"],)"
            R"("class":{"docs/**":"page","test/":"fixture"},"ignore":{"legacy/":{"ids":["RB-RES-001","rb-label"],)"
            R"("reason":"set up by Terraform"},"old.yaml":{"ids":["RB-MTU-001"]}},"severity":{"RB-ADDR-002":"note",)"
            R"("RB-MTU":"warning","RB-CMD-004":"off"},"cluster-networks":["10.128.0.0/14","fd00::/48"],)"
            R"("resource-prefix":"nvidia.com","environments":["clusters/a","clusters/b"]})");
}

TEST(ProjectFile, IsKnownByItsKindOrByItsKeysAlone) {
  EXPECT_NE(read("kind: CheckProject\n"), "no project");
  EXPECT_NE(read("exclude: [a]\n"), "no project");
  EXPECT_EQ(read("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nexclude: [a]\n"), "no project");
  EXPECT_EQ(read("apiVersion: railbed.dev/v1\nkind: NodeFacts\nignore: {}\n"), "no project");
  EXPECT_EQ(read("apiVersion: example.com/v1\nignore: {}\n"), "no project");
  EXPECT_EQ(read("replicas: 3\nimage: a\n"), "no project");
  EXPECT_EQ(read("- exclude: [a]\n"), "no project");
  EXPECT_EQ(read(""), "no project");
  EXPECT_EQ(read("apiVersion: v1\nkind: Pod\nmetadata: [\n"), "no project");
  EXPECT_EQ(read("a: [\n"), "no project");
}

TEST(ProjectFile, SaysWhatIsWrongAndWhere) {
  const std::pair<std::string, std::string> cases[] = {
      {"exclude: [a]\nexlude: [b]\n",
       "railbed.yaml:2:1: 'exlude' is not a field of this object; it has no effect [RB-PROJECT-001] fix: did you mean "
       "'exclude'?\n"},
      {"exclude: a\n",
       "railbed.yaml:1:10: exclude must be a list, found a string a [RB-PROJECT-002] fix: exclude: [a]\n"},
      {"exclude: [1]\n",
       "railbed.yaml:1:11: exclude[0] must be a string, found an integer 1 [RB-PROJECT-002] fix: put it in quotes: \"1\"\n"},
      {"exclude: [/]\n", "railbed.yaml:1:11: an empty pattern fits no file [RB-PROJECT-002]\n"},
      {"class: {a: pages}\n",
       "railbed.yaml:1:12: class.a must be \"manifest\", \"template\", \"fixture\" or \"page\", found \"pages\" "
       "[RB-PROJECT-002] fix: a: page\n"},
      {"severity: {RB-MTU: 1}\n",
       "railbed.yaml:1:20: severity.RB-MTU must be \"off\", \"note\", \"warning\" or \"error\" [RB-PROJECT-002]\n"},
      {"severity: {RB-MTX: note}\n",
       "railbed.yaml:1:12: unknown rule RB-MTX [RB-PROJECT-002] fix: did you mean RB-MTU?\n"},
      {"ignore: {a: RB-MTU}\n",
       "railbed.yaml:1:13: ignore.a must be a list of ids, or an object with ids and a reason [RB-PROJECT-002] fix: a: "
       "{ids: [RB-RES-001], reason: why that is right here}\n"},
      {"ignore: {a: {reason: b}}\n", "railbed.yaml:1:13: ignore.a.ids is missing [RB-PROJECT-002]\n"},
      {"ignore: {a: []}\n", "railbed.yaml:1:13: ignore.a has no rule [RB-PROJECT-002]\n"},
      {"ignore: {a: [RB-FROBNICATE-001]}\n",
       "railbed.yaml:1:14: unknown rule RB-FROBNICATE-001 [RB-PROJECT-002] fix: railbed explain --list shows the rules\n"},
      {"environments: [../b]\n",
       "railbed.yaml:1:16: environments[0] must be a folder below the one of this file, found \"../b\" [RB-PROJECT-002]\n"},
      {"apiVersion: railbed.dev/v2\nkind: CheckProject\n",
       "railbed.yaml:1:13: apiVersion must be \"railbed.dev/v1\", found \"railbed.dev/v2\" [RB-PROJECT-002]\n"},
      {"kind: CheckProject\n---\nkind: CheckProject\n",
       "railbed.yaml:3:1: a project file has one document; this is a second one [RB-PROJECT-002]\n"},
  };
  for (const auto& [text, wanted] : cases) EXPECT_EQ(read(text), wanted) << text;
  EXPECT_NE(read("cluster-networks: [10.0.0.0]\n").find("railbed.yaml:1:20: cluster-networks[0]: "), std::string::npos)
      << read("cluster-networks: [10.0.0.0]\n");
  EXPECT_NE(read("exclude: [a\nseverity: {}\n").find("[RB-YAML-"), std::string::npos) << "it is a broken project file";
}

ProjectFile whole() {
  doc::Diagnostics problems;
  return *read_project_file(source_of(kWhole), problems);
}

TEST(ProjectFile, AnswersForPathsAndRules) {
  const ProjectFile project = whole();
  EXPECT_TRUE(project.excludes("charts/a/ci/values.yaml"));
  EXPECT_TRUE(project.excludes("x/a.tmpl.yaml"));
  EXPECT_FALSE(project.excludes("charts/a/values.yaml"));
  EXPECT_EQ(project.class_of("docs/a/b.yaml"), GivenClass::kPage);
  EXPECT_EQ(project.class_of("x/test/a.yaml"), GivenClass::kFixture);
  EXPECT_EQ(project.class_of("a.yaml"), std::nullopt);
  EXPECT_EQ(project.severity_of("RB-MTU-003"), SetSeverity::kWarning);
  EXPECT_EQ(project.severity_of("RB-CMD-004"), SetSeverity::kOff);
  EXPECT_EQ(project.severity_of("RB-CMD-005"), std::nullopt);
  EXPECT_EQ(project.environment_of("clusters/b/x/a.yaml"), 1u);
  EXPECT_EQ(project.environment_of("clusters/bc/a.yaml"), std::nullopt);
}

TEST(ProjectFile, TheLongerNameOfARuleAndTheLastPatternPrevail) {
  doc::Diagnostics problems;
  const auto project = read_project_file(
      source_of("severity: {RB-MTU-001: error, RB-MTU: off}\nclass: {a/: page, a/b/: manifest}\n"), problems);
  ASSERT_TRUE(project);
  EXPECT_EQ(project->severity_of("RB-MTU-001"), SetSeverity::kError);
  EXPECT_EQ(project->severity_of("RB-MTU-002"), SetSeverity::kOff);
  EXPECT_EQ(project->class_of("a/b/c.yaml"), GivenClass::kManifest);
  EXPECT_EQ(project->class_of("a/c.yaml"), GivenClass::kPage);
}

// A policy with that project for files below "repo/".
Policy policy_for(const std::vector<std::string>& files) {
  Policy policy{.projects = {whole()}, .places = {}, .select = {}, .ignore = {}};
  for (const std::string& file : files) policy.places["repo/" + file] = {.project = 0, .path = file};
  return policy;
}

doc::Diagnostic error_in(const std::string& name, const std::string& id) {
  doc::Diagnostics all;
  return all.error(id, {source_of("a: 1\n", name), 1, 1, 1, 0}, "wrong");
}

TEST(Policy, IgnoresAndSeveritiesAreOfTheFilesOfTheProject) {
  const Policy policy = policy_for({"legacy/a.yaml", "old.yaml", "new.yaml"});
  doc::Diagnostic finding = error_in("repo/legacy/a.yaml", "RB-LABEL-003");
  const Verdict ignored = judged(policy, finding);
  EXPECT_EQ(ignored.what, Verdict::What::kIgnored);
  EXPECT_EQ(ignored.reason, "set up by Terraform");
  EXPECT_EQ(ignored.by, (IgnoreEntry{0, 0, 1}));
  finding = error_in("repo/new.yaml", "RB-LABEL-003");
  EXPECT_EQ(judged(policy, finding).what, Verdict::What::kShown);
  finding = error_in("repo/new.yaml", "RB-CMD-004");
  EXPECT_EQ(judged(policy, finding).what, Verdict::What::kOff);
  finding = error_in("elsewhere/new.yaml", "RB-CMD-004");
  EXPECT_EQ(judged(policy, finding).what, Verdict::What::kShown);
  finding = error_in("repo/new.yaml", "RB-ADDR-002");
  EXPECT_EQ(judged(policy, finding).what, Verdict::What::kShown);
  EXPECT_EQ(finding.severity, doc::Severity::kNote);
  EXPECT_EQ(finding.why, "railbed.yaml sets this severity");
}

TEST(Policy, SelectAndIgnoreTakeIdsAndFamilies) {
  Policy policy = policy_for({"new.yaml"});
  policy.select = {"RB-RES", "rb-mtu-001"};
  policy.ignore = {"RB-RES-002"};
  const auto what = [&](const std::string& id) {
    doc::Diagnostic finding = error_in("repo/new.yaml", id);
    return judged(policy, finding).what;
  };
  EXPECT_EQ(what("RB-RES-001"), Verdict::What::kShown);
  EXPECT_EQ(what("RB-RES-002"), Verdict::What::kOff);
  EXPECT_EQ(what("RB-MTU-001"), Verdict::What::kShown);
  EXPECT_EQ(what("RB-MTU-002"), Verdict::What::kOff);
  EXPECT_EQ(what("RB-RESX-001"), Verdict::What::kOff);
}

TEST(Policy, ReportsWhatItsProjectsDoNotNeed) {
  const Policy policy = policy_for({"legacy/a.yaml", "clusters/a/b.yaml"});
  const auto unused = [&](const std::set<IgnoreEntry>& used, const std::set<size_t>& of) {
    doc::Diagnostics out;
    report_unused(policy, used, of, out);
    std::string text;
    for (const auto& one : out.all()) text += fmt::format("{}: {} {}\n", one.span.line, one.id, one.message);
    return text;
  };
  EXPECT_EQ(unused({{0, 0, 0}, {0, 1, 0}}, {0}),
            "13: RB-PROJECT-003 no file was read from the environment clusters/b\n"
            "7: RB-IGNORE-001 rb-label reports nothing in legacy/ that could be ignored\n"
            "9: RB-IGNORE-002 no reason is given\n");
  EXPECT_EQ(unused({}, {}), "") << "the run has not read all of the project";
}

}  // namespace
}  // namespace railbed::check
