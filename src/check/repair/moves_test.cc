// SPDX-License-Identifier: Apache-2.0
// The result of --fix for manifests with fields in the wrong place.
#include "check/repair/moves.h"

#include <gtest/gtest.h>

#include "check/check.h"

namespace railbed::check {
namespace {

const std::string kHead =
    "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\nmetadata:\n  name: a\nspec:\n";

std::string fixed(const std::string& text) {
  const Report report = check({std::make_shared<doc::Source>(doc::Source{"a.yaml", text})}, {}, {});
  return report.repairs.empty() ? "" : report.repairs[0].after->text;
}

TEST(MovesTest, FieldsGoWhereTheyBelong) {
  struct Case {
    std::string about, before, after;
  };
  const Case cases[] = {
      {"one level too deep, at the end",
       "  resourceName: r\n  numVfs: 8\n  nicSelector:\n    vendor: \"15b3\"\n    isRdma: true\n",
       "  resourceName: r\n  numVfs: 8\n  nicSelector:\n    vendor: \"15b3\"\n  isRdma: true\n"},
      {"with fields behind it that stay",
       "  resourceName: r\n  numVfs: 8\n  nicSelector:\n    isRdma: true # for RoCE\n    "
       "vendor: \"15b3\"\n  mtu: 9000\n",
       "  resourceName: r\n  numVfs: 8\n  nicSelector:\n    vendor: \"15b3\"\n  mtu: 9000\n  "
       "isRdma: true # for RoCE\n"},
      {"with lines of its own",
       "  resourceName: r\n  numVfs: 8\n  nicSelector:\n    vendor: \"15b3\"\n    nodeSelector:\n "
       "     a: b\n\n      c: d\n",
       "  resourceName: r\n  numVfs: 8\n  nicSelector:\n    vendor: \"15b3\"\n  nodeSelector:\n    a: b\n\n    c: d\n"},
      {"one level too high, a list",
       "  resourceName: r\n  numVfs: 8\n  pfNames:\n  - ens1\n  - ens2\n  nicSelector:\n    vendor: \"15b3\"\n",
       "  resourceName: r\n  numVfs: 8\n  nicSelector:\n    vendor: \"15b3\"\n    pfNames:\n    - ens1\n    - ens2\n"},
      {"without a line end at the end",
       "  resourceName: r\n  numVfs: 8\n  nicSelector:\n    vendor: \"15b3\"\n    isRdma: true",
       "  resourceName: r\n  numVfs: 8\n  nicSelector:\n    vendor: \"15b3\"\n  isRdma: true\n"},
      {"with the comments that speak of it",
       "  resourceName: r\n  numVfs: 8\n  nicSelector:\n    # RoCE needs it\n    isRdma: true\n    "
       "vendor: \"15b3\"\n  mtu: 9000\n",
       "  resourceName: r\n  numVfs: 8\n  nicSelector:\n    vendor: \"15b3\"\n  mtu: 9000\n  # RoCE "
       "needs it\n  isRdma: true\n"},
      {"one level too high, directly below",
       "  resourceName: r\n  numVfs: 8\n  nicSelector:\n    vendor: \"15b3\"\n  pfNames:\n  - ens1\n",
       "  resourceName: r\n  numVfs: 8\n  nicSelector:\n    vendor: \"15b3\"\n    pfNames:\n    - ens1\n"},
      {"not where it is there already",
       "  resourceName: r\n  numVfs: 8\n  isRdma: false\n  nicSelector:\n    vendor: \"15b3\"\n    isRdma: true\n", ""},
      {"not in flow style", "  resourceName: r\n  numVfs: 8\n  nicSelector: {vendor: \"15b3\", isRdma: true}\n", ""},
  };
  for (const Case& c : cases) EXPECT_EQ(fixed(kHead + c.before), c.after.empty() ? "" : kHead + c.after) << c.about;
}

// "RB-API-003 11" of each finding, with blanks between.
std::string ids_and_lines(const std::string& text) {
  const Report report = check({std::make_shared<doc::Source>(doc::Source{"a.yaml", text})}, {}, {});
  std::string out;
  for (const doc::Diagnostic& one : report.findings.all())
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", one.id, one.span.line);
  return out;
}

// A field in the wrong object of a well-formed text, and other mistakes: lines that stand right stay where they are.
TEST(MovesTest, LinesThatStandRightAreNotShifted) {
  const auto pod = [](const std::string& spec) {
    return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n" + spec;
  };
  const auto mpi = [](const std::string& last) {
    return "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata:\n  name: a\nspec:\n  mpiReplicaSpecs:\n    Launcher:\n"
           "      replicas: 1\n      template:\n        spec:\n          containers:\n          - name: a\n            image: a/x:1\n"
           "    Worker:\n      replicas: 2\n      template:\n        spec:\n          imagePullPolicy: Always\n"
           "          containers:\n          - name: a\n            image: a/x:1\n" +
           last;
  };
  struct Case {
    const char* about;
    std::string text;
    const char* found;  // one of the findings
  };
  const Case cases[] = {
      {"a field of the pod in its container",
       pod("  containers:\n  - name: a\n    image: a/x:1\n    securityContext:\n      runAsUser: 1000\n      fsGroup: 2000\n"
           "  restartPolicy: Always\n"),
       " 11"},
      {"and a number without quotes", mpi("            env:\n            - name: A\n              value: 1\n"),
       "RB-API-003 18"},
      {"and a wrong quantity", mpi("            resources:\n              limits:\n                memory: 384000GB\n"),
       "RB-API-003 18"},
      {"and a misspelt field", mpi("            resuorces:\n              limits:\n                memory: 1Gi\n"),
       "RB-API-003 18"},
      {"and a wrong word", mpi("            imagePullPolicy: WhenMissing\n"), "RB-API-003 18"},
  };
  for (const Case& c : cases) {
    const std::string found = ids_and_lines(c.text);
    EXPECT_EQ(found.find("RB-YAML-002"), std::string::npos) << c.about << ": " << found;
    EXPECT_NE(found.find(c.found), std::string::npos) << c.about << ": " << found;
  }
  const std::string shifted = ids_and_lines(pod("  containers:\n  - name: a\n    image: a/x:1\n   ports: []\n"));
  EXPECT_NE(shifted.find("RB-YAML-002"), std::string::npos) << "at a column that no open object has: " << shifted;
}

// Repairs that depend on each other; the places of the remaining findings refer to the given text.
TEST(MovesTest, RoundsOfRepairsKeepThePlaces) {
  const std::string text =
      kHead +
      "  resourceName: r\n  numVfs: 300\n nicSelector:\n    vendor: \"15b3\"\n    isRdam: \"true\"\n"
      "    linkTyp: IB\n";
  const Report report = check({std::make_shared<doc::Source>(doc::Source{"a.yaml", text})}, {}, {});
  ASSERT_EQ(report.repairs.size(), 1u);
  EXPECT_NE(report.repairs[0].after->text.find("\n  nicSelector:\n    vendor: \"15b3\"\n"), std::string::npos)
      << report.repairs[0].after->text;
  bool reported = false;
  for (const auto& finding : report.findings.all())
    if (finding.id == "RB-RES-007") reported = finding.span.to_string() == "a.yaml:7:11";
  EXPECT_TRUE(reported) << doc::render(report.findings);
}

}  // namespace
}  // namespace railbed::check
