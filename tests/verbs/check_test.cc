// SPDX-License-Identifier: Apache-2.0
// railbed check on folders, and with --render. The renderers are small scripts of the test.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "run_verb.h"

namespace railbed {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPolicy =
    "apiVersion: sriovnetwork.openshift.io/v1\n"
    "kind: SriovNetworkNodePolicy\n"
    "metadata: {name: rail0, namespace: sriov-network-operator}\n"
    "spec:\n"
    "  resourceName: rail0\n"
    "  nodeSelector: {node-role.kubernetes.io/worker: \"\"}\n"
    "  numVfs: \"8\"\n"
    "  mtu: 9000\n"
    "  nicSelector: {vendor: \"15b3\", deviceID: \"101d\", pfNames: [ens1f0np0]}\n";
constexpr const char* kNoFacts =
    "not checked, because node facts are missing: 13 rules\n"
    "  give them with --facts: `railbed discover -o yaml` on each node (explain --list names the rules)\n";

// A folder with files, and one with programs, which is all of PATH but for the shell's own.
class CheckFolders : public testing::Test {
 protected:
  CheckFolders() {
    std::string name = testing::TempDir() + "railbed-check-XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = (folder_ / "bin").string();
  }
  ~CheckFolders() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  void program(const std::string& name, const std::string& script) {
    write("bin/" + name, "#!/bin/sh\n" + script);
    fs::permissions(folder_ / "bin" / name, fs::perms::owner_all);
  }
  std::string text_of(const std::string& name) {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // Status, output and errors, without the folder's name. The environment is that of a job with secrets.
  std::string check(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "check");
    const os::RunResult ran =
        run_verb(arguments, {"PATH=" + path_, "GITHUB_TOKEN=secret", "KUBECONFIG=/root/.kube/config", "HOME=/root",
                             "HELM_PLUGINS=/tmp/plugins", "LD_PRELOAD=", "TMPDIR=" + folder_.string()});
    std::string out = std::to_string(ran.exit_status) + "\n" + ran.output + ran.errors;
    const std::string path = folder_.string();
    for (size_t at; (at = out.find(path)) != std::string::npos;) out.replace(at, path.size(), "TMP");
    return out;
  }
  std::string below(const std::string& name) const { return (folder_ / name).string(); }

  fs::path folder_;
  std::string path_ = "set by the constructor";
};

TEST_F(CheckFolders, PagesOfAsciiDocAndTextAreReadAndExcludedOnesAreNot) {
  write("docs/a.adoc", std::string("= Rails\n\n[source,yaml]\n----\n") + kPolicy + "----\n<1> Eight of them.\n");
  write("docs/b.txt", "No manifest.\n");
  write("docs/old/c.adoc", "[source,yaml]\n----\nkind: [\n----\n");
  EXPECT_EQ(check({"-q", "--exclude", "old", below("docs")}),
            "2\n"
            "TMP/docs/a.adoc:11:11: error: spec.numVfs must be an integer, found a string \"8\" [RB-API-004]\n"
            "    11 |   numVfs: \"8\"\n"
            "       |           ^~~\n"
            "  fix: write it without quotes: numVfs: 8\n");
}

TEST_F(CheckFolders, WhatAChartRendersIsCheckedAndNeverRepaired) {
  write("rails/Chart.yaml", "apiVersion: v2\nname: rails\nversion: 1.0.0\n");
  write("rails/templates/policy.yaml", "{{- if .Values.enabled }}\nkind: [\n{{- end }}\n");
  program("helm",
          std::string("[ \"$1\" = template ] && [ \"$2\" = '") + below("rails") +
              "' ] || exit 9\necho \"# nothing but a comment\n---\"\nwhile read -r line; do echo \"$line\"; done "
              "</dev/null\necho '" +
              kPolicy + "'\n");
  const std::string finding =
      "rendered from TMP/rails (document 2):7:11: error: spec.numVfs must be an integer, found a string \"8\" [RB-API-004]\n"
      "     7 |   numVfs: \"8\"\n"
      "       |           ^~~\n"
      "  fix: write it without quotes: numVfs: 8\n";
  EXPECT_EQ(check({"-q", "--render", below("rails")}), "2\n" + finding);
  const std::string before = text_of("rails/templates/policy.yaml");
  EXPECT_EQ(check({"-q", "--render", "--fix", below("rails")}), "2\n" + finding)
      << "there is no diff: nothing was written";
  EXPECT_EQ(text_of("rails/templates/policy.yaml"), before);
  EXPECT_EQ(check({"--render", "-o", "sarif", below("rails")}).find("replacements"), std::string::npos);
  EXPECT_EQ(check({below("rails")}).substr(0, 2), "1\n") << "without --render nothing of it is read";
}

TEST_F(CheckFolders, WhatKubectlMakesOfAnOverlayIsCheckedInsteadOfItsParts) {
  write("k/base/kustomization.yaml", "resources: [policy.yaml]\n");
  write("k/base/policy.yaml", kPolicy);
  write("k/prod/kustomization.yaml", "resources: [../base]\n");
  write("k/pod.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: ai}\n");
  program("kubectl",
          "[ \"$1\" = kustomize ] || exit 9\ncase $2 in */prod) ;; *) exit 8;; esac\n"
          "echo 'apiVersion: v1\nkind: Namespace\nmetadata: {name: prod}'\n");
  EXPECT_EQ(check({"--render", below("k")}),
            std::string("0\n") + kNoFacts + "documents: 2 other\n0 errors, 0 warnings, 0 notes in 2 objects\n");
}

TEST_F(CheckFolders, WhatIsNotRenderedIsReportedAndTheRestIsChecked) {
  write("bad/Chart.yaml", "apiVersion: v2\nname: bad\n");
  write("k/kustomization.yaml", "resources: [ns.yaml]\n");
  write("k/ns.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: ai}\n");
  program("helm", "echo 'Error: chart requires values' >&2\nexit 1\n");
  EXPECT_EQ(check({"--render", below("bad"), below("k")}),
            std::string("1\n") + kNoFacts +
                "documents: 3 other\n0 errors, 0 warnings, 0 notes in 1 object\n"
                "railbed: helm template TMP/bad: ended with exit status 1: Error: chart requires values\n"
                "  try `helm template TMP/bad`; check what it prints: | railbed check -\n"
                "railbed: TMP/k is a kustomization, and there is no kubectl and no kustomize in PATH\n"
                "  install it, or render where it is: kubectl kustomize TMP/k | railbed check -\n");
}

TEST_F(CheckFolders, ARendererGetsNothingOfTheJobsEnvironment) {
  write("rails/Chart.yaml", "apiVersion: v2\nname: rails\n");
  write("rails/bin/helm", "#!/bin/sh\necho stolen\n");
  fs::permissions(folder_ / "rails/bin/helm", fs::perms::owner_all);
  program("helm", "/usr/bin/tr '\\0' '\\n' </proc/$$/environ >'" + below("seen") + "'\nset -- \"$HOME\"/*\n" +
                      "[ -d \"$HOME\" ] && [ ! -e \"$1\" ] && echo empty >>'" + below("seen") + "'\n");
  path_ = "bin:.::" + below("rails/bin") + ":" + below("bin");
  EXPECT_EQ(check({"-q", "--render", below("rails")}), "0\n");
  std::string seen = text_of("seen");
  const size_t home = seen.find("HOME=" + below("railbed-render-"));
  ASSERT_NE(home, std::string::npos) << seen;
  seen.erase(home + 5, below("railbed-render-XXXXXX").size());
  EXPECT_EQ(seen, "PATH=" + below("bin") + "\nHOME=\nHELM_PLUGINS=\nHELM_NO_PLUGINS=1\nempty\n");
  for (const auto& entry : fs::directory_iterator(folder_))
    EXPECT_FALSE(entry.path().filename().string().starts_with("railbed-render-")) << entry.path();
}

TEST_F(CheckFolders, AKustomizationThatFetchesIsRenderedOnlyOnRequest) {
  write("k/base/kustomization.yaml", "resources: [\"https://example.com/rails.yaml\"]\n");
  write("k/prod/kustomization.yaml", "resources: [../base]\n");
  program("kubectl", "echo 'apiVersion: v1\nkind: Namespace\nmetadata: {name: prod}'\n");
  EXPECT_EQ(check({"-q", "--render", below("k")}),
            "1\n"
            "railbed: TMP/k/prod is not rendered: it fetches https://example.com/rails.yaml from another machine\n"
            "  --render-remote allows it, for manifests that you trust\n");
  EXPECT_EQ(check({"-q", "--render", "--render-remote", below("k")}), "0\n");
}

TEST_F(CheckFolders, AKustomizationThatExecutesProgramsIsNotRendered) {
  write("h/kustomization.yaml", "helmCharts: [{name: a, repo: oci://example.com/a}]\n");
  write("t/kustomization.yaml", "transformers: [t.yaml]\n");
  write("t/t.yaml",
        "apiVersion: a/v1\nkind: T\nmetadata:\n  name: t\n  annotations:\n"
        "    config.kubernetes.io/function: |\n      exec: {path: ./evil}\n");
  program("kubectl", "echo 'kind: ['\n");
  EXPECT_EQ(check({"-q", "--render", "--render-remote", below("h"), below("t")}),
            "1\n"
            "railbed: TMP/h is not rendered: rendering it executes programs (helmCharts)\n"
            "  render it where you trust it, and give railbed check the result\n"
            "railbed: TMP/t is not rendered: rendering it executes programs (TMP/t/t.yaml)\n"
            "  render it where you trust it, and give railbed check the result\n");
}

TEST_F(CheckFolders, ARendererRunsWithoutANetworkWhereTheMachineAllows) {
  write("rails/Chart.yaml", "apiVersion: v2\nname: rails\n");
  program("helm", "while read -r line; do echo \"$line\"; done </proc/net/dev >'" + below("seen") + "'\n");
  path_ += ":/usr/bin:/bin";
  const bool allowed =
      std::system("unshare --net -- true 2>/dev/null || unshare --user --map-current-user --net -- true 2>/dev/null") ==
      0;
  if (!allowed) GTEST_SKIP() << "this machine makes no network namespaces";
  EXPECT_EQ(check({"-q", "--render", below("rails")}), "0\n");
  const std::string seen = text_of("seen");
  EXPECT_EQ(std::ranges::count(seen, ':'), 1) << "lo only: " << seen;
  write("k/kustomization.yaml", "resources: [\"git@example.com:a/b\"]\n");
  program("kubectl", "read -r here </proc/self/cgroup; : >'" + below("ran") + "'\n");
  EXPECT_EQ(check({"-q", "--render", "--render-remote", below("k")}), "0\n");
  EXPECT_TRUE(fs::exists(folder_ / "ran"));
}

TEST_F(CheckFolders, ACommandInAMessageCanBePasted) {
  write("a;$(id)'/Chart.yaml", "apiVersion: v2\nname: bad\n");
  write("b\nid/Chart.yaml", "apiVersion: v2\nname: bad\n");
  EXPECT_EQ(check({"-q", "--render", below("a;$(id)'")}),
            "1\n"
            "railbed: TMP/a;$(id)' is a Helm chart, and there is no helm in PATH\n"
            "  install it, or render where it is: helm template 'TMP/a;$(id)'\\''' | railbed check -\n");
  EXPECT_EQ(check({"-q", "--render", below("b\nid")}),
            "1\n"
            "railbed: TMP/b\\x0aid is a Helm chart, and there is no helm in PATH\n"
            "  install it, or render where it is: name cannot be typed: \"TMP/b\\x0aid\" | railbed check -\n");
}

TEST_F(CheckFolders, ARendererThatHangsIsEnded) {
  write("slow/Chart.yaml", "apiVersion: v2\nname: slow\n");
  program("helm", "while :; do :; done\n");
  EXPECT_EQ(check({"-q", "--render", "--render-timeout", "1", below("slow")}),
            "1\n"
            "railbed: helm template TMP/slow: timed out after 1 s\n"
            "  try `helm template TMP/slow`; check what it prints: | railbed check -; raise --render-timeout\n");
}

}  // namespace
}  // namespace railbed
