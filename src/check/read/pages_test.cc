// SPDX-License-Identifier: Apache-2.0
// Pages as people write them: each keeps its objects whatever headings, tabs, inclusions and marks stand around and in
// them, and none of that is a mistake.
#include <sstream>

#include <gtest/gtest.h>

#include "check/check.h"

namespace railbed::check {
namespace {

struct PageReport {
  int objects = 0;
  std::vector<std::string> errors;  // "id line", of errors and warnings
};

PageReport read_as(const std::string& name, const std::string& text) {
  const Report report = check({std::make_shared<const doc::Source>(doc::Source{name, text})}, {}, {});
  PageReport out{.objects = report.objects(), .errors = {}};
  for (const doc::Diagnostic& one : report.findings.all())
    if (one.severity != doc::Severity::kNote) out.errors.push_back(fmt::format("{} {}", one.id, one.span.line));
  return out;
}

std::string indented(const std::string& text, const std::string& by) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out += line.empty() ? "\n" : by + line + "\n";
  return out;
}

const std::string kPolicyOfPage =
    "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\nmetadata:\n  name: rails\n"
    "  namespace: sriov-network-operator\nspec:\n  nicSelector:\n    pfNames: [\"ens9f0\"]\n"
    "  nodeSelector:\n    node-role.kubernetes.io/worker: \"\"\n  numVfs: 4\n  resourceName: rails\n";

TEST(Pages, KeepTheirObjectsAmongHeadings) {
  for (const char mark : {'~', '=', '-', '^', '"', '+', '#', '*'}) {
    const std::string row(6, mark);
    const std::string heading = "Policy\n" + row + "\n\nText: of it.\n\n";
    const std::string next = "\nOthers\n" + row + "\n\nMore.\n";
    const PageReport rst =
        read_as("a.rst", heading + ".. code-block:: yaml\n\n" + indented(kPolicyOfPage, "   ") + next);
    EXPECT_EQ(rst.objects, 1) << mark;
    EXPECT_EQ(rst.errors, std::vector<std::string>()) << mark;
    const PageReport adoc = read_as("a.adoc", heading + "[source,yaml]\n----\n" + kPolicyOfPage + "----\n" + next);
    EXPECT_EQ(adoc.objects, 1) << mark;
    EXPECT_EQ(adoc.errors, std::vector<std::string>()) << mark;
    const PageReport md = read_as("a.md", heading + "```yaml\n" + kPolicyOfPage + "```\n" + next);
    EXPECT_EQ(md.objects, 1) << mark;
    EXPECT_EQ(md.errors, std::vector<std::string>()) << mark;
  }
}

TEST(Pages, KeepTheirObjectsInTabsAndListsAndWhateverTheBlockSays) {
  const std::string tab =
      indented(".. code-block:: yaml\n   :emphasize-lines: 3\n\n" + indented(kPolicyOfPage, "   "), "      ");
  EXPECT_EQ(read_as("a.rst", ".. tabs::\n\n   .. tab:: A\n\n" + tab + "\n   .. tab:: B\n\n      Text.\n").objects, 1);
  EXPECT_EQ(read_as("a.rst", "Make it::\n\n" + indented(kPolicyOfPage, "  ") + "\nDone.\n").objects, 1);
  EXPECT_EQ(read_as("a.md", "=== \"A\"\n\n" + indented("```yaml\n" + kPolicyOfPage + "```\n", "    ")).objects, 1);
  for (const std::string word : {"", "bash", "sh", "console", "text", "shell", "none", "output", "gotemplate", "go"}) {
    const PageReport page = read_as("a.md", "```" + word + "\n" + kPolicyOfPage + "```\n");
    EXPECT_EQ(page.objects, 1) << word;
    EXPECT_EQ(page.errors, std::vector<std::string>()) << word;
    EXPECT_EQ(read_as("a.adoc", "[source," + word + "]\n----\n" + kPolicyOfPage + "----\n").objects, 1) << word;
    EXPECT_EQ(read_as("a.rst", ".. code-block:: " + word + "\n\n" + indented(kPolicyOfPage, "   ")).objects, 1) << word;
  }
}

TEST(Pages, LinesOfAPreprocessorAreNoMistakes) {
  const auto with = [](const std::string& line) {
    std::string text = kPolicyOfPage;
    return text.insert(text.find("  numVfs"), line + "\n");
  };
  for (const char* line : {"ifdef::rdma[]", "endif::[]", "include::nic.yaml[]", "ifndef::x[]"})
    EXPECT_EQ(read_as("a.adoc", "[source,yaml]\n----\n" + with(line) + "----\n").errors, std::vector<std::string>())
        << line;
  for (const char* line : {"{%- if rdma %}", "--8<-- \"nic.yaml\"", "{{< nic >}}", "  ${MORE}", "  <further fields>",
                           "  ...", "...", "  {{ more }}", "  $(more)"})
    EXPECT_EQ(read_as("a.md", "```yaml\n" + with(line) + "```\n").errors, std::vector<std::string>()) << line;
  for (const char* value : {"{mtu}", "<mtu>", "{{ mtu }}", "\"<mtu>\"", "MTU_SIZE", "int", "...", "@MTU@", "$MTU",
                            "1500 | 9000", "xxxx", "{{ mtu | default(9000) }}"})
    EXPECT_EQ(read_as("a.md", "```yaml\n" + with(fmt::format("  mtu: {}", value)) + "```\n").errors,
              std::vector<std::string>())
        << value;
  EXPECT_EQ(read_as("a.rst", ".. parsed-literal::\n\n" + indented(with("  mtu: |mtu|"), "   ")).errors,
            std::vector<std::string>());
  EXPECT_EQ(
      read_as("a.adoc", "[source,yaml,subs=\"attributes+\"]\n----\n" + with("  mtu: {mtu} <1>") + "----\n").errors,
      std::vector<std::string>());
  // Beside them mistakes are told.
  EXPECT_EQ(read_as("a.md", "```yaml\n" + with("  mtu: <mtu>\n  priority: \"high\"") + "```\n").errors,
            std::vector<std::string>{"RB-API-004 13"});
}

TEST(Pages, BlocksThatAreNoManifestsAreNotReadAsSuch) {
  for (const char* block :
       {"yaml\noc -n store get configmap rails -o yaml\n\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  a\n b: c\n",
        "\nann@LAPTOP7 charts % kubectl get nicdevices n1 -o yaml\napiVersion: v1\nkind: X\nmetadata:\n  a\n b: c\n",
        "json\nPOST /api/v1/namespaces/a/pods/b/eviction\n{\"apiVersion\": \"policy/v1\", \"kind\": \"Eviction\"}\n",
        "diff\n apiVersion: v1\n kind: Pod\n-  a: b\n+  a: c\n", "yaml\n  spec:\n-   numVfs: 4\n+   numVfs: 8\n",
        "json\n{\n  \"kind\": \"Pod\", // a comment\n  \"apiVersion\": \"v1\",\n  ...\n}\n",
        "yaml\n# server\nib_write_bw -d mlx5_5 -F -R --report_gbits\n"})
    EXPECT_EQ(read_as("a.md", "```" + std::string(block) + "```\n").errors, std::vector<std::string>()) << block;
}

TEST(Pages, FilesOfOtherLanguagesAreNotRead) {
  for (const char* name :
       {"main.tf", "policy.jsonnet", "policy.yaml.j2", "rails.cue", "x.tpl", "a.mdx", "x.go", "x.py", "x.k"}) {
    const Report report = check(
        {std::make_shared<const doc::Source>(doc::Source{name, "{\n  apiVersion: 'v1',\n  kind: 'Pod',\n"})}, {}, {});
    ASSERT_EQ(report.findings.all().size(), 1u) << name;
    EXPECT_EQ(report.findings.all()[0].id, "RB-DOC-005") << name;
    ASSERT_EQ(report.coverage.not_read.size(), 1u) << name;
    EXPECT_EQ(report.coverage.not_read[0].name, name);
  }
}

}  // namespace
}  // namespace railbed::check
