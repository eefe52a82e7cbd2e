// SPDX-License-Identifier: Apache-2.0
// railbed discover as a program: what it reads and writes beside its tables.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>

#include "run_verb.h"

namespace railbed {
namespace {

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
}

TEST_F(DiscoverVerb, AFolderWithoutAMachineIsAnError) {
  const os::RunResult ran = run_verb({"discover", "--root", folder_.string()});
  EXPECT_NE(ran.exit_status, 0);
  EXPECT_THAT(ran.errors, HasSubstr("holds no machine: it has no sys/"));
}

}  // namespace
}  // namespace railbed
