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
  // Beside them mistakes are reported.
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

// The policy with one line in the place of `numVfs: 4`.
std::string with_vfs(const std::string& line) {
  std::string text = kPolicyOfPage;
  const std::string vfs = "  numVfs: 4\n";
  return text.replace(text.find(vfs), vfs.size(), line + "\n");
}

TEST(Pages, NothingIsMissingWhereLinesAreLeftOut) {
  const auto errors = [](const std::string& line) {
    return read_as("a.md", "```yaml\n" + with_vfs(line) + "```\n").errors;
  };
  for (const char* line :
       {"  ....", "  ...", "  # ... rest", "  # snip", "  <snip>", "  [...]", "  {...}", "  # (other fields omitted)",
        "  .\n  .\n  .", "  ⋮", "  -- output omitted --", "  # rest unchanged", "  <output truncated>", "  [snip]"}) {
    EXPECT_EQ(errors(line), std::vector<std::string>()) << line;
    EXPECT_EQ(read_as("a.adoc", "[source,yaml]\n----\n" + with_vfs(line) + "----\n").errors, std::vector<std::string>())
        << line;
    EXPECT_EQ(read_as("a.rst", ".. code-block:: yaml\n\n" + indented(with_vfs(line), "   ")).errors,
              std::vector<std::string>())
        << line;
  }
  const std::string head = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n";
  for (const char* spec : {"spec: {...}\n", "spec: { ... }\n", "spec: …\n", "spec:\n  containers: [...]\n"})
    EXPECT_EQ(read_as("a.md", "```yaml\n" + head + spec + "```\n").errors, std::vector<std::string>()) << spec;
  EXPECT_FALSE(read_as("a.md", "```yaml\n" + head + "spec: {hostNetwork: true}\n```\n").errors.empty());
  // Comments that say nothing of the kind, and names, leave nothing out.
  for (const char* line : {"  # VFs", "  # the rest of the nodes has none", "  # cut-through switches"})
    EXPECT_FALSE(errors(line).empty()) << line;
  // What is written there is judged.
  EXPECT_EQ(errors("  numVfs: \"4\"\n  # ...").size(), 1u);
}

TEST(Pages, OutputBesideAManifestIsNoPartOfIt) {
  for (const char* line : {"Success/Update image", "sriovnetworknodepolicy.sriovnetwork.openshift.io/rails created",
                           "2 objects changed", "pod/a condition met", "node/worker0 patched (no change)"}) {
    const PageReport page = read_as("a.md", "```yaml\n" + kPolicyOfPage + line + "\n```\n");
    EXPECT_EQ(page.errors, std::vector<std::string>()) << line;
    EXPECT_EQ(page.objects, 1) << line;
  }
  std::string lost = kPolicyOfPage;
  lost.replace(lost.find("\nspec:"), 6, "\nspec");
  EXPECT_FALSE(read_as("a.md", "```yaml\n" + lost + "```\n").errors.empty()) << "a key that lost its colon";
  for (const char* block :
       {"yaml\n+ oc create -f -\nsriovnetwork.sriovnetwork.openshift.io/a created\n",
        "\n+ kubectl get pods\nNAME READY\n++ hostname\n",
        "yaml\n apiVersion: v1\n kind: Pod\n metadata:\n   name: a\n spec:\n+  hostNetwork: true\n   x: [\n",
        "diff\n apiVersion: v1\n kind: Pod\n metadata: [\n", "patch\napiVersion: v1\nkind: Pod\n+metadata: {\n"})
    EXPECT_EQ(read_as("a.md", "```" + std::string(block) + "```\n").errors, std::vector<std::string>()) << block;
}

TEST(Pages, AFileThatACommandShowsIsRead) {
  for (const std::string command : {"$ cat policy.yaml", "[root@node ~]# cat /tmp/policy.yaml", "$ less policy.yaml",
                                    "+ cat /tmp/policy.yaml", "sh-5.1# cat /etc/rails/policy.yaml"}) {
    const auto shown = [&](const std::string& policy) {
      return read_as("a.md", "```console\n" + command + "\n" + policy + "$ kubectl get pods\nNAME\n```\n");
    };
    EXPECT_EQ(shown(kPolicyOfPage).objects, 1) << command;
    EXPECT_EQ(shown(kPolicyOfPage).errors, std::vector<std::string>()) << command;
    EXPECT_EQ(shown(with_vfs("  numVfs: \"4\"")).errors.size(), 1u) << command;
  }
  EXPECT_EQ(read_as("a.md", "```console\n$ cat /etc/hosts\n10.0.0.1 a\n```\n").objects, 0);
}

// A Pod in a here-document whose command is `words`, in a page and in a script.
std::vector<PageReport> here_documents_with(const std::string& opening, const std::string& words) {
  const std::string script = "kubectl apply -f - <<" + opening +
                             "\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - name: a\n"
                             "    image: a/x:1\n    command: [\"sh\", \"-c\", " +
                             words + "]\nEOF\n";
  return {read_as("a.md", "Do it:\n\n```bash\n" + script + "```\n"), read_as("a.sh", "#!/bin/bash\n" + script)};
}

TEST(Pages, WhatTheShellUnescapesInAHereDocumentIsNoMistake) {
  for (const std::string words :
       {"\"-p\\${PASSWORD}\"", "\"echo \\$(hostname)\"", "\"a \\`date\\`\"", "\"a\\\\nb\"", "\"\\$A \\$B\""})
    for (const std::string opening : {"EOF", "-EOF"})
      for (const PageReport& report : here_documents_with(opening, words)) {
        EXPECT_EQ(report.objects, 1) << opening << words;
        EXPECT_EQ(report.errors, std::vector<std::string>()) << opening << words;
      }
  // The shell leaves a quoted here-document as it is.
  for (const std::string opening : {"'EOF'", "\"EOF\""})
    for (const PageReport& report : here_documents_with(opening, "\"-p\\${PASSWORD}\""))
      EXPECT_EQ(report.errors.size(), 1U) << opening;
  for (const PageReport& report : here_documents_with("EOF", "\"a\\q\""))
    EXPECT_EQ(report.errors.size(), 1U) << "an escape that neither the shell nor YAML knows";
}

TEST(Pages, TwoKindsBelowEachOtherAreASketch) {
  const auto severities = [](const std::string& block) {
    std::string out;
    const Report report = check(
        {std::make_shared<const doc::Source>(doc::Source{"a.md", "Kinds:\n\n```yaml\n" + block + "```\n"})}, {}, {});
    for (const doc::Diagnostic& one : report.findings.all())
      if (one.id == "RB-YAML-003") out += std::string(severity_name(one.severity)) + " ";
    return out;
  };
  const std::string version = "apiVersion: serving.kserve.io/v1alpha1\n";
  EXPECT_EQ(severities(version + "kind: LLMInferenceService # main\nkind: LLMInferenceServiceConfig\n"), "warning ");
  EXPECT_EQ(severities("apiVersion: v1\nkind: Pod\nkind: Service\n"), "warning ");
  EXPECT_EQ(severities("apiVersion: v1\nkind: Pod\n\n# or\nkind: Service\n"), "warning ");
  EXPECT_EQ(severities(version + "kind: ServingRuntime\n# +\napiVersion: serving.kserve.io/v1beta1\n"
                                 "kind: InferenceService\nmetadata:\n  name: a\n"),
            "warning ");
  EXPECT_EQ(severities("apiVersion: v1\nkind: Pod\nkind: Pod\nmetadata: {name: a}\n"), "error ") << "one kind twice";
  EXPECT_EQ(severities("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nkind: Service\n"), "error ");
  EXPECT_EQ(severities("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  name: b\n"), "error ");
}

// Files of other programs, by name, around a policy.
std::vector<std::pair<std::string, std::string>> files_around(const std::string& policy) {
  const std::string apply = "kubectl apply -f - <<EOF\n" + policy + "EOF\n";
  return {
      {"Vagrantfile", "Vagrant.configure(\"2\") do |config|\n  config.vm.provision \"shell\", inline: <<-SHELL\n" +
                          indented(apply, "    ") + "  SHELL\nend\n"},
      {"a/Vagrantfile.rdma", "$policy = <<~YAML\n" + indented(policy, "  ") + "YAML\nitems = []\nitems << 1\n"},
      {"Dockerfile", "FROM scratch\nCOPY <<EOF /policy.yaml\n" + policy + "EOF\n"},
      {"Jenkinsfile", "pipeline {\n  sh '''\n" + indented(apply, "    ") + "  '''\n}\n"},
      {"Makefile", "define POLICY\n" + policy + "endef\nexport POLICY\n"},
      {".github/workflows/a.yaml", "on: push\njobs:\n  a:\n    steps:\n    - run: |\n" + indented(apply, "        ")},
      {"site.yml",
       "- hosts: all\n  tasks:\n  - copy:\n      dest: /p.yaml\n      content: |\n" + indented(policy, "        ")},
      {"tasks.yml", "- hosts: all\n  tasks:\n  - shell: |\n" + indented(apply, "      ")},
      {"user-data.yaml", "#cloud-config\nwrite_files:\n- path: /p.yaml\n  content: |\n" + indented(policy, "    ")},
      {"deploy.sh", "ssh node <<'EOS'\nset -e\n" + apply + "EOS\n"}};
}

TEST(Pages, HereDocumentsOfOtherProgramsAreRead) {
  for (const auto& [name, text] : files_around(kPolicyOfPage)) {
    const PageReport report = read_as(name, text);
    EXPECT_EQ(report.objects, 1) << name;
    EXPECT_EQ(report.errors, std::vector<std::string>()) << name;
  }
  for (const auto& [name, text] : files_around(with_vfs("  numVfs: ${VFS}")))
    EXPECT_EQ(read_as(name, text).errors, std::vector<std::string>()) << name;
  for (const auto& [name, text] : files_around(with_vfs("  numVfs: \"4\""))) {
    const PageReport report = read_as(name, text);
    ASSERT_EQ(report.errors.size(), 1u) << name;
    EXPECT_TRUE(report.errors[0].starts_with("RB-API-004 ")) << report.errors[0];
  }
}

// What a terminal showed is no manifest, whatever the fence says; the here-documents of its commands are.
TEST(Pages, AFenceWithAPromptIsASession) {
  for (const std::string prompt :
       {"> ", "$> ", "$ ", "% ", "❯ ", "PS> ", "root@n1 ~/t# ", "[ann@n1 t]$ ", "sh-4.4# ", "hub> ", "> root@n1 ~# "}) {
    const std::string applied = prompt + "cat <<EOF | oc apply -f -\n---\n" + kPolicyOfPage + "\nEOF\n";
    const std::string shown = prompt + "oc get sc\nNAME   AGE\nfast: (default)   27h\n";
    for (const std::string word : {"yaml", "", "console"}) {
      const PageReport both = read_as("a.md", "```" + word + "\n" + applied + shown + "```\n");
      EXPECT_EQ(both.objects, 1) << prompt << word;
      EXPECT_EQ(both.errors, std::vector<std::string>()) << prompt << word;
      EXPECT_EQ(read_as("a.md", "```" + word + "\n" + shown + "```\n").errors, std::vector<std::string>())
          << prompt << word;
    }
    EXPECT_EQ(read_as("a.md", "```yaml\n" + kPolicyOfPage + prompt + "oc get sc\nNAME  AGE\nfast  1d\n```\n").errors,
              std::vector<std::string>())
        << prompt;
    const PageReport wrong = read_as(
        "a.md", "```yaml\n" + prompt + "cat <<EOF | oc apply -f -\n" + with_vfs("  numVfs: \"4\"") + "EOF\n```\n");
    ASSERT_EQ(wrong.errors.size(), 1u) << prompt;
    EXPECT_TRUE(wrong.errors[0].starts_with("RB-API-004 ")) << wrong.errors[0];
  }
  for (const char* end : {"EOF", "EOT", "_EOF_", "END", "YAML"})
    EXPECT_EQ(read_as("a.md", "```yaml\n" + kPolicyOfPage + end + "\n```\n").errors, std::vector<std::string>()) << end;
}

TEST(Pages, ManifestsAmongWordsAreNoYaml) {
  for (const std::string before :
       {"[TIP]\n====\nApply this:\n\n[source,terminal]\n----\n", "info: Mirroring completed\n\nSuccess\nUse this:\n\n",
        "The policy is\n\n", "policy.yaml\n\n", "Save it as a file.\n"}) {
    const PageReport page = read_as("a.md", "```text\n" + before + kPolicyOfPage + "\nDone with it.\n```\n");
    EXPECT_EQ(page.errors, std::vector<std::string>()) << before;
    EXPECT_EQ(page.objects, 1) << before;
  }
  // A slip in a block that is a manifest stays one.
  for (const std::string word : {"", "yaml", "text"}) {
    std::string text = kPolicyOfPage;
    text.replace(text.find("metadata:"), 9, "metadata");
    EXPECT_FALSE(read_as("a.md", "```" + word + "\n" + text + "```\n").errors.empty()) << word;
  }
}

TEST(Pages, NotesWithCommandsBetweenObjectsAreNoManifests) {
  for (const char* command : {"cat policy.yaml", "oc get pod -o yaml", "kubectl get sc -o yaml", "$ cat policy.yaml",
                              "[root@n1 ~]# cat policy.yaml"}) {
    const Report report = check({std::make_shared<const doc::Source>(
                                    doc::Source{"notes.yaml", kPolicyOfPage + "\n" + command + "\n" + kPolicyOfPage})},
                                {}, {});
    EXPECT_FALSE(report.findings.has_errors()) << command;
    EXPECT_EQ(report.coverage.not_read.size(), 1u) << command;
  }
  EXPECT_FALSE(read_as("a.yaml", kPolicyOfPage + "\nanything else\n" + kPolicyOfPage).errors.empty());
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
