// SPDX-License-Identifier: Apache-2.0
#include "check/read/bundle.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "base/sanitized.h"

namespace railbed::check {
namespace {

struct ReadFile {
  Bundle bundle;
  std::string findings;
};

ReadFile read_file(const std::string& name, const std::string& text) {
  doc::Diagnostics diagnostics;
  auto source = std::make_shared<const doc::Source>(doc::Source{name, text});
  ReadFile out{read_bundle({source}, diagnostics), {}};
  out.findings = doc::render(diagnostics);
  return out;
}

std::vector<std::string> labels(const Bundle& bundle) {
  std::vector<std::string> out;
  for (const Document& document : bundle.documents) out.push_back(document.label());
  return out;
}

// "program arg arg" of each command, with where it runs.
std::vector<std::string> commands(const Bundle& bundle) {
  std::vector<std::string> out;
  for (const Command& command : bundle.commands) {
    std::string line = command.where.empty() ? "" : "@" + command.where + " ";
    for (const Word& word : command.words) line += (line.empty() || line.back() == ' ' ? "" : " ") + word.text;
    out.push_back(line);
  }
  return out;
}

using Lines = std::vector<std::string>;

constexpr std::string_view kPolicy = R"(apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata:
  name: fast
  namespace: net
spec:
  numVfs: 4
)";

TEST(ReadBundle, ExpandsListsAndCountsUnknownKinds) {
  const ReadFile r = read_file("a.yaml", R"(apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: one}
- apiVersion: example.org/v1
  kind: Teapot
  metadata: {name: two, namespace: tea}
---
apiVersion: example.org/v1
kind: Teapot
---
- just a list
---
key: without kind
)");
  EXPECT_EQ(labels(r.bundle), (Lines{"Pod one", "Teapot tea/two", "Teapot"}));
  EXPECT_EQ(r.bundle.unknown_kinds, (std::map<std::string, int>{{"Teapot", 2}}));
  EXPECT_EQ(r.bundle.without_kind.size(), 2u);
  EXPECT_EQ(r.findings, "");
}

TEST(ReadBundle, ReadsFencesAtAnyIndentationWithTheirPlaces) {
  const ReadFile r = read_file("a.md",
                               "# Title\n"
                               "1. Apply it:\n"
                               "\n"
                               "   ```yaml title=x\n"
                               "   apiVersion: v1\n"
                               "   kind: Pod\n"
                               "   metadata:\n"
                               "     name: a\n"
                               "   ---\n"
                               "   apiVersion: v1\n"
                               "   kind: Pod\n"
                               "   metadata:\n"
                               "     name: b\n"
                               "   ```\n"
                               "~~~\n"
                               "kind: Pod\n"
                               "metadata: {name: c}\n"
                               "~~~\n"
                               "```json\n"
                               "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"d\"}}\n"
                               "```\n"
                               "```yaml\n"
                               "resources:\n"
                               "  limits: {cpu: 1}\n"
                               "```\n"
                               "```python\n"
                               "kind: Pod\n"
                               "```\n");
  EXPECT_EQ(labels(r.bundle), (Lines{"Pod a", "Pod b", "Pod c", "Pod d"}));
  EXPECT_EQ(r.findings, "");
  const doc::Value* name = r.bundle.documents[1].value.find("metadata")->find("name");
  EXPECT_EQ(name->span.to_string(), "a.md:13:12");
  EXPECT_EQ(r.bundle.documents[3].value.find("kind")->span.to_string(), "a.md:20:10");
  EXPECT_EQ(r.bundle.documents[0].origin, Origin::kFence);
}

TEST(ReadBundle, ReportsMistakesInAFenceAtTheirPlaceAndReadsTheRest) {
  const ReadFile r = read_file("a.md",
                               "```yaml\nkind: Pod\nmetadata:\n  name: a\n bad: 1\n```\n"
                               "```yaml\nkind: Pod\nmetadata: {name: b}\n");
  EXPECT_EQ(labels(r.bundle), (Lines{"Pod b"}));
  EXPECT_NE(r.findings.find("a.md:5:2: error: 'bad' begins at column 2"), std::string::npos) << r.findings;
  EXPECT_NE(r.findings.find("a.md:7:1: warning: the block that begins here is never closed [RB-DOC-002]"),
            std::string::npos)
      << r.findings;
}

TEST(ReadBundle, ReadsAsciiDocListingsAndCarriageReturns) {
  const ReadFile r = read_file("a.adoc",
                               "Text:\r\n\r\n[source,yaml]\r\n----\r\nkind: Pod\r\nmetadata:\r\n  name: a\r\n----\r\n"
                               "[source,terminal]\r\n----\r\n$ oc get pods -n net\r\n----\r\n");
  EXPECT_EQ(labels(r.bundle), (Lines{"Pod a"}));
  EXPECT_EQ(commands(r.bundle), (Lines{"oc get pods -n net"}));
  EXPECT_EQ(r.findings, "");
}

TEST(ReadBundle, FindsObjectsInRunningTextThatKeptTheirIndentation) {
  const ReadFile r = read_file(
      "page.txt", "Create it:\n\n" + std::string(kPolicy) + "\nThis makes four functions: use them.\n  Not this.\n");
  EXPECT_EQ(labels(r.bundle), (Lines{"SriovNetworkNodePolicy net/fast"}));
  EXPECT_FALSE(r.bundle.documents[0].rebuilt);
  EXPECT_EQ(r.findings, "");
  EXPECT_EQ(r.bundle.prose.back().text, "Not this.");
}

TEST(ReadBundle, TakesDefinitionsOutOfAnsibleTasks) {
  const ReadFile r = read_file("play.yml", R"(- name: Fast networks
  hosts: localhost
  tasks:
    - name: policy
      kubernetes.core.k8s:
        state: present
        definition:
          apiVersion: sriovnetwork.openshift.io/v1
          kind: SriovNetworkNodePolicy
          metadata: {name: one}
          spec:
            numVfs: "{{ vfs }}"
    - block:
        - k8s:
            definition: |
              apiVersion: v1
              kind: Pod
              metadata:
                name: two
              ---
              apiVersion: v1
              kind: Pod
              metadata:
                name: three
        - community.kubernetes.k8s:
            definition:
              - {kind: Pod, metadata: {name: four}}
)");
  EXPECT_EQ(labels(r.bundle), (Lines{"SriovNetworkNodePolicy one", "Pod two", "Pod three", "Pod four"}));
  EXPECT_EQ(r.bundle.documents[2].value.find("metadata")->find("name")->span.to_string(), "play.yml:24:23");
  EXPECT_EQ(*r.bundle.documents[0].value.find("spec")->find("numVfs")->as_string(), "vfs");
  EXPECT_TRUE(r.bundle.without_kind.empty());
}

TEST(ReadBundle, FillsInWhatAPlaySaysAboutJinja) {
  const ReadFile r = read_file("play.yml", R"(- hosts: localhost
  vars: {vfs: 8, ns: ai, other: "{{ ns }}"}
  tasks:
    - k8s:
        definition:
          kind: SriovNetwork
          metadata: {name: "rail-{{ vfs }}-{{ item.name }}", namespace: "{{ ns | trim }}"}
          spec: {vlan: "{{ vfs }}", trust: "{{ other }}", linkState: "{{ a b", spoofChk: "{{ ns }}{{ b"}
)");
  ASSERT_EQ(r.bundle.documents.size(), 1U);
  const Document& network = r.bundle.documents[0];
  EXPECT_EQ(network.label(), "SriovNetwork ai/rail-8-item-name");
  const doc::Value& spec = *network.value.find("spec");
  EXPECT_EQ(*spec.find("vlan")->as_int(), 8);
  EXPECT_EQ(spec.find("vlan")->span.to_string(), "play.yml:8:24");
  EXPECT_EQ(*spec.find("trust")->as_string(), "other");
  EXPECT_EQ(*spec.find("linkState")->as_string(), "{{ a b");
  EXPECT_EQ(*spec.find("spoofChk")->as_string(), "ai{{ b");
}

TEST(ReadBundle, ReadsPromptsCommentsAndOutput) {
  const ReadFile r = read_file("a.md",
                               "```\n"
                               "# Check the links first\n"
                               "# sminfo -C mlx5_0\n"
                               "sminfo: sm lid 1\n"
                               "\n"
                               "$ lspci -nn | grep -i mellanox   # all of them\n"
                               "5e:00.0 Ethernet controller\n"
                               "[root@n1 ~]# NCCL_DEBUG=INFO sudo -E ib_write_bw -d mlx5_0 \\\n"
                               "    --report_gbits 2>&1 > /tmp/x\n"
                               "```\n");
  EXPECT_EQ(commands(r.bundle),
            (Lines{"sminfo -C mlx5_0", "lspci -nn", "grep -i mellanox", "ib_write_bw -d mlx5_0 --report_gbits"}));
  ASSERT_EQ(r.bundle.commands[0].output.size(), 1u);
  EXPECT_EQ(r.bundle.commands[0].output[0].text, "sminfo: sm lid 1");
  EXPECT_EQ(r.bundle.commands[1].output.size(), 1u);
  EXPECT_EQ(r.bundle.commands[3].words[3].span.to_string(), "a.md:9:5");
  EXPECT_EQ(r.bundle.commands[3].environment[0].text, "NCCL_DEBUG=INFO");
  EXPECT_EQ(r.bundle.prose.at(0).text, "# Check the links first");
}

TEST(ReadBundle, FollowsExecDebugAndShells) {
  const ReadFile r = read_file("a.sh",
                               "#!/bin/bash\n"
                               "kubectl -n net exec -it pod-1 -c main -- ib_write_bw -d mlx5_0\n"
                               "oc exec <pod-2> -- bash -c 'rping -s -v; ibv_devinfo'\n"
                               "kubectl get pods -o name | head -1\n"
                               "x=$(ibstat -l)\n"
                               "for n in a b; do ssh \"$n\" sminfo; done\n");
  EXPECT_EQ(commands(r.bundle),
            (Lines{"@pod-1 ib_write_bw -d mlx5_0", "@<pod-2> rping -s -v", "@<pod-2> ibv_devinfo",
                   "kubectl get pods -o name", "head -1", "ibstat -l", "for n in a b", "ssh $n sminfo", "done"}));
  EXPECT_EQ(r.bundle.commands[1].words[1].span.to_string(), "a.sh:3:35");
  const ReadFile debug =
      read_file("b.md", "```\n$ oc debug node/n1\nsh-4.4# chroot /host\nsh-4.4# ls /dev/infiniband\nuverbs0\n```\n");
  EXPECT_EQ(commands(debug.bundle), (Lines{"@node/n1 chroot /host", "@node/n1 ls /dev/infiniband"}));
  EXPECT_EQ(debug.bundle.commands[1].output.size(), 1u);
}

TEST(ReadBundle, ReadsHereDocumentsAsManifests) {
  const ReadFile r = read_file(
      "a.md", "```bash\ncat <<'EOF' | kubectl apply -f -\n" + std::string(kPolicy) + "EOF\nkubectl get pods\n```\n");
  EXPECT_EQ(labels(r.bundle), (Lines{"SriovNetworkNodePolicy net/fast"}));
  EXPECT_EQ(commands(r.bundle), (Lines{"cat", "kubectl apply -f -", "kubectl get pods"}));
}

// Standard input has no ending that says what it is.
TEST(ReadBundle, DistinguishesManifestsFromTextByHowTheyBegin) {
  const std::string policy(kPolicy);
  for (const std::string& text :
       {policy, "\n\n" + policy, "---\n" + policy, "# a comment\n" + policy,
        std::string("kind: Pod\nmetadata: {name: a}\n"), std::string(R"({"kind": "Pod", "metadata": {"name": "a"}})"),
        std::string(R"( [{"kind": "Pod", "metadata": {"name": "a"}}])")}) {
    const ReadFile r = read_file("standard input", text);
    EXPECT_TRUE(r.bundle.prose.empty()) << text;
    EXPECT_EQ(r.findings, "") << text;
  }
  for (const std::string& text :
       {"Create this:\n\n" + policy, std::string("The kind: of page\n"), std::string("kinds\n")})
    EXPECT_FALSE(read_file("standard input", text).bundle.prose.empty()) << text;
  EXPECT_TRUE(read_file("standard input", "").bundle.prose.empty());
}

TEST(ReadBundle, FindsCommandsInJoinedText) {
  const ReadFile r =
      read_file("a.txt",
                "See the nodes:\n"
                "$ oc debug node/<node> sh-4.4# chroot /host sh-4.4# ls -l /dev/infiniband/The output lists them.\n"
                "# On the server $ oc exec <pod-1> -- ib_write_bw -d <dev> # On the client $ oc exec <pod-2> -- "
                "ib_write_bw -d <dev> <ip>The output displays it.\n"
                "ibping -S -C mlx5_0\n"
                "oc is the client.\n"
                "$ ibping -c 3 -L 1A line per answer follows.\n");
  EXPECT_EQ(commands(r.bundle),
            (Lines{"@node/<node> chroot /host", "@node/<node> ls -l /dev/infiniband/", "@<pod-1> ib_write_bw -d <dev>",
                   "@<pod-2> ib_write_bw -d <dev> <ip>", "ibping -S -C mlx5_0", "ibping -c 3 -L 1"}));
}

TEST(ReadBundle, ReadsCommandsInCodeSpans) {
  const ReadFile r = read_file("a.md", "# rping\nRun `ib_write_bw -d mlx5_0 -a` or `rping`, see `spec.numVfs`.\n");
  EXPECT_EQ(commands(r.bundle), (Lines{"ib_write_bw -d mlx5_0 -a"}));
  EXPECT_EQ(r.bundle.commands[0].words[0].span.to_string(), "a.md:2:6");
}

// Quadratic work would take hours for these texts; the time limit of the tests is the bound.
TEST(ReadBundle, TakesTimeLinearInHostileText) {
  const std::vector<std::string> patterns = {"```\n",
                                             "~~~yaml\n",
                                             "```sh\n$ '\n",
                                             "$ \"x\n",
                                             "`",
                                             "$(",
                                             "# ls `\n",
                                             "\r\n",
                                             "apiVersion: v1 kind: Pod spec: [\n",
                                             "apiVersion: v1\nkind: Pod\nspec: {\n",
                                             "a: ",
                                             "- ",
                                             "\"",
                                             "'",
                                             "<a ",
                                             "cat <<EOF\n",
                                             "|",
                                             "[source]\n----\n",
                                             "\\\n",
                                             "x.y.z ",
                                             "apiVersion: v1 kind: Pod metadata: a: b: c: ",
                                             "$ oc exec x -- sh -c 'a'\n",
                                             std::string("\0\xFF", 2)};
  for (const std::string& pattern : patterns)
    for (const char* name : {"a.md", "a.sh", "a.txt"}) {
      std::string text = "apiVersion: v1 kind: Pod ";
      while (text.size() < 400'000 / kSweepStep) text += pattern;
      const auto source = std::make_shared<const doc::Source>(doc::Source{name, text});
      doc::Diagnostics diagnostics;
      EXPECT_EQ(read_bundle({source}, diagnostics).sources.size(), 1u) << name << " of '" << pattern << "'";
    }
}

TEST(ReadBundle, RefusesWhatIsNoText) {
  EXPECT_EQ(read_file("a.md", "\xFF\xFEx").findings,
            "a.md: error: the file is UTF-16 [RB-DOC-003]\n  fix: save it as UTF-8\n");
}

}  // namespace
}  // namespace railbed::check
