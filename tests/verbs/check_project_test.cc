// SPDX-License-Identifier: Apache-2.0
// railbed check in a repository: project files, what is skipped, baselines, --since, fixes, outputs, exit statuses.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testdata.h"
#include "json_schema.h"
#include "run_verb.h"

namespace railbed {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// One error, with a safe fix.
std::string policy(const std::string& name) {
  return "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\nmetadata: {name: " + name +
         ", namespace: sriov-network-operator}\nspec:\n  resourceName: " + name +
         "\n  nodeSelector: {node-role.kubernetes.io/worker: \"\"}\n  numVfs: \"8\"\n  mtu: 9000\n"
         "  nicSelector: {vendor: \"15b3\", deviceID: \"101d\", pfNames: [ens1f0np0]}\n";
}

std::string network(const std::string& name, const std::string& ns = "ai") {
  return "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: " + name +
         ", namespace: " + ns +
         "}\nspec: {config: '{\"cniVersion\": \"0.3.1\", \"type\": \"macvlan\", \"master\": \"eth1\"}'}\n";
}

std::string pod(const std::string& networks) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ai, annotations: {k8s.v1.cni.cncf.io/networks: " +
         networks + "}}\nspec: {containers: [{name: c, image: i}]}\n";
}

struct ProjectRun {
  int status;
  std::string output;
  std::string errors;
};

class CheckProject : public testing::Test {
 protected:
  CheckProject() {
    std::string name = testing::TempDir() + "railbed-project-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~CheckProject() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string text_of(const std::string& name) const { return content(folder_ / name); }
  std::string below(const std::string& name) const { return (folder_ / name).string(); }
  std::string plain(std::string text) const {
    const std::string path = folder_.string();
    for (size_t at; (at = text.find(path)) != std::string::npos;) text.replace(at, path.size(), "TMP");
    return text;
  }
  ProjectRun run(const std::string& program, const std::vector<std::string>& arguments) const {
    auto ran = os::real_processes()->run({.program = program,
                                          .arguments = arguments,
                                          .environment = {"PATH=/usr/bin:/bin", "HOME=" + folder_.string(), "LC_ALL=C"},
                                          .input = "",
                                          .deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60)});
    EXPECT_TRUE(ran) << ran.error().to_string();
    return ran ? ProjectRun{ran->exit_status, plain(ran->output), plain(ran->errors)} : ProjectRun{-1, "", ""};
  }
  ProjectRun check(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "check");
    return run(RAILBED_PROGRAM, arguments);
  }
  // The files that a check of the folder has findings in, one a line.
  std::string files_with_findings(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"-o", "json"});
    std::set<std::string> files;
    const doc::Value report = parsed(check(std::move(arguments)).output);
    if (const doc::Value* findings = report.find("findings"))
      for (const doc::Value& one : *findings->as_array())
        if (one.find("file") != nullptr) files.insert(*one.find("file")->as_string());
    std::string out;
    for (const std::string& file : files) out += file + "\n";
    return out;
  }
  void git(std::vector<std::string> words) const {
    words.insert(words.begin(), {"-C", folder_.string(), "-c", "user.name=a", "-c", "user.email=a@example.com", "-c",
                                 "init.defaultBranch=main"});
    const ProjectRun ran = run("/usr/bin/git", words);
    EXPECT_EQ(ran.status, 0) << ran.errors;
  }
  void commit() const {
    git({"add", "-A", "-f"});
    git({"commit", "-q", "-m", "x"});
  }

  fs::path folder_;
};

// --- project files

TEST_F(CheckProject, AProjectFileIsFoundAboveAndItsPatternsBeginThere) {
  write("railbed.yaml", "kind: CheckProject\nexclude: [/deploy/old/]\nclass: {test/: fixture}\n");
  write("deploy/a.yaml", policy("a"));
  write("deploy/old/b.yaml", policy("b"));
  write("deploy/test/c.yaml", policy("c"));
  EXPECT_EQ(files_with_findings({below("deploy")}), "TMP/deploy/a.yaml\nTMP/deploy/test/c.yaml\n");
  EXPECT_EQ(check({below("deploy/test")}).status, 0) << "a fixture gives no error";
  EXPECT_EQ(check({below("deploy/old/b.yaml")}).status, 2) << "a file that is named is read";
}

TEST_F(CheckProject, AManifestOfThisNameIsNoProjectFile) {
  write("railbed.yaml", "kind: CheckProject\nseverity: {RB-API-004: note}\n");
  write("a/railbed.yaml", policy("a"));
  const ProjectRun ran = check({"-q", below("a")});
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("TMP/a/railbed.yaml:7:11: note: spec.numVfs must be an integer"));
}

TEST_F(CheckProject, ABadProjectFileEndsTheRun) {
  write("railbed.yaml", "exclude: [a]\nseverity: {RB-API-04: note}\nexlude: []\n");
  write("a.yaml", policy("a"));
  const ProjectRun ran = check({below("a.yaml")});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.output, IsEmpty());
  EXPECT_THAT(ran.errors, HasSubstr("railbed.yaml:2:12: error: unknown rule RB-API-04 [RB-PROJECT-002]"));
  EXPECT_THAT(ran.errors, HasSubstr("railbed.yaml:3:1: error: 'exlude' is not a field of this object"));
}

TEST_F(CheckProject, TheSearchEndsAtTheRepository) {
  write("railbed.yaml", "kind: CheckProject\nseverity: {RB-API-004: off}\n");
  write("repo/a.yaml", policy("a"));
  EXPECT_EQ(check({below("repo/a.yaml")}).status, 0);
  fs::create_directories(folder_ / "repo/.git");
  EXPECT_EQ(check({below("repo/a.yaml")}).status, 2);
}

TEST_F(CheckProject, WhatItIgnoresIsCountedAndWhatItNeedNotIgnoreIsReported) {
  write("railbed.yaml", "ignore:\n  a.yaml: {ids: [RB-API-004, RB-MTU-001], reason: old}\n  b.yaml: [RB-API]\n");
  write("a.yaml", policy("a"));
  write("b.yaml", policy("b"));
  const ProjectRun ran = check({folder_.string()});
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("RB-MTU-001 reports nothing in a.yaml that could be ignored [RB-IGNORE-001]"));
  EXPECT_THAT(ran.output, HasSubstr("railbed.yaml:3:3: warning: no reason is given [RB-IGNORE-002]"));
  EXPECT_THAT(ran.output, HasSubstr("; 2 ignored by the project file\n"));
  EXPECT_THAT(check({below("a.yaml")}).output, Not(HasSubstr("RB-MTU-001")))
      << "the others of the project are not read";
}

TEST_F(CheckProject, EnvironmentsAreCheckedEachWithWhatBelongsToNone) {
  write("railbed.yaml", "environments: [clusters/a, clusters/b]\n");
  write("clusters/a/net.yaml", network("rail0"));
  write("clusters/b/net.yaml", network("rail1"));
  write("base/pod.yaml", pod("rail0"));
  const ProjectRun ran = check({folder_.string()});
  EXPECT_THAT(ran.output, HasSubstr("each of 2 environments was checked separately"));
  EXPECT_THAT(ran.output, HasSubstr("RB-POD-001")) << "environment b has no rail0";
  EXPECT_THAT(ran.output, HasSubstr(" in 3 objects")) << "the pod is counted once";
  write("clusters/b/net.yaml", network("rail0"));
  EXPECT_THAT(check({folder_.string()}).output, Not(HasSubstr("RB-POD-001")));
}

TEST_F(CheckProject, ShowConfigPrintsWhatIsInEffect) {
  write("railbed.yaml", "exclude: [x]\nresource-prefix: nvidia.com\ncluster-networks: [10.0.0.0/8]\n");
  write("a.yaml", policy("a"));
  const ProjectRun ran = check({folder_.string(), "--show-config", "--ignore", "RB-MTU", "--strict"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  for (const char* line : {"resourcePrefix: nvidia.com\n", "- 10.0.0.0/8\n", "- RB-MTU\n", "failOn: warning\n",
                           "- vendor\n", "- x\n", "kind: CheckConfig\n"})
    EXPECT_THAT(ran.output, HasSubstr(line));
  write("b/railbed.yaml", "resource-prefix: other.com\n");
  write("b/c.yaml", policy("c"));
  EXPECT_THAT(check({folder_.string()}).errors, HasSubstr("set different resource-prefix"));
}

// --- rules that are wanted

TEST_F(CheckProject, SelectAndIgnoreTakeIdsAndFamilies) {
  write("a.yaml", policy("a") + "---\n" + pod("nowhere"));
  const auto ids = [&](std::vector<std::string> arguments) {
    arguments.push_back(below("a.yaml"));
    const ProjectRun ran = check(std::move(arguments));
    return std::to_string(ran.status) + (ran.output.find("RB-API-004") != std::string::npos ? " api" : "");
  };
  EXPECT_EQ(ids({}), "2 api");
  EXPECT_EQ(ids({"--ignore", "RB-API-004"}), "0");
  EXPECT_EQ(ids({"--ignore", "RB-POD,RB-API"}), "0");
  EXPECT_EQ(ids({"--select", "rb-api"}), "2 api");
  EXPECT_EQ(ids({"--select", "RB-POD"}), "0");
  EXPECT_THAT(check({"--select", "RB-APY", below("a.yaml")}).errors,
              HasSubstr("railbed: unknown rule \"RB-APY\"\n  did you mean RB-API?\n"));
}

TEST_F(CheckProject, FailOnSaysWhatCounts) {
  write("a.yaml", policy("a"));
  write("railbed.yaml", "severity: {RB-API-004: warning}\n");
  EXPECT_EQ(check({below("a.yaml")}).status, 0);
  EXPECT_EQ(check({"--fail-on", "warning", below("a.yaml")}).status, 2);
  EXPECT_EQ(check({"--strict", below("a.yaml")}).status, 2);
  write("railbed.yaml", "severity: {}\n");
  EXPECT_EQ(check({below("a.yaml")}).status, 2);
  EXPECT_EQ(check({"--fail-on", "never", below("a.yaml")}).status, 0);
}

// --- what is read

TEST_F(CheckProject, WhatIsNotTheRepositorysOwnIsSkipped) {
  for (const char* folder : {"vendor/x", "node_modules", ".terraform", ".git", "deploy"})
    write(std::string(folder) + "/a.yaml", policy("a"));
  EXPECT_EQ(files_with_findings({folder_.string()}), "TMP/deploy/a.yaml\n");
  EXPECT_EQ(files_with_findings({below("vendor")}), "TMP/vendor/x/a.yaml\n") << "a folder that is named is read";
  EXPECT_THAT(check({folder_.string()}).output,
              HasSubstr("not read: TMP/.terraform and 2 more (not the repository's own: skipped by default"));
}

TEST_F(CheckProject, WhatGitIgnoresIsSkippedUnlessItIsTracked) {
  if (!fs::exists("/usr/bin/git")) GTEST_SKIP() << "no git";
  git({"init", "-q"});
  write(".gitignore", "/build/\n*.local.yaml\n!keep.local.yaml\n");
  write("deploy/.gitignore", "gen/**/x.yaml\n");
  write("deploy/a.yaml", policy("a"));
  write("deploy/tracked.local.yaml", policy("t"));
  write("build/tracked/b.yaml", policy("b"));
  commit();
  write("deploy/b.local.yaml", policy("b"));
  write("deploy/keep.local.yaml", policy("k"));
  write("deploy/gen/1/x.yaml", policy("x"));
  write("deploy/gen/1/y.yaml", policy("y"));
  write("build/c.yaml", policy("c"));
  write(".git/info/exclude", "secret.yaml\n");
  write("deploy/secret.yaml", policy("s"));
  EXPECT_EQ(files_with_findings({folder_.string(), "--each"}),
            "TMP/build/tracked/b.yaml\nTMP/deploy/a.yaml\nTMP/deploy/gen/1/y.yaml\nTMP/deploy/keep.local.yaml\n"
            "TMP/deploy/tracked.local.yaml\n");
  EXPECT_EQ(files_with_findings({below("build"), "--each"}), "TMP/build/c.yaml\nTMP/build/tracked/b.yaml\n");
  EXPECT_EQ(files_with_findings({below("deploy/secret.yaml")}), "TMP/deploy/secret.yaml\n");
}

TEST_F(CheckProject, OtherLanguagesBesideManifestsAreNamed) {
  write("a.yaml", policy("a"));
  write("nets.jsonnet", "{ kind: 'SriovNetwork' }\n");
  write("unrelated.tf", "resource \"aws_instance\" \"a\" {}\n");
  const ProjectRun ran = check({folder_.string()});
  EXPECT_THAT(ran.output, HasSubstr("not read: TMP/nets.jsonnet (a file of Jsonnet"));
  EXPECT_THAT(ran.output, Not(HasSubstr("unrelated")));
}

TEST_F(CheckProject, WithoutAManifestTheRunFails) {
  write("t.txt", "hello\n");
  const ProjectRun ran = check({below("t.txt")});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.errors, "railbed: no manifest found in TMP/t.txt\n");
}

TEST_F(CheckProject, RequireReadTakesANumberOrAPattern) {
  write("clusters/a/p.yaml", network("a"));
  write("clusters/b/p.yaml", "replicas: 3\n");
  EXPECT_EQ(check({folder_.string(), "--require-read", "1"}).status, 0);
  const ProjectRun few = check({folder_.string(), "--require-read", "2"});
  EXPECT_EQ(few.status, 1);
  EXPECT_EQ(few.errors, "railbed: 1 objects were read, --require-read requires 2\n");
  EXPECT_EQ(check({folder_.string(), "--require-read", "clusters/a/*"}).status, 1) << "it begins at the project's root";
  EXPECT_EQ(check({folder_.string(), "--require-read", "a/*.yaml", "--require-read", "p.yaml"}).status, 1);
  EXPECT_EQ(check({folder_.string(), "--require-read", "p.yaml"}).status, 0);
  EXPECT_EQ(check({folder_.string(), "--require-read", "**/clusters/b/*"}).status, 1);
}

// --- exit statuses

TEST_F(CheckProject, WhatIsFoundComesBeforeWhatIsNotRead) {
  write("a.yaml", policy("a"));
  write("chart/Chart.yaml", "apiVersion: v2\nname: x\n");
  const ProjectRun ran = check({"--render", folder_.string()});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.errors, HasSubstr("there is no helm in PATH"));
  EXPECT_EQ(check({"--render", "--ignore", "RB-API-004", folder_.string()}).status, 1);
  const doc::Value report = parsed(check({"--render", "-o", "json", folder_.string()}).output);
  EXPECT_EQ(report.find("incomplete")->as_array()->size(), 1u);
}

// --- baseline and --since

TEST_F(CheckProject, ABaselineAcceptsWhatIsThere) {
  write("a.yaml", policy("a"));
  const std::string file = below("baseline.json");
  const ProjectRun written = check({folder_.string(), "--write-baseline", file});
  EXPECT_EQ(written.status, 0) << written.output << written.errors;
  EXPECT_THAT(JsonSchema(parsed(content(fs::path(source_dir()) / "docs/schemas/CheckBaseline.json")))
                  .problems(parsed(text_of("baseline.json"))),
              IsEmpty());
  write("a.yaml", "# moved\n" + policy("a"));
  ProjectRun ran = check({folder_.string(), "--baseline", file});
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("finding"));
  EXPECT_THAT(ran.output, HasSubstr(" known before"));
  write("b.yaml", policy("b"));
  ran = check({folder_.string(), "--baseline", file});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.output, Not(HasSubstr("a.yaml:8")));
  fs::remove(folder_ / "a.yaml");
  EXPECT_THAT(check({folder_.string(), "--baseline", file}).output, HasSubstr("of the baseline not found any more"));
  write("baseline.json", "{}");
  ran = check({folder_.string(), "--baseline", file});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.errors, HasSubstr("TMP/baseline.json:1:1: apiVersion is missing"));
}

TEST_F(CheckProject, SinceACommitOnlyWhatIsNewIsReportedWithItsCause) {
  if (!fs::exists("/usr/bin/git")) GTEST_SKIP() << "no git";
  git({"init", "-q"});
  write("deploy/net.yaml", network("rail0") + "---\n" + network("rail1"));
  write("deploy/pod.yaml", pod("\"rail0, rail1\""));
  write("deploy/old.yaml", policy("old"));
  commit();
  write("deploy/net.yaml", network("rail0"));
  const ProjectRun ran = check({below("deploy"), "--since", "HEAD"});
  EXPECT_THAT(ran.output, HasSubstr("TMP/deploy/pod.yaml:3:"));
  EXPECT_THAT(ran.output, HasSubstr("caused by NetworkAttachmentDefinition ai/rail1, which was removed since HEAD"));
  EXPECT_THAT(ran.output, Not(HasSubstr("old.yaml")));
  EXPECT_THAT(ran.output, HasSubstr("known before"));
  EXPECT_THAT(text_of("deploy/net.yaml"), Not(HasSubstr("rail1"))) << "the working tree stays as it is";
  commit();
  EXPECT_EQ(check({below("deploy"), "--since", "HEAD"}).status, 0);
  EXPECT_THAT(check({below("deploy"), "--since", "HEAD~1"}).output, HasSubstr("since HEAD~1"));
}

TEST_F(CheckProject, SinceNeedsARepositoryAndACommit) {
  if (!fs::exists("/usr/bin/git")) GTEST_SKIP() << "no git";
  write("a.yaml", policy("a"));
  ProjectRun ran = check({below("a.yaml"), "--since", "HEAD"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.errors, "railbed: --since: TMP/a.yaml is in no git repository\n");
  git({"init", "-q"});
  ran = check({below("a.yaml"), "--since", "--output=x"});
  EXPECT_EQ(ran.status, 1);
  ran = check({below("a.yaml"), "--since=--output=x"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(
      ran.errors,
      "railbed: TMP: no commit \"--output=x\"\n  a shallow clone has the last commits only: git fetch --unshallow\n");
  EXPECT_EQ(check({"-", "--since", "HEAD"}).status, 1);
}

// --- fixes

TEST_F(CheckProject, FixDiffShowsAndChangesNothing) {
  write("a.yaml", policy("a"));
  const ProjectRun ran = check({"--fix", "--diff", below("a.yaml")});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.output, HasSubstr("-  numVfs: \"8\"\n+  numVfs: 8\n"));
  EXPECT_THAT(ran.output, Not(HasSubstr("error")));
  EXPECT_EQ(text_of("a.yaml"), policy("a"));
  EXPECT_EQ(check({"--fix", below("a.yaml")}).status, 0);
  EXPECT_THAT(text_of("a.yaml"), HasSubstr("numVfs: 8\n"));
  const ProjectRun clean = check({"--fix", "--diff", below("a.yaml")});
  EXPECT_EQ(clean.status, 0);
  EXPECT_THAT(clean.output, IsEmpty());
  EXPECT_EQ(check({"--diff", below("a.yaml")}).errors, "railbed check: --diff shows what --fix would do; give both\n");
}

TEST_F(CheckProject, APageIsFixedOnlyOnRequest) {
  const std::string page = "# Rails\n\n```yaml\n" + policy("a") + "```\n";
  write("a.md", page);
  EXPECT_EQ(check({"--fix", below("a.md")}).status, 2);
  EXPECT_EQ(text_of("a.md"), page);
  EXPECT_EQ(check({"--fix=suggested", below("a.md")}).status, 0);
  EXPECT_THAT(text_of("a.md"), HasSubstr("numVfs: 8\n"));
  EXPECT_EQ(check({"--fix=all", below("a.md")}).errors,
            "railbed check: --fix: all not in {safe,suggested}\n  run `railbed check --help` for details\n");
}

TEST_F(CheckProject, WhatIsIgnoredIsNotFixed) {
  write("a.yaml", policy("a"));
  check({"--fix", "--ignore", "RB-API-004", below("a.yaml")});
  EXPECT_EQ(text_of("a.yaml"), policy("a"));
}

// --- outputs

TEST_F(CheckProject, OneRunWritesSeveralFormats) {
  write("a.yaml", policy("a"));
  const std::string sarif = below("out/a.sarif");
  fs::create_directories(folder_ / "out");
  const ProjectRun ran =
      check({"-o", "github", "-o", "sarif=" + sarif, "-o", "json=" + below("out/a.json"), below("a.yaml")});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.output, testing::StartsWith("::error file=TMP/a.yaml,line=7,"));
  EXPECT_NE(parsed(text_of("out/a.sarif")).find("runs"), nullptr);
  EXPECT_NE(parsed(text_of("out/a.json")).find("findings"), nullptr);
  EXPECT_EQ(
      check({"-o", "json", "-o", "github", below("a.yaml")}).errors,
      "railbed: -o json and -o github both go to standard output\n  write one of them to a file: -o github=FILE\n");
  EXPECT_THAT(check({"-o", "jsn=x", below("a.yaml")}).errors, HasSubstr("jsn=x not in {text,"));
  EXPECT_THAT(check({"-o", "json=", below("a.yaml")}).errors, HasSubstr("json= not in {text,"));
  EXPECT_EQ(check({"-o", "json=/nowhere/a", below("a.yaml")}).status, 1);
}

TEST_F(CheckProject, GithubGetsErrorsFirst) {
  write("a.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: i, foo: 1}]}\n");
  write("b.yaml", policy("b"));
  const std::string output = check({"-o", "github", folder_.string()}).output;
  EXPECT_THAT(output, testing::StartsWith("::error "));
  EXPECT_LT(output.rfind("::error "), output.find("::warning "));
}

TEST_F(CheckProject, ExplainSaysHowFarARuleHasCome) {
  EXPECT_THAT(run(RAILBED_PROGRAM, {"explain", "RB-ADDR-001"}).output,
              HasSubstr("\n\nstable since 0.1\n\n(docs/check/"));
}

}  // namespace
}  // namespace railbed
