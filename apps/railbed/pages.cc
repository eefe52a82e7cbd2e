// SPDX-License-Identifier: Apache-2.0
// railbed man, railbed completion: the declarations of all verbs as manual pages and as shell scripts.
#include <fmt/core.h>

#include "command/output.h"
#include "command/replace_file.h"
#include "completion.h"
#include "man_page.h"
#include "verb.h"

namespace railbed {
namespace {

Result<int> write_pages(const std::vector<Described>& verbs, const std::string& folder) {
  TRY(replace_file(folder + "/railbed.1", man_page_of_all(verbs)));
  for (const Described& verb : verbs)
    TRY(replace_file(fmt::format("{}/railbed-{}.1", folder, verb.name), man_page_of(verb)));
  return kExitOk;
}

Result<int> print_page(const std::vector<Described>& verbs, const std::string& name) {
  if (name.empty()) {
    print_document(man_page_of_all(verbs));
    return kExitOk;
  }
  for (const Described& verb : verbs)
    if (verb.name == name) {
      print_document(man_page_of(verb));
      return kExitOk;
    }
  return fail(no_verb(name));
}

}  // namespace

int man_verb(CommandLine& line) {
  std::string name;
  std::string folder;
  line.about(
      "Prints print the manual page of a verb, or of railbed itself, in man(7) format: railbed man check | man -l -.\n"
      "make install and the packages install all of them.");
  const Option& verb = line.option("VERB", &name, "verb (default: railbed itself)");
  line.option("--write", &folder, "write all pages into this directory instead").existing_directory().excludes(verb);
  if (auto status = line.parse()) return *status;
  const std::vector<Described> verbs = describe_verbs();
  return status_of(folder.empty() ? print_page(verbs, name) : write_pages(verbs, folder));
}

int completion_verb(CommandLine& line) {
  std::string shell;
  line.about(
      "Prints a script that completes railbed's verbs, options, choices and files. For this shell only:\n"
      "source <(railbed completion bash), source <(railbed completion zsh), railbed completion fish | "
      "source.\n"
      "make install and the packages put the scripts where the shells look for them.");
  line.option("SHELL", &shell, "bash, zsh or fish").required().one_of({"bash", "zsh", "fish"});
  if (auto status = line.parse()) return *status;
  const std::vector<Described> verbs = describe_verbs();
  print_document(shell == "bash"  ? bash_completion(verbs)
                 : shell == "zsh" ? zsh_completion(verbs)
                                  : fish_completion(verbs));
  return kExitOk;
}

}  // namespace railbed
