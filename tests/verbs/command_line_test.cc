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
    R"(What no namespace owns: records, addresses, interfaces, sandboxes, files; --yes removes it.
Usage: railbed gc [OPTIONS]

Options:
  -h,--help                   Print this help message and exit
  -o,--output TEXT:{table,json}
                              table or json
  --yes Excludes: --dry-run   remove what is found
  --dry-run Excludes: --yes   only show it (this is the default)
  --state-dir TEXT=/run/railbed
                              where the state is
  --pending-dir TEXT=/var/lib/railbed/pending-del
                              where the shim keeps DELs that no agent answered
  --records TEXT=/var/lib/railbed/records
                              what DELs have to undo even after a reboot
  --wait FLOAT                seconds to wait for another railbed that is at work

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
  EXPECT_EQ(ran.errors, GetParam().message + "\nRun with --help for more information.\n");
}

INSTANTIATE_TEST_SUITE_P(
    Each, WrongLine,
    testing::Values(Wrong{{"gc", "--frob"}, "The following argument was not expected: --frob"},
                    Wrong{{"gc", "--yes", "--dry-run"}, "--yes excludes --dry-run"},
                    Wrong{{"gc", "--wait", "soon"}, "Could not convert: --wait = soon"},
                    Wrong{{"check"}, "FILES is required"},
                    Wrong{{"check", "-o", "xml", "f"}, "--output: xml not in {text,json,sarif,junit,github,markdown}"},
                    Wrong{{"plan", "f", "--force"}, "--force: 1 required TEXT missing"},
                    Wrong{{"agent", "--workers", "0"}, "--workers: Value 0 not in range 1 to 256"},
                    Wrong{{"discover", "--root", "/nowhere"}, "--root: Directory does not exist: /nowhere"},
                    Wrong{{"generate", "--profile", "0"}, "--profile: 0 not in {infiniband,roce,host-device}"},
                    Wrong{{"perf"}, "A subcommand is required"},
                    Wrong{{"perf", "bw", "a", "-D", "0"}, "--duration: Value 0 not in range 0.010000 to 86400.000000"},
                    Wrong{{"perf", "bw", "a", "--port", "70000"}, "Could not convert: --port = 70000"},
                    Wrong{{"perf", "bw", "a", "--size", "2", "--all"}, "--all excludes --size"}));

TEST(CommandLine, AChoiceInAnyCaseIsTheChoice) {
  os::RunResult ran = run_verb({"generate", "--profile", "RoCE", "--facts", "/dev/null"});
  EXPECT_THAT(ran.errors, HasSubstr("no port of these nodes fits the profile"));
}

}  // namespace
}  // namespace railbed
