// SPDX-License-Identifier: Apache-2.0
// The programs that users run alongside their manifests, and the options of those that diagnose RDMA.
//
// Why: `# ibping -S` is a command and `# Check the links` is a comment; only a list of programs can distinguish them.
// And a misspelt option is found here instead of on the node. All of it is data (src/check/data/tools.yaml).
// Threading: read once, immutable.
// Failure: none; the file is checked by tools_test.cc.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace railbed::check {

struct ToolOption {
  std::vector<std::string> names;  // "-d", "--ib-dev"
  std::string argument;            // "DEVICE"; empty: it takes none
  bool both_sides = false;         // server and client must agree on it
};

struct Tool {
  std::string name;
  std::string package;
  std::vector<ToolOption> options;
  int positionals = -1;          // how many arguments besides options are allowed; -1: any number
  std::string takes;             // what they are, for messages: "the server's name or address"
  bool stops_at_word = false;    // options are allowed only before the first word (ip, rdma)
  bool two_sided = false;        // a server, and a client with the server's address
  std::string device_option;     // the option that names the RDMA device
  std::set<std::string> memory;  // options that put the buffers into GPU memory
  std::string hint;              // added to findings about a stray argument or an unknown option

  // The option of that name. A long name may be abbreviated while it is unique, as getopt_long allows.
  const ToolOption* find(std::string_view name) const;
};

const Tool* find_tool(std::string_view name);

// Whether this is the name of a program that pages like ours run.
bool is_program(std::string_view name);
// Whether `word` may follow the program `name` in a command: an option, a path, a number, a known sub-command. So `#
// rdma link` is a command and `# rdma devices must be there` is not.
bool may_follow(std::string_view name, std::string_view word);
// Words of the shell itself: "for", "export", "cd".
bool is_shell_word(std::string_view word);

// One way in which `words` disagree with what the tool takes.
struct OptionProblem {
  enum What { kUnknown, kNeedsArgument, kStray } what = kUnknown;
  size_t word = 0;      // which one
  std::string option;   // as written, without an argument
  std::string nearest;  // of an unknown one; may be empty
  std::string after;    // of a stray word: the flag before it that takes no argument
};

// An option of a command and its argument, both as positions among the words (0: none).
struct GivenOption {
  const ToolOption* option = nullptr;
  std::string name;  // as written
  std::string argument;
  size_t word = 0;
  size_t argument_word = 0;
};

struct ParsedCommand {
  std::vector<GivenOption> options;
  std::vector<size_t> positionals;  // which words
  std::vector<OptionProblem> problems;

  const GivenOption* given(const Tool& tool, std::string_view name) const;
};

// Reads words[1…] as getopt_long does.
ParsedCommand parse_command(const Tool& tool, std::span<const std::string_view> words);

}  // namespace railbed::check
