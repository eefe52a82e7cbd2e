// SPDX-License-Identifier: Apache-2.0
#include "command/exit_status.h"

#include "command/output.h"
#include "doc/text.h"

namespace railbed {
namespace {

// Lists in messages have lines of their own, which are indented; other line ends come from outside.
std::string cleaned(std::string_view story) {
  std::string out;
  while (true) {
    const size_t end = std::min(story.find("\n  "), story.size());
    out += doc::printable(story.substr(0, end));
    if (end == story.size()) return out;
    out += '\n';
    story.remove_prefix(end + 1);
  }
}

}  // namespace

int give_up(const Error& error) {
  const std::string hint = error.hint.empty() ? "" : "\n  " + error.hint;
  print_error("railbed: {}{}\n", cleaned(error.story()), hint);
  return kExitError;
}

int status_of(const Result<int>& result) {
  return result ? *result : give_up(result.error());
}

}  // namespace railbed
