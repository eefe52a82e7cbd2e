// SPDX-License-Identifier: Apache-2.0
// railbed plan as a program: exit status, streams, options.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "base/format.h"
#include "base/testdata.h"
#include "doc/json.h"

namespace railbed {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

struct Ran {
  int status = -1;
  std::string out, err;
};

// A directory per test, removed at its end.
class PlanVerb : public testing::Test {
 protected:
  PlanVerb() {
    std::string name = (std::filesystem::temp_directory_path() / "railbed-verb-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~PlanVerb() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  Ran run(const std::string& arguments, const std::string& input = "") {
    const auto out = folder_ / "stdout";
    const auto err = folder_ / "stderr";
    const auto in = write("stdin", input);
    const std::string command = fmt::format("cd {} && {} plan {} <{} >{} 2>{}", source_dir(), RAILBED_PROGRAM,
                                            arguments, in.string(), out.string(), err.string());
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(out), read(err)};
  }

  static std::string read(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path folder_;
};

constexpr const char* kRoce = "--from testdata/machines/roce-2x-cx6dx.machine";

std::string policy(int vfs, std::string_view pf) {
  return fmt::format(
      "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\n"
      "metadata: {{ name: p, namespace: op }}\n"
      "spec: {{ resourceName: r, nodeSelector: {{}}, numVfs: {}, isRdma: true, nicSelector: {{ pfNames: [{}] "
      "}} }}\n",
      vfs, pf);
}

TEST_F(PlanVerb, ExitsTwoWhenThereIsSomethingToChange) {
  const Ran ran = run(fmt::format("- {}", kRoce), policy(4, "ens1f1np1"));
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, IsEmpty());
  EXPECT_THAT(ran.out, AllOf(StartsWith("node roce-2x-cx6dx: 11 steps on 1 PF\n"), HasSubstr("  create 4 VFs\n"),
                             HasSubstr("(<stdin>:4:52) requests 4 VFs, found 0\n")));
}

TEST_F(PlanVerb, ExitsZeroWhenNothingIs) {
  const Ran ran = run(fmt::format("- {}", kRoce), policy(4, "absent"));
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, StartsWith("node roce-2x-cx6dx: nothing to change\n"));
  EXPECT_THAT(ran.err, HasSubstr("warning: policy op/p matches no NIC of node roce-2x-cx6dx"));
}

TEST_F(PlanVerb, ExitsOneOnErrorsAndPlansTheRest) {
  std::string other = policy(2, "ens2f0np0");
  other.replace(other.find("name: p"), 7, "name: q");
  const Ran ran = run(fmt::format("- {}", kRoce), policy(99, "ens1f1np1") + "---\n" + other);
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("<stdin>:4:52: error: policy op/p asks for 99 VFs, ens1f1np1 (0000:31:00.1) of node "
                                 "roce-2x-cx6dx allows 8 (sriov_totalvfs) [RB-VF-002]\n"));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("ens2f0np0 (0000:b1:00.0)"), HasSubstr("create 2 VFs")));
}

TEST_F(PlanVerb, AnUnreadableFileIsNamed) {
  const Ran ran = run(fmt::format("{} {}", (folder_ / "absent.yaml").string(), kRoce));
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.err, HasSubstr("absent.yaml: ENOENT (No such file or directory)"));
}

TEST_F(PlanVerb, ReadsDirectoriesWithFoldersInside) {
  write("m/b/policy.yml", policy(4, "ens1f1np1"));
  write("m/notes.txt", "not: read: at: all");
  write("m/a.json", R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "x", "labels": {"a": "b"}}})");
  const Ran ran = run(fmt::format("{} {}", (folder_ / "m").string(), kRoce));
  EXPECT_EQ(ran.status, 2) << ran.err;
  EXPECT_THAT(ran.err, IsEmpty());
  EXPECT_THAT(ran.out, HasSubstr("create 4 VFs"));
}

TEST_F(PlanVerb, JsonIsOneDocument) {
  const Ran ran = run(fmt::format("- -o json {}", kRoce), policy(4, "ens1f1np1"));
  EXPECT_EQ(ran.status, 2);
  doc::Diagnostics diagnostics;
  auto json = doc::parse_json(std::make_shared<doc::Source>(doc::Source{"stdout", ran.out}), diagnostics);
  ASSERT_TRUE(json.has_value()) << doc::render(diagnostics);
  const doc::Value* nodes = json->find("nodes");
  ASSERT_TRUE(nodes != nullptr && nodes->as_array() && nodes->as_array()->size() == 1);
  const doc::Value& node = nodes->as_array()->front();
  EXPECT_EQ(*node.find("changes")->as_bool(), true);
  EXPECT_EQ(node.find("pfs")->as_array()->front().find("steps")->as_array()->size(), 11U);
}

TEST_F(PlanVerb, SeveralNodesFromFacts) {
  const std::string facts =
      "--facts testdata/discover/roce-2x-cx6dx/facts.json --facts testdata/discover/seed-six-cx7/facts.json";
  Ran ran = run("- " + facts, policy(4, "ens1f1np1"));
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("node roce-2x-cx6dx: 11 steps"), HasSubstr("node seed-six-cx7: nothing")));
  ran = run("- --node seed-six-cx7 " + facts, policy(4, "ens1f1np1"));
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, Not(HasSubstr("roce-2x-cx6dx")));
  ran = run("- --node other " + facts, policy(4, "ens1f1np1"));
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("node other not found in the facts; found: roce-2x-cx6dx, seed-six-cx7"));
}

TEST_F(PlanVerb, FactsTakeOneFileEach) {
  const auto file = write("p.yaml", policy(4, "ens1f1np1"));
  const Ran ran = run("--facts testdata/discover/roce-2x-cx6dx/facts.json " + file.string());
  EXPECT_EQ(ran.status, 2) << ran.err;
}

TEST_F(PlanVerb, OptionsReachThePlan) {
  Ran ran = run(fmt::format("- --resource-prefix intel.com --soft-rdma {}", kRoce), policy(4, "ens1f1np1"));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("intel.com/r  4 VFs"), HasSubstr("; soft RDMA\n")));
  ran = run("- --facts x --from y", "");
  EXPECT_EQ(ran.status, 1);
  ran = run("", "");
  EXPECT_EQ(ran.status, 1) << "FILES are required";
  ran = run("--help", "");
  EXPECT_EQ(ran.status, 0);
}

TEST_F(PlanVerb, NothingGivenIsSaid) {
  const Ran ran = run(fmt::format("- {}", kRoce), "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: x }\n");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.err, HasSubstr("no policies, networks or pods in the given files"));
}

TEST_F(PlanVerb, WhatCannotBeReadIsNotTakenForNothing) {
  const Ran ran = run(fmt::format("- {}", kRoce),
                      "apiVersion: sriovnetwork.openshift.io/v1\nkind: SriovNetworkNodePolicy\n"
                      "metadata: {name: p, namespace: n}\nspec: {resourceName: r, numVfs: 2}\n");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("[RB-API-006]"),
                             HasSubstr("railbed: the manifests have errors; objects that cannot be read are not in "
                                       "this plan"),
                             Not(HasSubstr("nothing to plan"))));
}

}  // namespace
}  // namespace railbed
