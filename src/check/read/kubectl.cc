// SPDX-License-Identifier: Apache-2.0
#include "check/read/kubectl.h"

#include <algorithm>
#include <string_view>

namespace railbed::check {
namespace {

bool is_kubectl_program(std::string_view program) {
  program = program.substr(program.rfind('/') + 1);  // npos + 1 is 0
  return program == "kubectl" || program == "oc" || program == "k" || program == "kubectl.exe";
}

// Options with an argument of their own that come before or behind the verb.
bool has_argument(std::string_view option) {
  static constexpr std::string_view kOptions[] = {"--context", "--kubeconfig", "--as",       "-s",
                                                  "--server",  "-l",           "--selector", "-o",
                                                  "--output",  "--type",       "-p",         "--patch"};
  return std::ranges::find(kOptions, option) != std::end(kOptions);
}

// The argument of an option that is written as one word with it: "--namespace=ai", "-nai"; nullopt: another word.
std::optional<std::string> argument_in(std::string_view word, std::string_view brief, std::string_view full) {
  if (word.starts_with(full) && word.substr(full.size()).starts_with('='))
    return std::string(word.substr(full.size() + 1));
  if (word.starts_with(brief) && word.size() > brief.size() && !word.starts_with("--")) {
    word.remove_prefix(brief.size());
    if (word.starts_with('=')) word.remove_prefix(1);
    return std::string(word);
  }
  return std::nullopt;
}

}  // namespace

Verb KubectlCommand::does() const {
  return verb == "delete" ? Verb::kDelete : verb == "patch" ? Verb::kPatch : Verb::kApply;
}

std::optional<KubectlCommand> kubectl_command(const Command& command) {
  if (command.words.empty() || !is_kubectl_program(command.words[0].text)) return std::nullopt;
  KubectlCommand read;
  const std::vector<Word>& words = command.words;
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    const std::string next = i + 1 < words.size() ? words[i + 1].text : "";
    if (word == "-n" || word == "--namespace") {
      read.ns = next;
      ++i;
    } else if (const auto ns = argument_in(word, "-n", "--namespace")) {
      read.ns = *ns;
    } else if (word == "-f" || word == "--filename") {
      read.files.push_back(next);
      ++i;
    } else if (const auto file = argument_in(word, "-f", "--filename")) {
      read.files.push_back(*file);
    } else if (word == "-k" || word == "--kustomize") {
      read.folder = next;
      ++i;
    } else if (has_argument(word)) {
      ++i;
    } else if (read.verb.empty() && !word.starts_with('-')) {
      read.verb = word;
    }
  }
  // A variable or a placeholder is no name.
  if (read.ns.find_first_of("$<{") != std::string::npos) read.ns.clear();
  return read;
}

Applied applied_by(std::span<const Command> commands) {
  for (const Command& command : commands)
    if (const auto kubectl = kubectl_command(command)) return {kubectl->does(), kubectl->ns};
  return {};
}

}  // namespace railbed::check
