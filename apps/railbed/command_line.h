// SPDX-License-Identifier: Apache-2.0
// The command line of a verb: what it takes is declared once, then parsed, and told by help, man pages and
// completions.
//
// Why: a declaration is a value, so that everything that people are told about an option comes from one
// place. And only command_line.cc compiles CLI11, which costs seconds per file that includes it.
//
//   int gc_verb(CommandLine& line) {
//     bool yes = false;
//     line.about("What no namespace owns; --yes removes it.");
//     line.option("--yes", &yes, "remove what is found");
//     if (auto status = line.parse()) return *status;
//
// A verb declares before it does anything else: it is also run only to be described (see parse()).
// Texts are kept as they are given, without a copy: they are literals. Values live at least until parse().
// Threading: the main thread. Failure: parse() tells what is wrong on standard error.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace railbed {

// What a value names, for those who complete it.
enum class Names : uint8_t { kNothing, kFile, kDirectory };

// One option, flag or positional, as people are told about it.
struct Declaration {
  std::vector<std::string_view> names;  // {"-o", "--output"}; of a positional what stands for it: {"FILES"}
  std::string_view help;
  std::vector<std::string_view> choices;    // empty: any value
  std::vector<std::string_view> excluded;   // options that cannot stand beside it, by their last names
  std::optional<std::string> default_text;  // where it is shown
  Names value_names = Names::kNothing;
  bool takes_value = true;  // false: a flag
  bool is_number = false;
  bool many = false;      // may be given more than once
  bool commas = false;    // of many: also with commas between them
  bool required = false;  // the command line is wrong without it

  bool positional() const { return !names.front().starts_with('-'); }
};

// Where the value goes: a bool is a flag, a vector takes many.
using Destination =
    std::variant<bool*, std::string*, std::vector<std::string>*, int*, int64_t*, uint16_t*, uint64_t*, double*>;

class Option {
 public:
  Option(std::string_view names, Destination destination, std::string_view help);

  Option& required();
  // Help shows the value that the destination has now.
  Option& show_default();
  Option& one_of(std::span<const std::string_view> choices);
  Option& one_of(std::initializer_list<std::string_view> choices);
  Option& in_any_case();  // of one_of: the value becomes the choice as it is written there
  Option& file();         // a path, which need not exist
  Option& directory();
  Option& existing_file();
  Option& existing_directory();
  Option& between(double low, double high);
  Option& positive();
  Option& size_in_bytes();   // "64KiB"
  Option& one_value_each();  // of many: `--facts A --facts B`, so that what follows A may be positional
  Option& with_commas();     // of many: also `--types A,B`
  Option& excludes(const Option& other);

  const Declaration& declaration() const { return declaration_; }

 private:
  friend class OptionParser;
  struct Limits {
    double low;
    double high;
  };

  Declaration declaration_;
  std::string_view names_;
  Destination destination_;
  std::optional<Limits> limits_;
  bool any_case_ = false;
  bool must_exist_ = false;
  bool positive_ = false;
  bool size_ = false;
  bool one_each_ = false;
};

class CommandLine {
 public:
  // `arguments` as the verb has them: its name first. None at all: to be described only.
  CommandLine(std::string_view name, std::span<char* const> arguments);
  CommandLine(CommandLine&&) = default;

  void about(std::string_view text) { about_ = text; }
  // An exit status beside 0 and 1, with what it means.
  void exit_status(int status, std::string_view meaning) { statuses_.push_back({status, meaning}); }
  // `names`: "-o,--output", or "FILES" for a positional.
  Option& option(std::string_view names, Destination destination, std::string_view help);
  // Where there are any, exactly one is to be given.
  CommandLine& subcommand(std::string_view name, std::string_view about);

  // Nothing when the verb can go on; otherwise the status to end with: kExitOk after --help, kExitError after
  // a wrong option, which is told on standard error. A line to be described only ends here, with kExitOk.
  std::optional<int> parse();

  std::span<char* const> arguments() const { return arguments_; }
  bool described_only() const { return arguments_.empty(); }
  bool chosen() const { return chosen_; }  // of a subcommand, after parse()

  struct Status {
    int status;
    std::string_view meaning;
  };
  std::string_view name() const { return name_; }
  std::string_view about() const { return about_; }
  std::span<const Status> statuses() const { return statuses_; }
  const std::deque<Option>& options() const { return options_; }
  const std::vector<std::unique_ptr<CommandLine>>& subcommands() const { return subcommands_; }

 private:
  friend class OptionParser;
  std::string_view name_;
  std::span<char* const> arguments_;
  std::string_view about_;
  std::vector<Status> statuses_;
  std::deque<Option> options_;  // options are referred to while more are declared
  std::vector<std::unique_ptr<CommandLine>> subcommands_;
  bool chosen_ = false;
};

}  // namespace railbed
