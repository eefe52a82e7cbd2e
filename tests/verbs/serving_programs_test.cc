// SPDX-License-Identifier: Apache-2.0
// A verb that serves: railbed reads its options and becomes the program that they are for, wherever both lie.
#include <filesystem>
#include <fstream>
#include <map>
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

// What the loader maps for a program.
std::set<std::string> libraries_of(const fs::path& program) {
  std::istringstream lines(run(program, {}, {"LD_TRACE_LOADED_OBJECTS=1"}).output);
  std::set<std::string> names;
  for (std::string name, rest; lines >> name && std::getline(lines, rest);)
    names.insert(name.substr(name.rfind('/') + 1, name.find(".so") - name.rfind('/') - 1));
  return names;
}

bool has_text(const fs::path& program, std::string_view text) {
  std::ostringstream content;
  content << std::ifstream(program, std::ios::binary).rdbuf();
  return content.view().find(text) != std::string_view::npos;
}

// Each shared library is paid for by every start of a short verb, those of C++ most of all (docs/dependencies.md).
TEST(Railbed, LoadsNoSharedLibraryOfCppAndNoneOfServers) {
  EXPECT_THAT(libraries_of(RAILBED_PROGRAM),
              testing::UnorderedElementsAre("linux-vdso", "ld-linux-x86-64", "libc", "libm", "libmnl"));
}

// Those of a cluster's HTTP and gRPC would be more than half of the agent's memory at its start.
TEST(Railbedd, HasNothingOfACluster) {
  EXPECT_THAT(libraries_of(RAILBEDD_PROGRAM),
              testing::UnorderedElementsAre("linux-vdso", "ld-linux-x86-64", "libc", "libm", "libgcc_s", "libstdc++",
                                            "libfmt", "libmnl", "libprometheus-cpp-core"));
  // gRPC is linked statically; the names of its types are there wherever it is.
  EXPECT_TRUE(has_text(CLUSTER_PROGRAM, "N4grpc"));
  EXPECT_FALSE(has_text(RAILBEDD_PROGRAM, "N4grpc"));
}

// An installation below a folder of its own.
class ServingProgram : public testing::Test {
 protected:
  ServingProgram() {
    fs::create_directories(root / "bin");
    fs::create_directories(root / "libexec/railbed");
    fs::copy_file(RAILBED_PROGRAM, railbed);
  }
  ~ServingProgram() override { fs::remove_all(root); }

  // In the place of such a program: prints its name, its arguments and its process.
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

TEST_F(ServingProgram, IsFoundWhereItIsInstalledAndBesideRailbedWhereItIsBuilt) {
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

TEST_F(ServingProgram, IsTheOneWithTheClusterWhereTheOptionsNameOne) {
  stand_in("bin/railbedd");
  stand_in("bin/railbed-cluster");
  struct Case {
    std::vector<std::string> arguments;
    std::string program;
  };
  for (const Case& one :
       {Case{{"agent"}, "railbedd"}, Case{{"agent", "--cache", "x", "--namespace", "y"}, "railbedd"},
        Case{{"agent", "--context", "x"}, "railbedd"}, Case{{"agent", "--kubeconfig", "x"}, "railbed-cluster"},
        Case{{"agent", "--kubeconfig=x", "--context", "y"}, "railbed-cluster"},
        Case{{"agent", "--in-cluster"}, "railbed-cluster"}, Case{{"operator"}, "railbed-cluster"},
        Case{{"preflight"}, "railbed-cluster"}, Case{{"addresses", "list", "-o", "json"}, "railbed-cluster"}}) {
    const os::RunResult ran = run(railbed, one.arguments);
    const std::string started = fmt::format("{} --for {} {} as ", (root / "bin" / one.program).string(),
                                            RAILBED_VERSION, fmt::join(one.arguments, " "));
    EXPECT_TRUE(ran.output.starts_with(started)) << ran.output << "\ninstead of " << started;
  }
}

TEST_F(ServingProgram, ThatIsMissingOrCannotBeExecutedIsReportedWithItsPlace) {
  os::RunResult ran = run(railbed, {"agent"});
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_EQ(ran.errors, fmt::format("railbed: railbedd, which runs `railbed agent`, is missing: there is no "
                                    "{0}/libexec/railbed/railbedd and no {0}/bin/railbedd\n"
                                    "  reinstall railbed with all its programs\n",
                                    root.string()));
  stand_in("bin/railbedd");
  fs::permissions(root / "bin/railbedd", fs::perms::owner_read);
  ran = run(railbed, {"agent"});
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_EQ(ran.errors, fmt::format("railbed: exec {}/bin/railbedd: EACCES (Permission denied)\n", root.string()));
}

// Help and wrong options are railbed's, so they need no railbedd.
TEST_F(ServingProgram, IsNotStartedForHelpNorByWrongOptions) {
  EXPECT_EQ(run(railbed, {"agent", "--help"}).exit_status, 0);
  const os::RunResult ran = run(railbed, {"agent", "--adopted", "x"});
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_EQ(ran.errors,
            "railbed agent: unknown option --adopted (did you mean --adopt?)\n"
            "  run `railbed agent --help` for details\n");
}

TEST_F(ServingProgram, RefusesOptionsThatItCannotServeBeforeItTouchesAnything) {
  os::RunResult ran = run(RAILBED_PROGRAM, {"agent", "--socket", root / "socket", "--context", "x"});
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_EQ(ran.errors, "railbed: --context requires --kubeconfig\n");
  ran = run(RAILBEDD_PROGRAM,
            {"--for", RAILBED_VERSION, "agent", "--socket", root / "socket", "--kubeconfig", "nowhere"});
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_EQ(ran.errors,
            "railbed: railbedd does not support clusters; railbed-cluster does\n"
            "  run `railbed agent`, which starts the right program\n");
  EXPECT_FALSE(fs::exists(root / "socket"));
  for (const auto& [after, message] : std::map<std::string, std::string>{
           {"1 day",
            "--reclaim-after: \"1 day\" is not a duration\n"
            "  a number with s, m, h or d, of at most 3650d: 90s, 30m, 24h, 2d"},
           {"0h", "--reclaim-after 0h is too short: a re-created Node would lose its addresses immediately"}}) {
    ran = run(RAILBED_PROGRAM, {"operator", "--reclaim-after", after});
    EXPECT_EQ(ran.exit_status, 1);
    EXPECT_EQ(ran.errors, "railbed: " + message + "\n");
  }
}

TEST_F(ServingProgram, RefusesARailbedOfAnotherVersion) {
  for (const fs::path program : {RAILBEDD_PROGRAM, CLUSTER_PROGRAM}) {
    const os::RunResult ran = run(program, {"--for", "0.0.9", "agent"});
    EXPECT_EQ(ran.exit_status, 1);
    EXPECT_THAT(ran.output, IsEmpty());
    EXPECT_EQ(ran.errors, fmt::format("railbed: railbed 0.0.9 started {} {}: the two are of different versions\n"
                                      "  reinstall railbed to get matching programs\n",
                                      program.filename().string(), RAILBED_VERSION));
  }
}

TEST_F(ServingProgram, StartedByHandSaysHowItIsStarted) {
  using Arguments = std::vector<std::string>;
  for (const fs::path program : {RAILBEDD_PROGRAM, CLUSTER_PROGRAM}) {
    const std::string name = program.filename();
    EXPECT_EQ(run(program, {"--version"}).output, fmt::format("{} {}\n", name, RAILBED_VERSION));
    for (const Arguments& arguments : {Arguments{}, Arguments{"agent"}, Arguments{"--for", RAILBED_VERSION, "check"}}) {
      const os::RunResult ran = run(program, arguments);
      EXPECT_EQ(ran.exit_status, 1);
      EXPECT_EQ(ran.errors, fmt::format("railbed: {} is started by railbed\n"
                                        "  use `railbed agent`; `railbed agent --help` shows its options\n",
                                        name));
    }
  }
}

}  // namespace
}  // namespace railbed
