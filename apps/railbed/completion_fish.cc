// SPDX-License-Identifier: Apache-2.0
// The script is one `complete` per declared option, with a condition on the words before the cursor.
#include <fmt/core.h>

#include "completion.h"

namespace railbed {
namespace {

std::string quote(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_value(const Declaration& option) {
  if (!option.takes_value) return "";
  if (option.value_names == Names::kFile) return " -r -F";
  if (option.value_names == Names::kDirectory) return " -x -a '(__fish_complete_directories)'";
  if (option.choices.empty()) return " -x";
  std::string words;
  for (const std::string_view choice : option.choices) words += fmt::format("{}{}", words.empty() ? "" : " ", choice);
  if (!option.commas) return fmt::format(" -x -a {}", quote(words));
  std::string lines;
  for (const std::string_view choice : option.choices) lines += fmt::format("{}{}", lines.empty() ? "" : " ", choice);
  return fmt::format(" -x -a '(__fish_append , {})'", lines);
}

std::string line_for(const Declaration& option, const std::string& condition) {
  std::string text = fmt::format("complete -c railbed -n {}", quote(condition));
  if (option.positional()) {
    if (option.value_names == Names::kNothing && option.choices.empty()) return "";
    return text + (option.value_names == Names::kFile ? " -F" : fish_value(option)) + "\n";
  }
  for (const std::string_view name : option.names)
    text += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2)) : fmt::format(" -s {}", name.substr(1));
  return text + fish_value(option) + fmt::format(" -d {}\n", quote(option.help));
}

std::string lines_for(const CommandLine& line, const std::string& condition) {
  std::string text = fmt::format("complete -c railbed -n {} -s h -l help -d 'tells the options'\n", quote(condition));
  for (const Option& one : line.options()) text += line_for(one.declaration(), condition);
  return text;
}

}  // namespace

std::string fish_completion(std::span<const Described> verbs) {
  std::string script = fmt::format(
      "# fish completion for railbed {}, made by `railbed completion fish`.\n"
      "# SPDX-License-Identifier: Apache-2.0\n\n"
      "# Whether the words behind railbed begin with these.\n"
      "function __railbed_behind\n"
      "  set -l words (commandline -opc)\n"
      "  set -l last (math (count $argv) + 1)\n"
      "  test (count $words) -ge $last; or return 1\n"
      "  test (count $argv) -eq 0; or test \"$words[2..$last]\" = \"$argv\"\n"
      "end\n"
      "# Whether the word behind these is the next one.\n"
      "function __railbed_next\n"
      "  __railbed_behind $argv; and test (count (commandline -opc)) -eq (math (count $argv) + 1)\n"
      "end\n\n"
      "complete -c railbed -f\n"
      "complete -c railbed -n __railbed_next -s h -l help -d 'tells the verbs'\n"
      "complete -c railbed -n __railbed_next -s V -l version -d 'tells the version'\n",
      RAILBED_VERSION);
  for (const Described& verb : verbs) {
    script += fmt::format("complete -c railbed -n __railbed_next -a {} -d {}\n", verb.name, quote(verb.summary));
    script += fmt::format("complete -c railbed -n '__railbed_next help' -a {}\n", verb.name);
    script += lines_for(verb.line, fmt::format("__railbed_behind {}", verb.name));
    for (const auto& sub : verb.line.subcommands()) {
      script += fmt::format("complete -c railbed -n '__railbed_next {}' -a {} -d {}\n", verb.name, sub->name(),
                            quote(sub->about()));
      script += lines_for(*sub, fmt::format("__railbed_behind {} {}", verb.name, sub->name()));
    }
  }
  return script;
}

}  // namespace railbed
