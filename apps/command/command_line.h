// SPDX-License-Identifier: Apache-2.0
// The command line of a verb: options are declared once, then parsed; help, manual pages and completions are made of
// the same declarations.
//
// Why: everything that people read about an option comes from one place. And only command_line.cc compiles CLI11, which
// costs seconds per file that includes it.
//
//   int gc_verb(CommandLine& line) {
//     bool yes = false;
//     line.about("What no namespace owns; --yes removes it.");
//     line.option("--yes", &yes, "remove what is found");
//     if (auto status = line.parse()) return *status;
//
// A verb declares before it does anything else: it is also run only to be described (see parse()).
// Texts are kept as they are given, without a copy: they are literals. Values live at least until parse().
// Threading: the main thread. Failure: parse() prints what is wrong on standard error.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace railbed {

// What the value of an option names, for shell completion.
enum class Names : uint8_t { kNothing, kFile, kDirectory };

// One option, flag or positional, as help, manual pages and completions show it.
struct Declaration {
  std::vector<std::string_view> names;  // {"-o", "--output"}; for a positional its placeholder: {"FILES"}
  std::string_view help;
  std::vector<std::string_view> choices;    // empty: any value
  std::vector<std::string_view> excluded;   // options that exclude this one, by their last names
  std::optional<std::string> default_text;  // where help shows it
  Names value_names = Names::kNothing;
  bool takes_value = true;  // false: a flag
  bool is_number = false;
  bool many = false;            // may be given more than once
  bool commas = false;          // with `many`: also several with commas between them
  bool required = false;        // the command line is invalid without it
  bool with_file = false;       // of choices: each may be followed by =FILE
  std::string_view flag_value;  // a flag that also takes one of `choices` behind "=": what it means without one

  bool positional() const { return !names.front().starts_with('-'); }
};

// A value of any enumeration whose enumerators count from 0. It is typed as one of one_of()'s choices, which name the
// enumerators in their order.
class EnumPointer {
 public:
  template <typename E>
    requires std::is_enum_v<E>
  EnumPointer(E* value)
      : value_(value),
        get_([](const void* from) { return static_cast<size_t>(*static_cast<const E*>(from)); }),
        set_([](void* to, size_t place) { *static_cast<E*>(to) = static_cast<E>(place); }) {}

  size_t get() const { return get_(value_); }
  void set(size_t place) const { set_(value_, place); }

 private:
  void* value_;
  size_t (*get_)(const void* from);
  void (*set_)(void* to, size_t place);
};

// Where the value goes: a bool for a flag, a vector for many values. A time is typed in seconds.
using Destination = std::variant<bool*, std::string*, std::vector<std::string>*, int*, int64_t*, uint16_t*, uint64_t*,
                                 double*, std::chrono::milliseconds*, EnumPointer>;

class Option {
 public:
  Option(std::string_view names, Destination destination, std::string_view help);

  Option& required();
  // Help shows the destination's value at this moment. Of an enumeration: after one_of().
  Option& show_default();
  Option& one_of(std::span<const std::string_view> choices);
  Option& one_of(std::initializer_list<std::string_view> choices);
  Option& in_any_case();  // with one_of: the value becomes the choice in its spelling there
  Option& file();         // a path, which need not exist
  Option& directory();
  Option& existing_file();
  Option& existing_directory();
  Option& between(double low, double high);
  // between() the `min` and `max` of a bound that is kept elsewhere, such as doc::Limits. A time's is in milliseconds.
  template <typename Bound>
  Option& within(const Bound& bound) {
    const double unit = std::holds_alternative<std::chrono::milliseconds*>(destination_) ? 1000 : 1;
    return between(static_cast<double>(bound.min) / unit, static_cast<double>(bound.max) / unit);
  }
  Option& positive();
  Option& size_in_bytes();  // "64KiB"
  Option& or_to_file();     // with one_of, and many or a text: also CHOICE=FILE
  // With one_of, and a text: `--fix` alone means this choice, another one is typed as `--fix=CHOICE`.
  Option& as_flag(std::string_view choice);
  Option& one_value_each();  // with many: `--facts A --facts B`, so that a word after A may be positional
  Option& with_commas();     // with many: also `--types A,B`
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
  // `arguments` begin with the verb's name. Without any, the object only collects declarations.
  CommandLine(std::string_view name, std::span<char* const> arguments);
  CommandLine(CommandLine&&) = default;

  void about(std::string_view text) { about_ = text; }
  // An exit status besides 0 and 1, with its meaning.
  void exit_status(int status, std::string_view meaning) { statuses_.push_back({status, meaning}); }
  // `names`: "-o,--output", or "FILES" for a positional.
  Option& option(std::string_view names, Destination destination, std::string_view help);
  // If a verb has subcommands, a command line must have exactly one of them.
  CommandLine& subcommand(std::string_view name, std::string_view about);

  // nullopt when the verb can go on; otherwise the exit status: kExitOk after --help, kExitError after a wrong option
  // (with a message on standard error). An object that only collects declarations ends here with kExitOk.
  std::optional<int> parse();

  std::span<char* const> arguments() const { return arguments_; }
  bool described_only() const { return arguments_.empty(); }
  bool chosen() const { return chosen_; }  // for a subcommand, after parse()

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
  std::deque<Option> options_;  // a deque, because references to options must stay valid
  std::vector<std::unique_ptr<CommandLine>> subcommands_;
  bool chosen_ = false;
};

}  // namespace railbed
