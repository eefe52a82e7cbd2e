// SPDX-License-Identifier: Apache-2.0
// How verbs print: what a full disk, colours and control characters in names become, and -q.
#include "command/output.h"

#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testdata.h"
#include "command/exit_status.h"
#include "perf/measurement.h"
#include "run_verb.h"

namespace railbed {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string shell_quoted(const std::string& text) {
  return "'" + text + "'";
}

// The verb with standard output on a full disk.
os::RunResult run_on_a_full_disk(const std::vector<std::string>& arguments) {
  std::string command = "exec '" RAILBED_PROGRAM "'";
  for (const std::string& one : arguments) command += " " + shell_quoted(one);
  auto ran = os::real_processes()->run({.program = "/bin/sh",
                                        .arguments = {"-c", command + " >/dev/full"},
                                        .environment = {},
                                        .input = "",
                                        .deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60)});
  EXPECT_TRUE(ran.has_value()) << ran.error().to_string();
  return ran ? *ran : os::RunResult{};
}

std::string bundle(const std::string& name) {
  return (testdata() / "bundles" / name).string();
}

TEST(Output, OnAFullDiskIsAnErrorInEveryVerb) {
  const std::string manifests = bundle("roce-openshift.yaml");
  const std::string machine = (testdata() / "machines/six-cx7-unwell.machine").string();
  const std::string state = "/nowhere/railbed";
  const std::vector<std::vector<std::string>> all = {{"--help"},
                                                     {"version"},
                                                     {"help", "check"},
                                                     {"check", manifests},
                                                     {"check", "-o", "json", manifests},
                                                     {"check", "-o", "sarif", manifests},
                                                     {"explain", "--list"},
                                                     {"explain", "RB-API-003"},
                                                     {"discover", "--from", machine},
                                                     {"discover", "--from", machine, "-o", "yaml"},
                                                     {"plan", manifests, "--from", machine},
                                                     {"plan", manifests, "--from", machine, "-o", "json"},
                                                     {"size", "--profile", "infiniband", "--facts", machine},
                                                     {"generate", "--profile", "infiniband", "--facts", machine},
                                                     {"attachments", "--state-dir", state},
                                                     {"status", "--state-dir", state},
                                                     {"gc", "--state-dir", state, "--pending-dir", state},
                                                     {"down", "--state-dir", state},
                                                     {"cni", "status", "--bin-dir", state},
                                                     {"man", "check"},
                                                     {"completion", "bash"}};
  for (const auto& arguments : all) {
    const os::RunResult ran = run_on_a_full_disk(arguments);
    const std::string typed = testing::PrintToString(arguments);
    EXPECT_EQ(ran.exit_status, 1) << typed << ran.errors;
    EXPECT_EQ(ran.signal, 0) << typed;
    // Beside it a verb may print other things; this it prints once, with the reason.
    const std::string reported = "railbed: write the standard output: ENOSPC (No space left on device)\n";
    const size_t first = ran.errors.find(reported);
    EXPECT_NE(first, std::string::npos) << typed << ran.errors;
    EXPECT_EQ(ran.errors.find("the standard output", first + reported.size()), std::string::npos)
        << typed << ran.errors;
  }
}

// The verb where no file can grow: what a full disk is for the files of this process.
os::RunResult run_without_room(const std::vector<std::string>& arguments) {
  std::string command = "trap '' XFSZ; ulimit -f 0; exec '" RAILBED_PROGRAM "'";
  for (const std::string& one : arguments) command += " " + shell_quoted(one);
  auto ran = os::real_processes()->run({.program = "/bin/sh",
                                        .arguments = {"-c", command},
                                        .environment = {},
                                        .input = "",
                                        .deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60)});
  EXPECT_TRUE(ran.has_value()) << ran.error().to_string();
  return ran ? *ran : os::RunResult{};
}

class ChecksManifests : public testing::Test {
 protected:
  ChecksManifests() {
    std::string name = (std::filesystem::temp_directory_path() / "railbed-output-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    std::ofstream(path("bad.yaml")) << "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {container: []}\n";
  }
  ~ChecksManifests() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

// Each verb that writes a file that a person named: what was there stays, nothing half is left, and the reason is
// reported.
TEST_F(ChecksManifests, OnAFullDiskFilesStayAsTheyWere) {
  const std::string machine = (testdata() / "machines/six-cx7-unwell.machine").string();
  std::ofstream(path("fixable.yaml")) << content(testdata() / "check/RB-API-003/bad.yaml");
  std::ofstream(path("results.json")) << perf::to_json(std::vector<perf::Measurement>());
  for (const char* name : {"a.tar", "a.machine", "railbed.1", "report.html"}) std::ofstream(path(name)) << "before\n";
  const auto all_files = [&] {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      files[entry.path().filename().string()] = content(entry.path());
    return files;
  };
  const auto before = all_files();
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"check", "--fix", path("fixable.yaml")},
                                             {"discover", "--from", machine, "--record", path("a.tar")},
                                             {"discover", "--from", machine, "--record", path("a.machine")},
                                             {"man", "--write", folder_.string()},
                                             {"perf", "report", path("results.json"), "-o", path("report.html")}}) {
    const os::RunResult ran = run_without_room(arguments);
    const std::string typed = testing::PrintToString(arguments);
    EXPECT_EQ(ran.exit_status, 1) << typed;
    EXPECT_THAT(ran.errors, HasSubstr("EFBIG (File too large)")) << typed;
    EXPECT_EQ(all_files(), before) << typed;
  }
}

TEST_F(ChecksManifests, InColourWhereTheEnvironmentAsksForIt) {
  using Environment = std::vector<std::string>;
  const std::string plain = run_verb({"check", path("bad.yaml")}).output;
  EXPECT_THAT(plain, AllOf(HasSubstr("error: "), Not(HasSubstr("\x1b"))));
  for (const Environment& yes : {Environment{"CLICOLOR_FORCE=1"}, Environment{"CLICOLOR_FORCE=1", "TERM=dumb"},
                                 Environment{"CLICOLOR_FORCE=1", "NO_COLOR="}})
    EXPECT_THAT(run_verb({"check", path("bad.yaml")}, yes).output, HasSubstr("\x1b[31merror:\x1b[0m "));
  for (const Environment& no : {Environment{"CLICOLOR_FORCE=1", "NO_COLOR=1"}, Environment{"CLICOLOR_FORCE=0"},
                                Environment{"CLICOLOR=1", "TERM=xterm"}})
    EXPECT_EQ(run_verb({"check", path("bad.yaml")}, no).output, plain);
}

TEST_F(ChecksManifests, QuietlyWithoutTheClosingLines) {
  const std::string all = run_verb({"check", path("bad.yaml")}).output;
  const os::RunResult quiet = run_verb({"check", "-q", path("bad.yaml")});
  EXPECT_EQ(quiet.exit_status, 2);
  EXPECT_TRUE(all.starts_with(quiet.output)) << quiet.output;
  EXPECT_THAT(all.substr(quiet.output.size()), HasSubstr("1 error, 0 warnings"));
  EXPECT_THAT(run_verb({"check", "-q", bundle("roce-openshift.yaml")}).output, IsEmpty());
}

// One file behind --facts is the option's; the second one is known by what is in it.
TEST_F(ChecksManifests, WithFactsOfSeveralNodesBehindOneOption) {
  const std::string facts = "apiVersion: railbed.dev/v1\nkind: NodeFacts\nversion: 1\nnode: ";
  std::ofstream(path("a.yaml")) << facts << "a\n";
  std::ofstream(path("b.yaml")) << facts << "b\n";
  const std::string manifests = bundle("roce-openshift.yaml");
  const std::string wanted =
      run_verb({"check", "--facts", path("a.yaml"), "--facts", path("b.yaml"), manifests}).output;
  EXPECT_THAT(wanted, HasSubstr(", on 2 nodes\n"));
  EXPECT_EQ(run_verb({"check", "--facts", path("a.yaml"), path("b.yaml"), manifests}).output, wanted);
  EXPECT_EQ(run_verb({"check", manifests, "--facts", path("a.yaml"), path("b.yaml")}).output, wanted);
  EXPECT_EQ(run_verb({"check", manifests, path("a.yaml"), path("b.yaml")}).output, wanted);
  EXPECT_THAT(run_verb({"plan", manifests, "--facts", path("a.yaml"), path("b.yaml")}).output,
              AllOf(HasSubstr("node a"), HasSubstr("node b")));
}

// Lists in messages keep their lines; a line end out of somebody's name does not begin a line of its own.
TEST(GiveUp, KeepsIndentedLinesOfAMessage) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(give_up({.code = Code::kDenied, .message = "missing:\n  one\n  two\nfake: fine\x1b", .hint = "do it"}), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "railbed: missing:\n  one\n  two\\x0afake: fine\\x1b\n  do it\n");
}

TEST(Shown, EscapesWhatSteersATerminal) {
  EXPECT_EQ(shown("a\tb\n\x1b]0;title\x07\r\x7f\xc2\x9b", Colour::kNo), "a\tb\n\\x1b]0;title\\x07\\x0d\\x7f\\x9b");
  EXPECT_EQ(shown("\x1b[31mred\x1b[0m", Colour::kNo), "\\x1b[31mred\\x1b[0m");
}

TEST(Shown, KeepsColoursThatWereAskedFor) {
  EXPECT_EQ(shown("\x1b[31mred\x1b[0m\x1b[2J\x1b[", Colour::kYes), "\x1b[31mred\x1b[0m\\x1b[2J\\x1b[");
}

// The names of devices and of the host come from the machine, which may be anybody's recording.
TEST_F(ChecksManifests, AMachineWithHostileNamesSteersNoTerminal) {
  std::ofstream(path("facts.yaml"))
      << "apiVersion: railbed.dev/v1\nkind: NodeFacts\nversion: 1\nnode: \"a\\e[2Jb\\nc\"\n";
  for (const char* verb : {"check", "plan"}) {
    const os::RunResult ran = run_verb({verb, bundle("roce-openshift.yaml"), "--facts", path("facts.yaml")});
    EXPECT_THAT(ran.output + ran.errors, Not(HasSubstr("\x1b"))) << verb;
  }
}

}  // namespace
}  // namespace railbed
