// SPDX-License-Identifier: Apache-2.0
#include "railbedd.h"

#include <string>
#include <vector>

#include "os/real/run_program.h"
#include "program_folder.h"

namespace railbed {

Error become_railbedd(std::span<char* const> arguments) {
  const Result<std::string> folder = program_folder();
  if (!folder.has_value()) return folder.error();
  std::vector<std::string> command = {"--for", RAILBED_VERSION};
  command.insert(command.end(), arguments.begin(), arguments.end());
  // Beside railbed where both were built, else where `make install` and the packages put it.
  const std::string built = *folder + "/railbedd";
  const std::string installed = folder->substr(0, folder->rfind('/')) + "/libexec/railbed/railbedd";
  for (const std::string& program : {built, installed})
    if (Error error = os::replace_process(program, command); error.code != Code::kNotFound) return error;
  return {.code = Code::kNotFound,
          .message = fmt::format("railbedd, which runs `railbed {}`, is missing: there is no {} and no {}",
                                 arguments.front(), installed, built),
          .hint = "install railbed again, which puts both in place"};
}

}  // namespace railbed
