// SPDX-License-Identifier: Apache-2.0
// What a program of others may not do, by running real ones: what the kernel says of them, and what they fail at.
#include "os/ports/fence.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/testdata.h"
#include "os/real/capabilities.h"
#include "os/real/fence.h"
#include "scratch.h"

namespace railbed::os {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

std::string unit() {
  std::ifstream file(testdata() / "../deploy/systemd/railbed-agent.service");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The words of all lines "KEY=word word".
std::vector<std::string> words_of(const std::string& key) {
  std::vector<std::string> words;
  std::istringstream lines(unit());
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key + "=")) continue;
    std::istringstream rest(line.substr(key.size() + 1));
    for (std::string word; rest >> word;) words.push_back(word);
  }
  return words;
}

class FenceTest : public ScratchTest {
 protected:
  // What a shell prints, run as a program of others.
  std::string output_of(const std::string& script, Trust trust = Trust::kOthers) {
    const auto run = kernel_->processes().run({.program = "/bin/sh",
                                               .arguments = {"-c", script},
                                               .environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
                                               .input = "",
                                               .deadline = kernel_->clock().now() + std::chrono::seconds(20),
                                               .trust = trust});
    return run.has_value() ? run->output + run->errors : run.error().to_string();
  }
  std::string status_of(const std::string& key, Trust trust) {
    std::string text = output_of("grep ^" + key + ": /proc/self/status", trust);
    text.erase(0, text.find('\t') + 1);
    return text.substr(0, text.find('\n'));
  }
};

TEST_F(FenceTest, IsThatOfTheUnit) {
  EXPECT_THAT(words_of("CapabilityBoundingSet"), ElementsAreArray(kFenceCapabilities));
  EXPECT_THAT(words_of("RestrictAddressFamilies"), ElementsAreArray(kFenceFamilies));
  EXPECT_THAT(words_of("RestrictNamespaces"), ElementsAre("net"));
  EXPECT_THAT(words_of("NoNewPrivileges"), ElementsAre("yes"));
  std::vector<std::string> groups;
  for (const CallGroup& group : fence_calls()) groups.push_back((groups.empty() ? "~" : "") + std::string(group.name));
  EXPECT_THAT(words_of("SystemCallFilter"), ElementsAreArray(groups));
}

TEST_F(FenceTest, IsAroundProgramsOfOthers) {
  uint64_t kept = 0;
  for (const std::string_view name : kFenceCapabilities) kept |= uint64_t{1} << *capability_number(name);
  for (const char* set : {"CapBnd", "CapEff", "CapPrm"}) {
    const uint64_t has = std::stoull(status_of(set, Trust::kOthers), nullptr, 16);
    EXPECT_EQ(has & ~kept, 0u) << set;
    EXPECT_NE(has, 0u) << set;
  }
  EXPECT_EQ(status_of("NoNewPrivs", Trust::kOthers), "1");
  EXPECT_EQ(status_of("Seccomp", Trust::kOthers), "2");
  EXPECT_EQ(status_of("NoNewPrivs", Trust::kOthersUnfenced), status_of("NoNewPrivs", Trust::kOwn));
  EXPECT_EQ(status_of("CapBnd", Trust::kOthersUnfenced), status_of("CapBnd", Trust::kOwn));
  EXPECT_NE(status_of("CapBnd", Trust::kOthers), status_of("CapBnd", Trust::kOwn)) << "this test proves nothing here";
}

TEST_F(FenceTest, LetsProgramsDoWhatPluginsDoAndNothingElse) {
  EXPECT_EQ(output_of("ip link add fence0 type veth peer name fence1 && ip link del fence0 && echo done"), "done\n");
  EXPECT_THAT(output_of("nsenter --net=/run/netns/pod ip link show lo >/dev/null && echo done"), HasSubstr("done\n"))
      << "namespaces of networks can be entered";
  EXPECT_EQ(output_of("sleep 0.01 & wait && echo done"), "done\n");
  EXPECT_THAT(output_of("mount -t tmpfs none /mnt"), HasSubstr("permission denied"));
  for (const char* denied :
       {"unshare --mount true", "unshare --user true", "chroot / true", "date -s 2020-01-01", "nice -n 5 true"})
    EXPECT_THAT(output_of(denied), HasSubstr("Operation not permitted")) << denied;
}

TEST_F(FenceTest, ProgramsThatOthersCanChangeAreNotExecuted) {
  namespace fs = std::filesystem;
  const std::string folder = fmt::format("/run/netns/fence-{}", ::getpid());
  const std::string program = folder + "/bin/tool";
  fs::create_directories(folder + "/bin");
  std::ofstream(program) << "#!/bin/sh\n";
  const auto said = [](const std::string& path) {
    const Result<void> checked = only_root_changes(path);
    return checked.has_value() ? "" : checked.error().message;
  };
  fs::permissions(program, fs::perms(0755));
  EXPECT_EQ(said(program), "");
  fs::permissions(program, fs::perms(0775));
  EXPECT_EQ(said(program), "") << "the group is root's";
  EXPECT_EQ(::chown(program.c_str(), 0, 50), 0);
  EXPECT_EQ(said(program), program + ": " + program + " is writable by group 50");
  fs::permissions(program, fs::perms(0757));
  EXPECT_EQ(said(program), program + ": " + program + " is writable by all users");
  EXPECT_EQ(::chown(program.c_str(), 1000, 0), 0);
  EXPECT_EQ(said(program), program + ": " + program + " belongs to user 1000");
  EXPECT_EQ(::chown(program.c_str(), 0, 0), 0);
  fs::permissions(program, fs::perms(0755));
  fs::permissions(folder + "/bin", fs::perms(0777));
  EXPECT_EQ(said(program), program + ": " + folder + "/bin is writable by all users");
  // By a link into it, too.
  fs::create_directories(folder + "/links");
  fs::create_symlink("../bin/tool", folder + "/links/tool");
  EXPECT_EQ(said(folder + "/links/tool"), folder + "/links/tool: " + folder + "/bin is writable by all users");
  fs::permissions(folder + "/bin", fs::perms(01777));
  EXPECT_EQ(said(folder + "/links/tool"), "");
  EXPECT_EQ(said(folder + "/nothing"), "look at " + folder + "/nothing: ENOENT (No such file or directory)");

  fs::permissions(folder + "/bin", fs::perms(0777));
  const auto run = kernel_->processes().run({.program = program,
                                             .arguments = {},
                                             .environment = {},
                                             .input = "",
                                             .deadline = kernel_->clock().now() + std::chrono::seconds(20),
                                             .trust = Trust::kOthersUnfenced});
  ASSERT_FALSE(run.has_value());
  EXPECT_THAT(run.error().to_string(),
              HasSubstr(fmt::format("run {0}: {0}: {1}/bin is writable by all users\n", program, folder)));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace railbed::os
