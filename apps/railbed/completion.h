// SPDX-License-Identifier: Apache-2.0
// What a shell completes behind `railbed`, as a script for that shell: verbs, subcommands, options, choices,
// files and directories.
//
// Why scripts that know all of it and do not ask the program: completing must not start a program per key, and a script
// that was installed with a program fits it. Threading: pure functions over values. Failure: none.
#pragma once

#include <span>
#include <string>

#include "described.h"

namespace railbed {

std::string bash_completion(std::span<const Described> verbs);
std::string zsh_completion(std::span<const Described> verbs);
std::string fish_completion(std::span<const Described> verbs);

}  // namespace railbed
