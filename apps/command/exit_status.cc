// SPDX-License-Identifier: Apache-2.0
#include "command/exit_status.h"

#include "command/output.h"
#include "doc/text.h"

namespace railbed {

int give_up(const Error& error) {
  const std::string hint = error.hint.empty() ? "" : "\n  " + error.hint;
  print_error("railbed: {}{}\n", doc::printable(error.story()), hint);
  return kExitError;
}

int status_of(const Result<int>& result) {
  return result ? *result : give_up(result.error());
}

}  // namespace railbed
