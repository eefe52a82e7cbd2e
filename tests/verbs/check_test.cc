// SPDX-License-Identifier: Apache-2.0
// railbed check on folders, and with --render. The renderers are small scripts of the test.
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
    "not checked, for want of node facts: 10 rules\n"
    "  give them with --facts: `railbed discover -o yaml` on each node (explain --list names the rules)\n";

// A folder with files, and one with programs, which is all of PATH but for the shell's own.
class CheckFolders : public testing::Test {
 protected:
  CheckFolders() {
    std::string name = testing::TempDir() + "railbed-check-XXXXXX";
    folder_ = mkdtemp(name.data());
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
  // Status, output and errors, without the folder's name.
  std::string check(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "check");
    const os::RunResult ran = run_verb(arguments, {"PATH=" + (folder_ / "bin").string()});
    std::string out = std::to_string(ran.exit_status) + "\n" + ran.output + ran.errors;
    const std::string path = folder_.string();
    for (size_t at; (at = out.find(path)) != std::string::npos;) out.replace(at, path.size(), "TMP");
    return out;
  }
  std::string below(const std::string& name) const { return (folder_ / name).string(); }

 private:
  fs::path folder_;
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
  EXPECT_EQ(check({below("rails")}).substr(0, 2), "0\n") << "without --render it is a note";
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
            std::string("0\n") + kNoFacts + "0 errors, 0 warnings, 0 notes in 2 objects\n");
}

TEST_F(CheckFolders, WhatIsNotRenderedIsToldAndTheRestIsChecked) {
  write("bad/Chart.yaml", "apiVersion: v2\nname: bad\n");
  write("k/kustomization.yaml", "resources: [ns.yaml]\n");
  write("k/ns.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: ai}\n");
  program("helm", "echo 'Error: chart requires values' >&2\nexit 1\n");
  EXPECT_EQ(check({"--render", below("bad"), below("k")}),
            std::string("1\n") + kNoFacts +
                "0 errors, 0 warnings, 0 notes in 1 object\n"
                "railbed: helm template TMP/bad: ended with exit status 1: Error: chart requires values\n"
                "  try `helm template TMP/bad`; check what it prints: | railbed check -\n"
                "railbed: TMP/k is a kustomization, and there is no kubectl and no kustomize in PATH\n"
                "  install it, or render where it is: kubectl kustomize TMP/k | railbed check -\n");
}

TEST_F(CheckFolders, ARendererThatHangsIsEnded) {
  write("slow/Chart.yaml", "apiVersion: v2\nname: slow\n");
  program("helm", "while :; do :; done\n");
  EXPECT_EQ(
      check({"-q", "--render", "--render-timeout", "1", below("slow")}),
      "1\n"
      "railbed: helm template TMP/slow: not done after 1 s, so it was ended\n"
      "  try `helm template TMP/slow`; check what it prints: | railbed check -; --render-timeout gives it longer\n");
}

}  // namespace
}  // namespace railbed
