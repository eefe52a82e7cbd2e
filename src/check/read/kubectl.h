// SPDX-License-Identifier: Apache-2.0
// What a kubectl command says about the objects that it is given: what is done with them, and their namespace.
//
// Why: the verb decides what may be missing in an object (`delete` needs its name alone), and `-n` where it goes.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "check/read/bundle.h"

namespace railbed::check {

struct KubectlCommand {
  std::string verb;                // "apply"
  std::string ns;                  // of -n; empty: none is written
  std::vector<std::string> files;  // of -f; "-" is standard input
  std::string folder;              // of -k

  Verb does() const;
};

// Of kubectl and oc; nullopt for other programs.
std::optional<KubectlCommand> kubectl_command(const Command& command);

// How the commands of one line apply a here-document.
struct Applied {
  Verb verb = Verb::kApply;
  std::string ns = {};
};
Applied applied_by(std::span<const Command> commands);

}  // namespace railbed::check
