// SPDX-License-Identifier: Apache-2.0
// Other forms of the verbs' declarations: help, version, manual pages, completions (by a real bash).
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testdata.h"
#include "run_verb.h"

namespace railbed {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

os::RunResult bash(const std::string& script) {
  auto ran = os::real_processes()->run({.program = "/bin/bash",
                                        .arguments = {"-c", script},
                                        .environment = {"LC_ALL=C", "PATH=/usr/bin:/bin"},
                                        .input = "",
                                        .deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30)});
  EXPECT_TRUE(ran.has_value()) << ran.error().to_string();
  return ran ? *ran : os::RunResult{};
}

// The words that bash offers for the last of `words`, where the cursor is, in directory testdata/.
std::vector<std::string> completed(const std::string& words) {
  os::RunResult ran = bash("cd " + testdata().string() +
                           "; source <(" RAILBED_PROGRAM " completion bash); compopt() { :; }; COMP_WORDS=(" + words +
                           "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _railbed; printf '%s\\n' \"${COMPREPLY[@]}\"");
  EXPECT_THAT(ran.errors, IsEmpty()) << words;
  return lines_of(ran.output);
}

TEST(Completion, OffersVerbsAndSubcommands) {
  EXPECT_THAT(completed("railbed ''"), AllOf(Contains("check"), Contains("perf"), Contains("help")));
  EXPECT_THAT(completed("railbed at"), ElementsAre("attachments"));
  EXPECT_THAT(completed("railbed help disc"), ElementsAre("discover"));
  EXPECT_THAT(completed("railbed perf re"), ElementsAre("report"));
  EXPECT_THAT(completed("railbed frob ''"), ElementsAre(""));
}

TEST(Completion, OffersOptionsOfTheCommandAlone) {
  EXPECT_THAT(completed("railbed gc --"), ElementsAre("--help", "--output", "--yes", "--dry-run", "--state-dir",
                                                      "--pending-dir", "--records", "--wait"));
  EXPECT_THAT(completed("railbed perf bw --tx"), ElementsAre("--tx-depth"));
  EXPECT_THAT(completed("railbed perf lat --tx"), ElementsAre(""));
  EXPECT_THAT(completed("railbed exec pod -- --st"), ElementsAre("")) << "it is the command's";
}

TEST(Completion, OffersChoicesBehindTheirOptions) {
  EXPECT_THAT(completed("railbed check -o s"), ElementsAre("sarif"));
  EXPECT_THAT(completed("railbed check --output = s"), ElementsAre("sarif")) << "bash parts --output=s";
  EXPECT_THAT(completed("railbed check --output ="), Contains("junit"));
  EXPECT_THAT(completed("railbed cni inst"), ElementsAre("install"));
  EXPECT_THAT(completed("railbed cni --bin-dir /x inst"), ElementsAre("install")) << "/x is a value";
  EXPECT_THAT(completed("railbed cni install --types macvlan,ho"),
              ElementsAre("macvlan,host-device", "macvlan,host-local"));
  EXPECT_THAT(completed("railbed generate --vfs ''"), ElementsAre(""));
}

TEST(Completion, OffersFilesAndDirectories) {
  EXPECT_THAT(completed("railbed check bund"), ElementsAre("bundles"));
  EXPECT_THAT(completed("railbed check a.yaml mutat"), ElementsAre("mutations.yaml"));
  EXPECT_THAT(completed("railbed discover --root m"), ElementsAre("machines"));
}

TEST(Completion, EveryScriptIsOneThatItsShellReads) {
  EXPECT_THAT(bash(RAILBED_PROGRAM " completion bash | bash -n").errors, IsEmpty());
  for (const char* shell : {"zsh", "fish"}) {
    os::RunResult ran = bash(std::string("set -o pipefail; command -v ") + shell + " >/dev/null || exit 0; " +
                             RAILBED_PROGRAM " completion " + shell + " | " + shell + " -n");
    EXPECT_EQ(ran.exit_status, 0) << shell << ran.errors;
  }
}

TEST(ManPages, AreWrittenForEveryVerbAndFitTheirLanguage) {
  os::RunResult ran = bash("set -e; folder=$(mktemp -d); trap 'rm -r $folder' EXIT; " RAILBED_PROGRAM
                           " man --write $folder; ls $folder; ! command -v groff >/dev/null || groff -man -ww "
                           "-z -Tascii $folder/*.1 >&2");
  EXPECT_EQ(ran.exit_status, 0);
  EXPECT_THAT(ran.errors, IsEmpty());
  const std::vector<std::string> pages = lines_of(ran.output);
  EXPECT_THAT(pages, Contains("railbed.1"));
  for (const std::string& line : lines_of(run_verb({"--help"}).output)) {
    if (!line.starts_with("  ")) continue;
    EXPECT_THAT(pages, Contains("railbed-" + line.substr(2, line.find(' ', 2) - 2) + ".1"));
  }
}

TEST(ManPages, SayWhatHelpSays) {
  const std::string page = run_verb({"man", "check"}).output;
  EXPECT_THAT(page, HasSubstr("\n.SH SYNOPSIS\n\\fBrailbed check\\fR [\\fIOPTION\\fR...] \\fIFILES\\fR...\n"));
  EXPECT_THAT(page, HasSubstr("\n.TP\n\\fB\\-\\-resource\\-prefix\\fR \\fITEXT\\fR\n"
                              "prefix of the SR\\-IOV operator\\(aqs resource names; default: openshift.io\n"));
  EXPECT_THAT(page, HasSubstr("\n.TP\n2\nan error was found"));
  os::RunResult none = run_verb({"man", "frob"});
  EXPECT_EQ(none.exit_status, 1);
  EXPECT_THAT(none.errors, HasSubstr("unknown verb \"frob\""));
}

TEST(Help, OfAVerbIsTheVerbsHelp) {
  EXPECT_EQ(run_verb({"help", "gc"}).output, run_verb({"gc", "--help"}).output);
  EXPECT_EQ(run_verb({"help", "exec"}).output, run_verb({"exec", "--help"}).output);
  EXPECT_EQ(run_verb({"help"}).output, run_verb({"--help"}).output);
  EXPECT_EQ(run_verb({"help", "frob"}).exit_status, 1);
}

TEST(Version, IsPrintedInThreeWays) {
  EXPECT_THAT(run_verb({"version"}).output, HasSubstr("railbed "));
  EXPECT_EQ(run_verb({"-V"}).output, run_verb({"version"}).output);
  EXPECT_EQ(run_verb({"--version"}).output, run_verb({"version"}).output);
}

}  // namespace
}  // namespace railbed
