// SPDX-License-Identifier: Apache-2.0
// The script is zsh's own _arguments, with one specification per declared option.
#include <fmt/core.h>

#include "completion.h"

namespace railbed {
namespace {

// Escapes for zsh's '…', which ends at a quote, and for _arguments, which interprets brackets and colons.
std::string escaped_for_zsh(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string action_of(const Declaration& option) {
  if (option.value_names == Names::kFile) return "_files";
  if (option.value_names == Names::kDirectory) return "_files -/";
  std::string words;
  for (const std::string_view choice : option.choices) words += fmt::format("{}{}", words.empty() ? "" : " ", choice);
  if (option.commas) return fmt::format("_values -s , value {}", words);
  return words.empty() ? " " : fmt::format("({})", words);
}

std::string zsh_value(const Declaration& option) {
  return option.takes_value ? fmt::format(":{}:{}", escaped_for_zsh(value_placeholder(option)), action_of(option)) : "";
}

// '(-o --output)-o[help]:what:action'; one per name. '*-x[…]' may come again.
std::string option_specs(const Declaration& option) {
  std::string excluded;
  if (!option.many)
    for (const std::string_view name : option.names) excluded += fmt::format(" {}", name);
  for (const std::string_view name : option.excluded) excluded += fmt::format(" {}", name);
  if (!excluded.empty()) excluded = fmt::format("({})", excluded.substr(1));
  std::string specs;
  for (const std::string_view name : option.names)
    specs += fmt::format(" \\\n        '{}{}{}[{}]{}'", excluded, option.many ? "*" : "", name,
                         escaped_for_zsh(option.help), zsh_value(option));
  return specs;
}

std::string arguments_of(const CommandLine& line) {
  std::string specs = " \\\n        '(- *)'{-h,--help}'[tells the options]'";
  int position = 0;
  for (const Option& one : line.options()) {
    const Declaration& option = one.declaration();
    if (!option.positional()) {
      specs += option_specs(option);
      continue;
    }
    ++position;
    specs += fmt::format(" \\\n        '{}{}'", option.many ? "*" : std::to_string(position), zsh_value(option));
  }
  return specs;
}

// Each pair is a word (a verb, or a subcommand after it) and its description.
std::string choices_of(std::string_view array, const std::vector<std::pair<std::string_view, std::string_view>>& all) {
  std::string text = fmt::format("  {}=(\n", array);
  for (const auto& [name, summary] : all) text += fmt::format("    '{}:{}'\n", name, escaped_for_zsh(summary));
  return text + "  )\n";
}

std::string with_subcommands(const CommandLine& line) {
  std::vector<std::pair<std::string_view, std::string_view>> names;
  std::string cases;
  for (const auto& sub : line.subcommands()) {
    names.emplace_back(sub->name(), sub->about());
    cases += fmt::format("    {})\n      _arguments -s{}\n      ;;\n", sub->name(), arguments_of(*sub));
  }
  return fmt::format(
      "_railbed_{}() {{\n  local -a commands\n{}"
      "  _arguments -C '(- *)'{{-h,--help}}'[tells the options]' '1: :->command' '*:: :->rest'\n"
      "  if [[ $state == command ]]; then\n    _describe command commands\n    return\n  fi\n"
      "  case $words[1] in\n{}  esac\n}}\n\n",
      line.name(), choices_of("commands", names), cases);
}

}  // namespace

std::string zsh_completion(std::span<const Described> verbs) {
  std::string script = fmt::format(
      "#compdef railbed\n# zsh completion for railbed {}, made by `railbed completion zsh`.\n"
      "# SPDX-License-Identifier: Apache-2.0\n\n",
      RAILBED_VERSION);
  std::vector<std::pair<std::string_view, std::string_view>> names;
  std::string cases;
  for (const Described& verb : verbs) {
    names.emplace_back(verb.name, verb.summary);
    if (verb.line.subcommands().empty()) {
      cases += fmt::format("    {})\n      _arguments -s{}\n      ;;\n", verb.name, arguments_of(verb.line));
      continue;
    }
    script += with_subcommands(verb.line);
    cases += fmt::format("    {0})\n      _railbed_{0}\n      ;;\n", verb.name);
  }
  script += fmt::format(
      "_railbed() {{\n  local context state state_descr line\n  typeset -A opt_args\n  local -a verbs\n{}"
      "  _arguments -C '(- *)'{{-h,--help}}'[tells the verbs]' '(- *)'{{-V,--version}}'[tells the version]' "
      "'1: :->verb' '*:: :->rest'\n"
      "  if [[ $state == verb ]]; then\n    _describe verb verbs\n    return\n  fi\n"
      "  case $words[1] in\n{}    help) _describe verb verbs ;;\n  esac\n}}\n\n",
      choices_of("verbs", names), cases);
  // Works as a file in $fpath and with `source <(railbed completion zsh)`.
  return script +
         "if [ \"$funcstack[1]\" = \"_railbed\" ]; then\n  _railbed \"$@\"\nelse\n  compdef _railbed railbed\nfi\n";
}

}  // namespace railbed
