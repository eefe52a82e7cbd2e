// SPDX-License-Identifier: Apache-2.0
// The options of `railbed addresses`.
//
// Why beside the command line: as of the agent (agent_options.h); it is carried out by the program that has the client
// of the API server. Threading: one thread. Failure: none.
#pragma once

#include <string>

#include "command/command_line.h"
#include "command/programs.h"

namespace railbed {

struct AddressesOptions {
  enum class Action : uint8_t { kList, kRelease };
  std::string kubeconfig;
  std::string context;
  std::string output = "table";
  std::string who;
  bool yes = false;

  // `line` points to the members: this object stays where it is until the line is parsed.
  void declare(CommandLine& line);
  Action action() const { return release_->chosen() ? Action::kRelease : Action::kList; }
  // Which carries them out.
  static const char* program() { return kClusterProgram; }

 private:
  const CommandLine* release_ = nullptr;
};

}  // namespace railbed
