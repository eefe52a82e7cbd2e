// SPDX-License-Identifier: Apache-2.0
// Messages about the command line of a verb: help, and the error for each kind of mistake.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run_verb.h"

namespace railbed {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kHelpOfGc =
    R"(Lists what no network namespace owns: records, addresses, interfaces, sandboxes, files; --yes removes it.
Usage: railbed gc [OPTIONS]

Options:
  -h,--help                   Print this help message and exit
  -o,--output TEXT:{table,json,yaml}
                              table, json or yaml
  --yes Excludes: --dry-run   remove what was found
  --dry-run Excludes: --yes   only show it (default)
  --state-dir TEXT=/run/railbed
                              state directory
  --pending-dir TEXT=/var/lib/railbed/pending-del
                              where the shim queues DELs that no agent answered
  --records TEXT=/var/lib/railbed/records
                              records of what DELs must undo even after a reboot
  --wait FLOAT                seconds to wait for another running railbed

)";

TEST(CommandLine, HelpTellsEachOptionWithItsChoicesDefaultAndWhatItExcludes) {
  os::RunResult ran = run_verb({"gc", "--help"});
  EXPECT_EQ(ran.exit_status, 0);
  EXPECT_EQ(ran.output, kHelpOfGc);
  EXPECT_THAT(ran.errors, IsEmpty());
}

struct Wrong {
  std::vector<std::string> arguments;
  std::string message;
};

class WrongLine : public testing::TestWithParam<Wrong> {};

TEST_P(WrongLine, EndsWithOneAndOneMessage) {
  os::RunResult ran = run_verb(GetParam().arguments);
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_THAT(ran.output, IsEmpty());
  const std::string& verb = GetParam().arguments.front();
  EXPECT_EQ(ran.errors,
            "railbed " + verb + ": " + GetParam().message + "\n  run `railbed " + verb + " --help` for details\n");
}

INSTANTIATE_TEST_SUITE_P(
    Each, WrongLine,
    testing::Values(
        Wrong{{"gc", "--frob"}, "unknown option --frob"},
        Wrong{{"gc", "--stat-dir", "x"}, "unknown option --stat-dir (did you mean --state-dir?)"},
        Wrong{{"gc", "--ye=1"}, "unknown option --ye (did you mean --yes?)"},
        Wrong{{"gc", "x"}, "unexpected argument \"x\""}, Wrong{{"gc", "\x1b[31m"}, "unexpected argument \"\\x1b[31m\""},
        Wrong{{"perf", "bww"}, "unexpected argument \"bww\" (did you mean bw?)"},
        Wrong{{"perf", "bw", "a", "--trx-depth", "2"}, "unknown option --trx-depth (did you mean --tx-depth?)"},
        Wrong{{"check", "-o", "jsn", "f"},
              "--output: jsn not in {text,json,yaml,sarif,junit,github,markdown,mistakes} (did you mean json?)"},
        Wrong{{"gc", "--yes", "--dry-run"}, "--yes excludes --dry-run"},
        Wrong{{"gc", "--wait", "soon"}, "Could not convert: --wait = soon"}, Wrong{{"check"}, "FILES is required"},
        Wrong{{"check", "-o", "xml", "f"},
              "--output: xml not in {text,json,yaml,sarif,junit,github,markdown,mistakes}"},
        Wrong{{"plan", "f", "--force"}, "--force: 1 required TEXT missing"},
        Wrong{{"agent", "--workers", "0"}, "--workers: Value 0 not in range 1 to 256"},
        Wrong{{"discover", "--root", "/nowhere"}, "--root: Directory does not exist: /nowhere"},
        Wrong{{"generate", "--profile", "0"}, "--profile: 0 not in {infiniband,roce,host-device}"},
        Wrong{{"perf"}, "A subcommand is required"},
        Wrong{{"perf", "bw", "a", "-D", "0"}, "--duration: Value 0 not in range 0.010000 to 86400.000000"},
        Wrong{{"perf", "bw", "a", "--port", "70000"}, "Could not convert: --port = 70000"},
        Wrong{{"perf", "bw", "a", "--size", "2", "--all"}, "--all excludes --size"}));

TEST(CommandLine, AWrongVerbIsToldWithTheNearestOne) {
  for (const auto& [arguments, told] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"chek"}, "\"chek\" (did you mean check?)"},
           {{"help", "stauts"}, "\"stauts\" (did you mean status?)"},
           {{"man", "plann"}, "\"plann\" (did you mean plan?)"},
           {{"versoin"}, "\"versoin\" (did you mean version?)"},
           {{"frobnicate"}, "\"frobnicate\""},
           {{"\x1b[2J"}, "\"\\x1b[2J\""}}) {
    const os::RunResult ran = run_verb(arguments);
    EXPECT_EQ(ran.exit_status, 1);
    EXPECT_EQ(ran.errors, "railbed: unknown verb " + told + "\n  railbed --help lists them\n");
  }
}

TEST(CommandLine, AChoiceInAnyCaseIsTheChoice) {
  os::RunResult ran = run_verb({"generate", "--profile", "RoCE", "--facts", "/dev/null"});
  EXPECT_THAT(ran.errors, HasSubstr("no port of these nodes fits the profile"));
}

}  // namespace
}  // namespace railbed
