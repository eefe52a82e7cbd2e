// SPDX-License-Identifier: Apache-2.0
// The script walks over the words before the cursor to find the command ("check", "perf bw"), the option that needs a
// value, and the number of positionals. The arguments of the commands are in three `case`s, generated from the
// declarations.
#include <fmt/core.h>

#include "completion.h"

namespace railbed {
namespace {

// A set of arguments with the words that select it: "check", "perf bw".
struct CommandWords {
  std::string words;
  const CommandLine& line;
};

std::vector<CommandWords> commands_of(std::span<const Described> verbs) {
  std::vector<CommandWords> all;
  for (const Described& verb : verbs) {
    all.push_back({std::string(verb.name), verb.line});
    for (const auto& sub : verb.line.subcommands()) all.push_back({fmt::format("{} {}", verb.name, sub->name()), *sub});
  }
  return all;
}

// How the script completes a value: "file", "directory", "words text json", "list a b" (with commas between them), or
// "any" without a known choice.
std::string kind_of(const Declaration& option) {
  if (option.value_names == Names::kFile) return "file";
  if (option.value_names == Names::kDirectory) return "directory";
  if (option.choices.empty()) return "any";
  std::string kind = option.commas ? "list" : "words";
  for (const std::string_view choice : option.choices) kind += fmt::format(" {}", choice);
  return kind;
}

std::string options_case(std::span<const CommandWords> commands, std::span<const Described> verbs) {
  std::string names;
  for (const Described& verb : verbs) names += fmt::format("{} ", verb.name);
  std::string text = fmt::format("    \"\") words=\"{}help version --help --version\" ;;\n", names);
  text += fmt::format("    help) words=\"{}\" ;;\n", names);
  for (const CommandWords& command : commands) {
    std::string words = "--help";
    for (const Option& one : command.line.options())
      if (!one.declaration().positional())
        for (const std::string_view name : one.declaration().names) words += fmt::format(" {}", name);
    for (const auto& sub : command.line.subcommands()) words += fmt::format(" {}", sub->name());
    text += fmt::format("    \"{}\") words=\"{}\" ;;\n", command.words, words);
  }
  return text;
}

std::string values_case(std::span<const CommandWords> commands) {
  std::string text;
  for (const CommandWords& command : commands) {
    int position = 0;
    for (const Option& one : command.line.options()) {
      const Declaration& option = one.declaration();
      if (!option.takes_value) continue;
      std::string patterns;
      for (const std::string_view name : option.names) {
        const std::string word = !option.positional() ? std::string(name) : std::to_string(++position);
        patterns += fmt::format("{}\"{} {}\"", patterns.empty() ? "" : " | ", command.words, word);
        if (option.positional() && option.many) patterns += fmt::format(" | \"{} \"[0-9]*", command.words);
      }
      text += fmt::format("    {}) kind=\"{}\" ;;\n", patterns, kind_of(option));
    }
  }
  return text;
}

std::string commands_case(std::span<const CommandWords> commands) {
  std::string text = "\" help\"";
  for (const CommandWords& command : commands)
    text += fmt::format(" | \"{}{}\"", command.words.find(' ') == std::string::npos ? " " : "", command.words);
  return text;
}

constexpr const char* kWalk = R"(
# Completes "$current" as a value of this kind.
_railbed_complete() {
  local found="" before
  case $1 in
    file) compopt -o filenames; found=$(compgen -f -- "$current") ;;
    directory) compopt -o filenames; found=$(compgen -d -- "$current") ;;
    words) found=$(compgen -W "$2" -- "$current") ;;
    list)
      before=${current%"${current##*,}"}
      found=$(compgen -P "$before" -W "$2" -- "${current##*,}")
      ;;
  esac
  [[ -z $found ]] || mapfile -t COMPREPLY <<<"$found"
}

_railbed() {
  local current=${COMP_WORDS[COMP_CWORD]} command="" option="" kind="" words="" word i position=1 only_values=""
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $word == "=" ]]; then
      continue  # bash parts --output=json; the value comes next
    elif [[ -n $option ]]; then
      option=""
    elif [[ $word == "--" ]]; then
      only_values=yes
    elif [[ $word == -* && -z $only_values ]]; then
      _railbed_value "$command $word"
      [[ -z $kind ]] || option=$word
    elif _railbed_is_command "$command $word"; then
      command="${command:+$command }$word"
    else
      ((++position))
    fi
  done
  [[ $current != "=" ]] || current=""
  if [[ -n $option ]]; then
    _railbed_value "$command $option"
  elif [[ $current == -* && -z $only_values ]]; then
    _railbed_options "$command"
    kind="words $words"
  else
    _railbed_value "$command $position"
    if [[ -z $kind && -z $only_values && (-n $command || $position == 1) ]]; then
      _railbed_options "$command"
      kind="words $words"
    fi
  fi
  _railbed_complete "${kind%% *}" "${kind#* }"
}

complete -F _railbed railbed
)";

}  // namespace

std::string bash_completion(std::span<const Described> verbs) {
  const std::vector<CommandWords> commands = commands_of(verbs);
  std::string script = fmt::format(
      "# bash completion for railbed {}, generated by `railbed completion bash`.\n"
      "# SPDX-License-Identifier: Apache-2.0\n"
      "\n",
      RAILBED_VERSION);
  script += "# Whether a word behind a command (\"perf bw\") makes it a longer one.\n";
  script += fmt::format("_railbed_is_command() {{\n  case $1 in\n    {}) ;;\n    *) return 1 ;;\n  esac\n}}\n\n",
                        commands_case(commands));
  script += "# Sets words: the options of a command, and the words that may follow it.\n";
  script += fmt::format("_railbed_options() {{\n  case $1 in\n{}  esac\n}}\n\n", options_case(commands, verbs));
  script += "# Sets kind: of the value of \"COMMAND OPTION\" or \"COMMAND POSITION\"; empty: it takes none.\n";
  script += fmt::format("_railbed_value() {{\n  kind=\"\"\n  case $1 in\n{}  esac\n}}\n", values_case(commands));
  return script + kWalk;
}

}  // namespace railbed
