// SPDX-License-Identifier: Apache-2.0
// A verb that serves: railbed reads its options and becomes railbedd, wherever both lie.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/ports/processes.h"

namespace railbed {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;

os::RunResult run(const fs::path& program, const std::vector<std::string>& arguments,
                  const std::vector<std::string>& environment = {}) {
  auto ran = os::real_processes()->run({.program = program,
                                        .arguments = arguments,
                                        .environment = environment,
                                        .input = "",
                                        .deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30)});
  EXPECT_TRUE(ran.has_value()) << ran.error().to_string();
  return ran ? *ran : os::RunResult{};
}

// Each shared library is paid for by every start of a short verb, those of C++ most of all (docs/dependencies.md).
TEST(Railbed, LoadsNoSharedLibraryOfCppAndNoneOfServers) {
  std::istringstream lines(run(RAILBED_PROGRAM, {}, {"LD_TRACE_LOADED_OBJECTS=1"}).output);
  std::set<std::string> names;
  for (std::string name, rest; lines >> name && std::getline(lines, rest);)
    names.insert(name.substr(name.rfind('/') + 1, name.find(".so") - name.rfind('/') - 1));
  EXPECT_THAT(names, testing::UnorderedElementsAre("linux-vdso", "ld-linux-x86-64", "libc", "libm", "libmnl",
                                                   "libyaml-0", "libibverbs", "libnl-3", "libnl-route-3"));
}

// An installation below a folder of its own.
class Railbedd : public testing::Test {
 protected:
  Railbedd() {
    fs::create_directories(root / "bin");
    fs::create_directories(root / "libexec/railbed");
    fs::copy_file(RAILBED_PROGRAM, railbed);
  }
  ~Railbedd() override { fs::remove_all(root); }

  // In the place of railbedd: prints its name, its arguments and its process.
  void stand_in(const std::string& path) {
    std::ofstream(root / path) << "#!/bin/sh\necho \"$0 $* as $$ of $PPID\"\nexit 5\n";
    fs::permissions(root / path, fs::perms::owner_all);
  }

  static fs::path new_folder() {
    std::string name = testing::TempDir() + "/railbed.XXXXXX";
    return fs::canonical(mkdtemp(name.data()));
  }

  fs::path root = new_folder();
  fs::path railbed = root / "bin/railbed";
};

TEST_F(Railbedd, IsFoundWhereItIsInstalledAndBesideRailbedWhereItIsBuilt) {
  stand_in("libexec/railbed/railbedd");
  const std::string arguments = fmt::format(" --for {} agent --alone --workers 7 as ", RAILBED_VERSION);
  os::RunResult ran = run(railbed, {"agent", "--alone", "--workers", "7"});
  EXPECT_EQ(ran.exit_status, 5) << "its exit status is the verb's";
  EXPECT_TRUE(ran.output.starts_with((root / "libexec/railbed/railbedd").string() + arguments)) << ran.output;
  // The shell's parent is this test's process, so that there is none between them.
  EXPECT_TRUE(ran.output.ends_with(fmt::format(" of {}\n", getpid()))) << ran.output;

  stand_in("bin/railbedd");
  fs::create_symlink(railbed, root / "link");
  ran = run(root / "link", {"agent", "--alone", "--workers", "7"});
  EXPECT_TRUE(ran.output.starts_with((root / "bin/railbedd").string() + arguments)) << ran.output;
}

TEST_F(Railbedd, ThatIsMissingOrCannotBeExecutedIsToldWithItsPlace) {
  os::RunResult ran = run(railbed, {"agent"});
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_EQ(ran.errors, fmt::format("railbed: railbedd, which runs `railbed agent`, is missing: there is no "
                                    "{0}/libexec/railbed/railbedd and no {0}/bin/railbedd\n"
                                    "  install railbed again, which puts both in place\n",
                                    root.string()));
  stand_in("bin/railbedd");
  fs::permissions(root / "bin/railbedd", fs::perms::owner_read);
  ran = run(railbed, {"agent"});
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_EQ(ran.errors, fmt::format("railbed: exec {}/bin/railbedd: EACCES (Permission denied)\n", root.string()));
}

// Help and wrong options are railbed's, so they need no railbedd.
TEST_F(Railbedd, IsNotStartedForHelpNorByWrongOptions) {
  EXPECT_EQ(run(railbed, {"agent", "--help"}).exit_status, 0);
  const os::RunResult ran = run(railbed, {"agent", "--adopted", "x"});
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_EQ(ran.errors,
            "railbed agent: there is no option --adopted (did you mean --adopt?)\n  railbed agent --help tells more\n");
}

TEST_F(Railbedd, RefusesARailbedOfAnotherVersion) {
  const os::RunResult ran = run(RAILBEDD_PROGRAM, {"--for", "0.0.9", "agent"});
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_THAT(ran.output, IsEmpty());
  EXPECT_EQ(ran.errors,
            fmt::format("railbed: railbed 0.0.9 started railbedd {}: one of the two is left from another version\n"
                        "  install railbed again, which puts both in place\n",
                        RAILBED_VERSION));
}

TEST_F(Railbedd, StartedByHandSaysHowItIsStarted) {
  EXPECT_EQ(run(RAILBEDD_PROGRAM, {"--version"}).output, fmt::format("railbedd {}\n", RAILBED_VERSION));
  using Arguments = std::vector<std::string>;
  for (const Arguments& arguments : {Arguments{}, Arguments{"agent"}, Arguments{"--for", RAILBED_VERSION, "check"}}) {
    const os::RunResult ran = run(RAILBEDD_PROGRAM, arguments);
    EXPECT_EQ(ran.exit_status, 1);
    EXPECT_EQ(
        ran.errors,
        "railbed: railbedd is started by railbed\n  use `railbed agent`; `railbed agent --help` tells its options\n");
  }
}

}  // namespace
}  // namespace railbed
