// SPDX-License-Identifier: Apache-2.0
// railbed discover as a program: what it reads and writes beside its tables.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>

#include "doc/members.h"
#include "json_schema.h"
#include "run_verb.h"

namespace railbed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DiscoverVerb : public testing::Test {
 protected:
  DiscoverVerb() {
    std::string name = (std::filesystem::temp_directory_path() / "railbed-discover-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~DiscoverVerb() override { std::filesystem::remove_all(folder_); }

  std::string in_folder(const std::string& name) const { return (folder_ / name).string(); }
  static std::string machine(const std::string& name) { return std::string(SOURCE_DIR "/testdata/machines/") + name; }

  std::filesystem::path folder_;
};

TEST_F(DiscoverVerb, RecordingATextLeavesTheTarFileBesideItAlone) {
  std::ofstream(in_folder("x.machine.tar")) << "precious";
  EXPECT_EQ(run_verb({"discover", "--from", machine("lab.machine"), "--record", in_folder("x.machine")}).exit_status,
            0);
  std::ifstream kept(in_folder("x.machine.tar"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(kept), {}), "precious");
  EXPECT_EQ(run_verb({"discover", "--from", in_folder("x.machine"), "-o", "json"}).output,
            run_verb({"discover", "--from", machine("lab.machine"), "-o", "json"}).output);
}

TEST_F(DiscoverVerb, ACompressedRecordingServesAsFacts) {
  const std::string recording = in_folder("node.tar.gz");
  EXPECT_EQ(run_verb({"discover", "--from", machine("gpu8-ib8.machine"), "--record", recording}).exit_status, 0);
  const os::RunResult sized = run_verb({"size", "--facts", recording, "--profile", "infiniband"});
  EXPECT_EQ(sized.exit_status, 0) << sized.errors;
  EXPECT_THAT(sized.output, HasSubstr("8 rails for 8 GPUs"));
  std::ofstream(in_folder("rails.yaml"))
      << run_verb({"generate", "--facts", recording, "--profile", "infiniband"}).output;
  const os::RunResult planned = run_verb({"plan", "--facts", recording, "--", in_folder("rails.yaml")});
  EXPECT_EQ(planned.exit_status, 2) << planned.errors;
  EXPECT_TRUE(planned.output.starts_with("node gpu8-ib8: ")) << planned.output;
}

TEST_F(DiscoverVerb, WritesNcclsTopologyAndComparesItWithTheMachine) {
  const std::vector<std::string> from = {"discover", "--from", machine("gpu8-ib8.machine")};
  const auto discover = [&](std::vector<std::string> more) {
    more.insert(more.begin(), from.begin(), from.end());
    return run_verb(more);
  };
  const std::string topology = discover({"-o", "nccl"}).output;
  const std::string same = in_folder("same.xml");
  std::ofstream(same) << topology;
  const os::RunResult agrees = discover({"--nccl-topo", same});
  EXPECT_EQ(agrees.exit_status, 0);
  EXPECT_EQ(agrees.errors, "");
  EXPECT_EQ(agrees.output, discover({}).output);

  // A NIC that is not here stands where the first GPU's NIC should.
  const std::string other = in_folder("other.xml");
  std::string moved = topology;
  const size_t nic = moved.find("busid=\"0000:19:00.0\"");
  ASSERT_NE(nic, std::string::npos);
  moved.replace(nic, 20, "busid=\"0000:1f:00.0\"");
  std::ofstream(other) << moved;
  const os::RunResult differs = discover({"--nccl-topo", other, "-o", "json"});
  EXPECT_EQ(differs.exit_status, 0);
  EXPECT_EQ(differs.errors, other + ": here, but not in it: mlx5_0 (0000:19:00.0)\n" + other +
                                ": in it, but not here: NIC 0000:1f:00.0\n");

  std::ofstream(in_folder("bad.xml")) << "<graphs/>";
  const os::RunResult refused = discover({"--nccl-topo", in_folder("bad.xml")});
  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_EQ(refused.errors,
            "railbed: " + in_folder("bad.xml") + ":1: <graphs>: a topology of NCCL begins with <system>\n");
}

TEST_F(DiscoverVerb, ComparesNodesByTheirFacts) {
  const std::string first = machine("gpu8-ib8.machine");
  const std::string second = in_folder("b.json");
  std::string facts = run_verb({"discover", "--from", first, "--node", "b", "-o", "json"}).output;
  const size_t place = facts.find("0000:9b:00.0");
  ASSERT_NE(place, std::string::npos);
  facts.replace(place, 12, "0000:9d:00.0");
  std::ofstream(second) << facts;
  const os::RunResult compared = run_verb({"discover", "--facts", first, second});
  EXPECT_EQ(compared.exit_status, 0) << compared.errors;
  EXPECT_THAT(compared.output, HasSubstr("2 nodes with "));
  EXPECT_THAT(compared.output,
              HasSubstr("\nDiffers:\n  - rail 4: PCI address: 0000:9b:00.0 on gpu8-ib8, 0000:9d:00.0 on b\n"));
  const doc::Value fleet = parsed(run_verb({"discover", "--facts", first, second, "-o", "json"}).output);
  ASSERT_NE(doc::list_in(fleet, "findings"), nullptr);
  std::vector<std::string> found;
  for (const doc::Value& one : *doc::list_in(fleet, "findings"))
    found.push_back(doc::text_in(one, "node") + " " + doc::text_in(one, "id"));
  EXPECT_THAT(found, ElementsAre("gpu8-ib8 RB-PORT-001", "gpu8-ib8 RB-PORT-005", "gpu8-ib8 RB-PORT-004",
                                 "gpu8-ib8 RB-PCIE-001", "gpu8-ib8 RB-PCIE-004", "b RB-PORT-001", "b RB-PORT-005",
                                 "b RB-PORT-004", "b RB-PCIE-001", "b RB-PCIE-004"));
  // One node is no fleet.
  EXPECT_EQ(run_verb({"discover", "--facts", first}).output, run_verb({"discover", "--from", first}).output);
  EXPECT_EQ(run_verb({"discover", "--facts", first, second, "-o", "nccl"}).errors,
            "railbed: an NCCL topology describes one node, found 2 nodes\n");
}

TEST_F(DiscoverVerb, ProblemsAreExplained) {
  const os::RunResult explained = run_verb({"explain", "rb-pcie-001"});
  EXPECT_EQ(explained.exit_status, 0) << explained.errors;
  EXPECT_TRUE(explained.output.starts_with("RB-PCIE-001: A PCIe link below what both ends support\n\n"));
  EXPECT_TRUE(explained.output.ends_with("\n\n(docs/findings/machine.md)\n"));
  EXPECT_THAT(run_verb({"explain", "--list"}).output, HasSubstr("\nRB-CLUSTER-002 Kubernetes is too old\n"));
}

TEST_F(DiscoverVerb, AFolderWithoutAMachineIsAnError) {
  const os::RunResult ran = run_verb({"discover", "--root", folder_.string()});
  EXPECT_NE(ran.exit_status, 0);
  EXPECT_THAT(ran.errors, HasSubstr("is not a recorded machine: it has no sys/"));
}

}  // namespace
}  // namespace railbed
