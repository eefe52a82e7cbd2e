// SPDX-License-Identifier: Apache-2.0
#include "serving_program.h"

#include <string>
#include <vector>

#include "os/real/run_program.h"
#include "program_folder.h"

namespace railbed {

Error become(const std::string& program, std::span<char* const> arguments) {
  const Result<std::string> folder = program_folder();
  if (!folder.has_value()) return folder.error();
  std::vector<std::string> command = {"--for", RAILBED_VERSION};
  command.insert(command.end(), arguments.begin(), arguments.end());
  // Beside railbed where all were built, else where `make install` and the packages put it.
  const std::string built = *folder + "/" + program;
  const std::string installed = folder->substr(0, folder->rfind('/')) + "/libexec/railbed/" + program;
  for (const std::string& path : {built, installed})
    if (Error error = os::replace_process(path, command); error.code != Code::kNotFound) return error;
  return {.code = Code::kNotFound,
          .message = fmt::format("{}, which runs `railbed {}`, is missing: there is no {} and no {}", program,
                                 arguments.front(), installed, built),
          .hint = "reinstall railbed with all its programs"};
}

}  // namespace railbed
