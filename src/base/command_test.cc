// SPDX-License-Identifier: Apache-2.0
#include "base/command.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace railbed {
namespace {

using Words = std::vector<std::string>;

// Names that do harm where a shell reads them without quotes.
const Words kHostile = {
    "a;id",  "$(id)",  "`id`", "it's",         "'; id; '", "\"; id; \"", "a\"b",  "a\\",      "\\'",
    "a b",   " ",      "",     "-rf",          "--help",   "--",         "a=b",   "*",        "?[a-z]",
    "~",     "~root",  "#x",   "!!",           "a&b",      "a|b",        "a>b",   "<(id)",    "{a,b}",
    "$HOME", "${IFS}", "%s",   "\xE6\x97\xA5", "''",       "'",          "a'b'c", "$'\\x41'", "if",
};

// How a POSIX shell splits a line of plain and single-quoted text (2.2.1, 2.2.2); nullopt where another character would
// be special to it. Slow and obvious: the oracle.
std::optional<Words> words_of(std::string_view line) {
  Words out;
  std::optional<std::string> word;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == ' ') {
      if (word) out.push_back(*std::exchange(word, std::nullopt));
    } else if (line[i] == '\'') {
      const size_t end = line.find('\'', i + 1);
      if (end == std::string_view::npos) return std::nullopt;
      word = word.value_or("") + std::string(line.substr(i + 1, end - i - 1));
      i = end;
    } else if (line[i] == '\\') {
      if (++i == line.size()) return std::nullopt;
      word = word.value_or("") + line[i];
    } else if (std::string_view("|&;<>()$`\"\t\n*?[]#~!{}^").find(line[i]) != std::string_view::npos) {
      return std::nullopt;
    } else {
      word = word.value_or("") + line[i];
    }
  }
  if (word) out.push_back(*word);
  return out;
}

struct Ran {
  int status = -1;
  std::string output;
};

// `bash OPTION TEXT`, without anything of this process but its standard error.
Ran bash(const char* option, const std::string& text) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execl("/bin/bash", "bash", "--norc", option, "-c", text.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  Ran ran;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = read(ends[0], buffer.data(), buffer.size())) > 0;)
    ran.output.append(buffer.data(), static_cast<size_t>(got));
  close(ends[0]);
  waitpid(child, &ran.status, 0);
  return ran;
}

TEST(Command, PrintsPlainWordsUnquoted) {
  EXPECT_EQ(Command({"ip", "link", "set", "dev"}).value("eth0").value("up").to_string(), "ip link set dev eth0 up");
  EXPECT_EQ(Command({"mlxconfig", "-d"}).value("0000:3b:00.0").to_string(), "mlxconfig -d 0000:3b:00.0");
}

TEST(Command, QuotesWhatAShellWouldInterpret) {
  EXPECT_EQ(Command({"ip", "netns", "del"}).value("$(reboot)").to_string(), "ip netns del '$(reboot)'");
  EXPECT_EQ(Command({"ip", "netns", "del"}).value("it's").to_string(), R"(ip netns del 'it'\''s')");
  EXPECT_EQ(Command({"ip", "netns", "del"}).value("").to_string(), "ip netns del ''");
}

TEST(Command, TakesNoNameForAnOption) {
  EXPECT_EQ(Command({"kubectl", "delete", "node"}).operand("gpu-1").to_string(), "kubectl delete node gpu-1");
  EXPECT_EQ(Command({"kubectl", "delete", "node"}).operand("--all").operand("-x").to_string(),
            "kubectl delete node -- --all -x");
  EXPECT_EQ(Command({"helm", "template"}).path("-chart").to_string(), "helm template ./-chart");
  EXPECT_EQ(Command({"railbed", "up"}).option("--node", "--x").to_string(), "railbed up --node=--x");
}

TEST(Command, DescribesANameThatCannotBeTyped) {
  EXPECT_EQ(Command({"ip", "netns", "del"}).value("a\nreboot").to_string(), R"(name cannot be typed: "a\x0areboot")");
  EXPECT_EQ(Command({"ip", "netns", "del"}).value("\x1B[2J").to_string(), R"(name cannot be typed: "\x1b[2J")");
  EXPECT_EQ(Command({"ip", "netns", "del"})
                .value("a\xE2\x80\xAE"
                       "b")
                .to_string(),
            R"(name cannot be typed: "a\xe2\x80\xaeb")");
  EXPECT_EQ(Command({"ip", "netns", "del"}).value("\xFFx").to_string(), R"(name cannot be typed: "\xffx")");
  EXPECT_EQ(Command({"ip", "netns", "del"}).value(std::string(1, '\0')).to_string(), R"(name cannot be typed: "\x00")");
}

TEST(Command, BashReadsTheWordsBack) {
  Command command{"printf", "%s\\n"};
  std::string expected;
  for (const std::string& one : kHostile) {
    command.value(one);
    expected += one + "\n";
    const Command alone = Command{"printf", "%s\\n"}.operand(one);
    const Ran ran = bash("-e", alone.to_string());
    EXPECT_EQ(ran.status, 0) << alone.to_string();
    EXPECT_EQ(ran.output, one.starts_with('-') ? "--\n" + one + "\n" : one + "\n");
  }
  EXPECT_EQ(bash("-n", command.to_string()).status, 0) << command.to_string();
  EXPECT_EQ(bash("-e", command.to_string()).output, expected);
}

RC_GTEST_PROP(CommandProperty, AShellReadsTheWordsBackAndNothingElse, (const Words& names)) {
  Command command{"printf", "%s"};
  for (const std::string& one : names) command.value(one);
  const std::string line = command.to_string();
  RC_ASSERT(can_be_typed(line));
  const bool typed = std::ranges::all_of(names, can_be_typed);
  RC_ASSERT(typed == !line.starts_with("name cannot be typed: "));
  if (typed) RC_ASSERT(words_of(line) == command.argv());
}

}  // namespace
}  // namespace railbed
