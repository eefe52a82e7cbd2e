// SPDX-License-Identifier: Apache-2.0
// railbed cni as a program, with a folder of plugins that the test made.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testdata.h"
#include "run_verb.h"

namespace railbed {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class CniVerb : public testing::Test {
 protected:
  CniVerb() {
    std::string name = (std::filesystem::temp_directory_path() / "railbed-cni-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    std::filesystem::create_directories(bin());
  }
  ~CniVerb() override { std::filesystem::remove_all(folder_); }

  os::RunResult run(const std::string& action, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"cni",         action,       "--bin-dir", bin(),
                                          "--state-dir", folder_ / "", "--shim",    SHIM_PROGRAM};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_verb(arguments);
  }
  std::string bin() const { return folder_ / "bin"; }
  void put(const std::string& name, const std::string& text) const { std::ofstream(bin() + "/" + name) << text; }

  std::filesystem::path folder_;
};

TEST_F(CniVerb, InstallsReportsAndUninstalls) {
  put("macvlan", "the original");
  os::RunResult before = run("status", {"--types", "macvlan,sbr"});
  EXPECT_EQ(before.exit_status, 0);
  EXPECT_EQ(before.output, "macvlan       original \nsbr           absent   \n");
  os::RunResult installed = run("install", {"--types", "macvlan,sbr"});
  EXPECT_EQ(installed.exit_status, 0) << installed.errors;
  EXPECT_THAT(installed.errors, IsEmpty());
  EXPECT_THAT(installed.output, HasSubstr("macvlan       shim     "));
  EXPECT_THAT(installed.output, HasSubstr("  original kept\nsbr           shim     "));
  EXPECT_EQ(content(bin() + "/macvlan"), content(SHIM_PROGRAM));
  EXPECT_EQ(run("uninstall", {"--types", "macvlan,sbr"}).exit_status, 0);
  EXPECT_EQ(content(bin() + "/macvlan"), "the original");
  EXPECT_FALSE(std::filesystem::exists(bin() + "/sbr"));
}

TEST_F(CniVerb, RefusesATypeThatIsNotServed) {
  put("frob", "somebody's plugin");
  for (const char* types : {"frob", "macvlan,frob"}) {
    os::RunResult ran = run("install", {"--types", types});
    EXPECT_EQ(ran.exit_status, 1);
    EXPECT_THAT(ran.output, IsEmpty());
    EXPECT_EQ(
        ran.errors,
        "railbed cni: --types: frob not in {sriov,ib-sriov,ib-sriov-cni,host-device,macvlan,ipvlan,dummy,tuning,rdma,sbr,"
        "vrf,host-local,static,whereabouts,dhcp,railbed}\n"
        "  run `railbed cni --help` for details\n");
  }
  EXPECT_EQ(content(bin() + "/frob"), "somebody's plugin");
  EXPECT_FALSE(std::filesystem::exists(bin() + "/macvlan"));
}

TEST_F(CniVerb, SaysWhatItCannotDo) {
  os::RunResult action = run("replace");
  EXPECT_EQ(action.exit_status, 1);
  EXPECT_EQ(action.errors,
            "railbed cni: ACTION: replace not in {install,uninstall,status}\n  run `railbed cni --help` for details\n");
  std::ofstream(folder_ / "no-shim") << "some program";
  os::RunResult shim = run_verb({"cni", "install", "--bin-dir", bin(), "--shim", (folder_ / "no-shim").string()});
  EXPECT_EQ(shim.exit_status, 1);
  EXPECT_THAT(shim.errors, HasSubstr("railbed: "));
  EXPECT_FALSE(std::filesystem::exists(bin() + "/macvlan"));
}

}  // namespace
}  // namespace railbed
