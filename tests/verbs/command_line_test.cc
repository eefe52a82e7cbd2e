// SPDX-License-Identifier: Apache-2.0
// Messages about the command line of a verb: help, and the error for each kind of mistake.
#include "command/command_line.h"

#include <chrono>

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

TEST(CommandLine, HelpShowsEachOptionWithItsChoicesDefaultAndWhatItExcludes) {
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

TEST(CommandLine, AWrongVerbIsReportedWithTheNearestOne) {
  for (const auto& [arguments, reported] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"chek"}, "\"chek\" (did you mean check?)"},
           {{"help", "stauts"}, "\"stauts\" (did you mean status?)"},
           {{"man", "plann"}, "\"plann\" (did you mean plan?)"},
           {{"versoin"}, "\"versoin\" (did you mean version?)"},
           {{"frobnicate"}, "\"frobnicate\""},
           {{"\x1b[2J"}, "\"\\x1b[2J\""}}) {
    const os::RunResult ran = run_verb(arguments);
    EXPECT_EQ(ran.exit_status, 1);
    EXPECT_EQ(ran.errors, "railbed: unknown verb " + reported + "\n  railbed --help lists them\n");
  }
}

TEST(CommandLine, AChoiceInAnyCaseIsTheChoice) {
  os::RunResult ran = run_verb({"generate", "--profile", "RoCE", "--facts", "/dev/null"});
  EXPECT_THAT(ran.errors, HasSubstr("no port of these nodes fits the profile"));
}

enum class Gear : uint8_t { kFirst, kSecond };

// What options write into, in the types that a program keeps.
struct Drive {
  Gear gear = Gear::kSecond;
  std::chrono::milliseconds time{1500};
  int64_t load_bytes = 8;
  int64_t wheels = 4;
};

struct Driven {
  Drive drive;
  std::optional<int> status;
  std::string output;
  std::string errors;
};

Driven driven(std::vector<std::string> words) {
  struct Bound {
    int64_t min;
    int64_t max;
  };
  Driven result;
  words.insert(words.begin(), "drive");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  CommandLine line("drive", arguments);
  line.about("Drives.");
  line.option("--gear", &result.drive.gear, "a gear").one_of({"first", "second"}).show_default();
  line.option("--time", &result.drive.time, "seconds").within(Bound{.min = 100, .max = 3000}).show_default();
  line.option("--load", &result.drive.load_bytes, "bytes").size_in_bytes().show_default();
  line.option("--wheels", &result.drive.wheels, "how many").within(Bound{.min = 3, .max = 4});
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  result.status = line.parse();
  result.output = testing::internal::GetCapturedStdout();
  result.errors = testing::internal::GetCapturedStderr();
  return result;
}

TEST(CommandLine, ValuesArriveInTheTypesOfTheProgram) {
  const Driven given = driven({"--gear", "first", "--time", "0.25", "--load", "64KiB", "--wheels", "3"});
  EXPECT_FALSE(given.status) << given.errors;
  EXPECT_EQ(given.drive.gear, Gear::kFirst);
  EXPECT_EQ(given.drive.time, std::chrono::milliseconds(250));
  EXPECT_EQ(given.drive.load_bytes, 65536);
  EXPECT_EQ(given.drive.wheels, 3);
  const Driven none = driven({});
  EXPECT_EQ(none.drive.gear, Gear::kSecond);
  EXPECT_EQ(none.drive.time, std::chrono::milliseconds(1500));
  EXPECT_EQ(none.drive.load_bytes, 8);
}

TEST(CommandLine, HelpShowsThemAsTheyAreTyped) {
  const Driven help = driven({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_EQ(help.output, R"(Drives.
Usage: railbed drive [OPTIONS]

Options:
  -h,--help                   Print this help message and exit
  --gear TEXT:{first,second}=second
                              a gear
  --time FLOAT:FLOAT in [0.1 - 3]=1.5
                              seconds
  --load UINT:SIZE [b, kb(=1024b), ...]=8
                              bytes
  --wheels INT:INT in [3 - 4] how many

)");
}

TEST(CommandLine, AValueThatDoesNotFitIsRefused) {
  const auto error = [](std::vector<std::string> words) {
    const Driven wrong = driven(std::move(words));
    EXPECT_EQ(wrong.status, 1);
    EXPECT_EQ(wrong.drive.gear, Gear::kSecond);
    EXPECT_EQ(wrong.drive.time, std::chrono::milliseconds(1500));
    EXPECT_EQ(wrong.drive.load_bytes, 8);
    return wrong.errors.substr(0, wrong.errors.find('\n'));
  };
  EXPECT_EQ(error({"--gear", "secnd"}), "railbed drive: --gear: secnd not in {first,second} (did you mean second?)");
  EXPECT_EQ(error({"--time", "0.05"}), "railbed drive: --time: Value 0.05 not in range 0.100000 to 3.000000");
  EXPECT_EQ(error({"--time", "soon"}), "railbed drive: --time: Value soon not in range 0.100000 to 3.000000");
  EXPECT_EQ(error({"--load", "-1"}), "railbed drive: --load: Value -1 is negative");
  EXPECT_EQ(error({"--wheels", "5"}), "railbed drive: --wheels: Value 5 not in range 3 to 4");
}

// The described type of an enumeration is the one of a text with choices.
TEST(CommandLine, AnEnumerationIsDeclaredAsAText) {
  Gear gear = Gear::kFirst;
  std::string text;
  CommandLine line("drive", {});
  const Declaration& of_enum = line.option("--gear", &gear, "a gear").one_of({"first", "second"}).declaration();
  const Declaration& of_text = line.option("--text", &text, "a gear").one_of({"first", "second"}).declaration();
  EXPECT_EQ(of_enum.choices, of_text.choices);
  EXPECT_EQ(of_enum.takes_value, of_text.takes_value);
  EXPECT_EQ(of_enum.is_number, of_text.is_number);
}

}  // namespace
}  // namespace railbed
