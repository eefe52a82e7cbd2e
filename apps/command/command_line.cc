// SPDX-License-Identifier: Apache-2.0
// The only file that includes CLI11.
#include "command/command_line.h"

#include <algorithm>
#include <type_traits>

#include <CLI/CLI.hpp>

#include "command/exit_status.h"
#include "command/output.h"
#include "doc/diagnostic.h"
#include "doc/text.h"

namespace railbed {
namespace {

std::vector<std::string_view> split_names(std::string_view names) {
  std::vector<std::string_view> all;
  while (!names.empty()) {
    const size_t comma = std::min(names.find(','), names.size());
    all.push_back(names.substr(0, comma));
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
  return all;
}

// A value of a destination as help shows it.
struct TextOf {
  const std::vector<std::string_view>& choices;

  std::string operator()(const std::string* value) const { return *value; }
  std::string operator()(const std::chrono::milliseconds* value) const {
    const double seconds = static_cast<double>(value->count()) / 1000;
    return (*this)(&seconds);
  }
  std::string operator()(const EnumPointer& value) const { return std::string(choices.at(value.get())); }
  template <typename T>
  std::string operator()(const T* value) const {
    return CLI::detail::checked_to_string<T, T>(T(*value));
  }
};

std::string did_you_mean(const std::string& wrong, const std::vector<std::string_view>& known) {
  const std::string near = doc::nearest(wrong, known);
  return near.empty() ? "" : fmt::format(" (did you mean {}?)", near);
}

// Accepts one of the choices; `any_case` makes the value the choice in its spelling there, `with_file` takes also
// CHOICE=FILE.
CLI::Validator one_of(const std::vector<std::string_view>& choices, bool any_case, bool with_file) {
  const auto check = [choices, any_case, with_file](std::string& value) -> std::string {
    for (const std::string_view choice : choices) {
      if (value == choice) return "";
      const bool to_file = with_file && value.starts_with(choice) && value.substr(choice.size()).starts_with('=');
      if (to_file && value.size() > choice.size() + 1) return "";
      if (!any_case || CLI::detail::to_lower(value) != CLI::detail::to_lower(std::string(choice))) continue;
      value = choice;
      return "";
    }
    return fmt::format("{} not in {{{}}}{}", value, fmt::join(choices, ","), did_you_mean(value, choices));
  };
  return {check, fmt::format("{{{}}}", fmt::join(choices, ","))};
}

// Options by all their names, and those of subcommands.
void add_names(const CommandLine& line, std::vector<std::string_view>& names) {
  for (const Option& option : line.options())
    for (const std::string_view name : option.declaration().names)
      if (name.starts_with('-')) names.push_back(name);
  for (const auto& sub : line.subcommands()) add_names(*sub, names);
}

// What is wrong with `argument`, which no declaration takes.
std::string not_expected(const CommandLine& line, std::string argument) {
  std::vector<std::string_view> names = {"--help"};
  if (argument.starts_with('-')) {
    argument = argument.substr(0, argument.find('='));
    add_names(line, names);
    return fmt::format("unknown option {}{}", argument, did_you_mean(argument, names));
  }
  for (const auto& sub : line.subcommands()) names.push_back(sub->name());
  return fmt::format("unexpected argument \"{}\"{}", argument, did_you_mean(argument, names));
}

}  // namespace

Option::Option(std::string_view names, Destination destination, std::string_view help)
    : names_(names), destination_(destination) {
  declaration_.names = split_names(names);
  declaration_.help = help;
  declaration_.takes_value = !std::holds_alternative<bool*>(destination);
  declaration_.many = std::holds_alternative<std::vector<std::string>*>(destination);
  declaration_.is_number = declaration_.takes_value && !declaration_.many &&
                           !std::holds_alternative<std::string*>(destination) &&
                           !std::holds_alternative<EnumPointer>(destination);
}

Option& Option::required() {
  declaration_.required = true;
  return *this;
}

Option& Option::show_default() {
  declaration_.default_text = std::visit(TextOf{declaration_.choices}, destination_);
  return *this;
}

Option& Option::one_of(std::span<const std::string_view> choices) {
  declaration_.choices.assign(choices.begin(), choices.end());
  return *this;
}

Option& Option::one_of(std::initializer_list<std::string_view> choices) {
  return one_of(std::span(choices.begin(), choices.size()));
}

Option& Option::in_any_case() {
  any_case_ = true;
  return *this;
}

Option& Option::file() {
  declaration_.value_names = Names::kFile;
  return *this;
}

Option& Option::directory() {
  declaration_.value_names = Names::kDirectory;
  return *this;
}

Option& Option::existing_file() {
  must_exist_ = true;
  return file();
}

Option& Option::existing_directory() {
  must_exist_ = true;
  return directory();
}

Option& Option::between(double low, double high) {
  limits_ = {low, high};
  return *this;
}

Option& Option::positive() {
  positive_ = true;
  return *this;
}

Option& Option::size_in_bytes() {
  size_ = true;
  return *this;
}

Option& Option::or_to_file() {
  declaration_.with_file = true;
  return *this;
}

Option& Option::as_flag(std::string_view choice) {
  declaration_.takes_value = false;
  declaration_.flag_value = choice;
  return *this;
}

Option& Option::one_value_each() {
  one_each_ = true;
  return *this;
}

Option& Option::with_commas() {
  declaration_.commas = true;
  return *this;
}

Option& Option::excludes(const Option& other) {
  declaration_.excluded.push_back(other.declaration_.names.back());
  return *this;
}

CommandLine::CommandLine(std::string_view name, std::span<char* const> arguments)
    : name_(name), arguments_(arguments) {}

Option& CommandLine::option(std::string_view names, Destination destination, std::string_view help) {
  return options_.emplace_back(names, destination, help);
}

CommandLine& CommandLine::subcommand(std::string_view name, std::string_view about) {
  CommandLine& made = *subcommands_.emplace_back(std::make_unique<CommandLine>(name, std::span<char* const>()));
  made.about(about);
  return made;
}

// Makes an option of CLI11 that fills the destination. The type that it parses is also what help shows.
struct OptionMaker {
  CLI::App& app;
  const std::string names;
  const std::string help;
  const std::vector<std::string_view> choices;  // of an enumeration
  const bool is_size;
  const std::string flag_value;

  CLI::Option* operator()(bool* value) const { return app.add_flag(names, *value, help); }
  CLI::Option* operator()(std::string* value) const {
    if (flag_value.empty()) return app.add_option(names, *value, help);
    return app.add_flag(fmt::format("{}{{{}}}", names, flag_value), *value, help);
  }
  CLI::Option* operator()(int64_t* value) const {
    if (!is_size) return app.add_option(names, *value, help);
    // No size is negative, so it is typed and read as one without a sign.
    return app.add_option_function<uint64_t>(
        names, [value](const uint64_t& bytes) { *value = static_cast<int64_t>(bytes); }, help);
  }
  CLI::Option* operator()(std::chrono::milliseconds* value) const {
    return app.add_option_function<double>(
        names,
        [value](const double& seconds) { *value = std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000)); },
        help);
  }
  CLI::Option* operator()(const EnumPointer& value) const {
    const auto set = [value, all = choices](const std::string& typed) {
      value.set(static_cast<size_t>(std::ranges::find(all, std::string_view(typed)) - all.begin()));  // checked by then
    };
    return app.add_option_function<std::string>(names, set, help);
  }
  template <typename T>
  CLI::Option* operator()(T* value) const {
    return app.add_option(names, *value, help);
  }
};

// Translates declarations to CLI11's objects, which check the arguments and fill the destinations.
class OptionParser {
 public:
  static void declare(CLI::App& app, const CommandLine& line) {
    for (const Option& one : line.options_) check(*add(app, one), one);
    for (const Option& one : line.options_)
      for (const std::string_view other : one.declaration_.excluded)
        app.get_option(std::string(one.declaration_.names.back()))->excludes(app.get_option(std::string(other)));
    for (const auto& sub : line.subcommands_)
      declare(*app.add_subcommand(std::string(sub->name_), std::string(sub->about_)), *sub);
    if (!line.subcommands_.empty()) app.require_subcommand(1);
  }

  static void choose(const CLI::App& app, CommandLine& line) {
    for (const auto& sub : line.subcommands_) sub->chosen_ = app.got_subcommand(std::string(sub->name_));
  }

 private:
  static CLI::Option* add(CLI::App& app, const Option& one) {
    CLI::Option* made = std::visit(OptionMaker{.app = app,
                                               .names = std::string(one.names_),
                                               .help = std::string(one.declaration_.help),
                                               .choices = one.declaration_.choices,
                                               .is_size = one.size_,
                                               .flag_value = std::string(one.declaration_.flag_value)},
                                   one.destination_);
    made->required(one.declaration_.required);
    if (one.declaration_.default_text) made->default_str(*one.declaration_.default_text);
    if (one.one_each_) made->allow_extra_args(false);
    if (one.declaration_.commas) made->delimiter(',');
    return made;
  }

  static void check(CLI::Option& made, const Option& one) {
    const std::vector<std::string_view>& choices = one.declaration_.choices;
    if (!choices.empty()) {
      // A transformation may change the value, a check only looks.
      if (one.any_case_)
        made.transform(railbed::one_of(choices, true, one.declaration_.with_file));
      else
        made.check(railbed::one_of(choices, false, one.declaration_.with_file));
    }
    const Names names = one.declaration_.value_names;
    if (one.must_exist_ && names == Names::kFile) made.check(CLI::ExistingFile);
    if (one.must_exist_ && names == Names::kDirectory) made.check(CLI::ExistingDirectory);
    if (one.limits_) {
      if (std::holds_alternative<double*>(one.destination_) ||
          std::holds_alternative<std::chrono::milliseconds*>(one.destination_))
        made.check(CLI::Range(one.limits_->low, one.limits_->high));
      else
        made.check(CLI::Range(static_cast<int>(one.limits_->low), static_cast<int>(one.limits_->high)));
    }
    if (one.positive_) made.check(CLI::PositiveNumber);
    if (!one.size_) return;
    made.transform(CLI::AsSizeValue(false));
    // Before that one, which would take -1 for the largest number.
    made.transform(CLI::Validator(
        [](std::string& text) { return text.starts_with('-') ? "Value " + text + " is negative" : std::string(); },
        ""));
  }
};

std::optional<int> CommandLine::parse() {
  if (described_only()) return kExitOk;
  CLI::App app(std::string(about_), "railbed " + std::string(name_));
  OptionParser::declare(app, *this);
  try {
    app.parse(static_cast<int>(arguments_.size()), arguments_.data());
  } catch (const CLI::ParseError& problem) {
    // CLI11 has its own exit statuses (109 for an unknown option).
    if (problem.get_exit_code() == 0) {
      print("{}", app.help());
      return kExitOk;
    }
    const std::vector<std::string> extra = app.remaining(true);
    std::string message = problem.what();
    if (!extra.empty()) {
      const auto option = std::ranges::find_if(extra, [](const std::string& one) { return one.starts_with('-'); });
      message = not_expected(*this, option == extra.end() ? extra.front() : *option);
    }
    print_error("railbed {}: {}\n  run `railbed {} --help` for details\n", name_, doc::printable(message), name_);
    return kExitError;
  }
  OptionParser::choose(app, *this);
  return std::nullopt;
}

}  // namespace railbed
