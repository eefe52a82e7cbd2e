// SPDX-License-Identifier: Apache-2.0
#include "command/output.h"

#include <cerrno>

#include <unistd.h>

#include "command/environment.h"
#include "command/exit_status.h"
#include "doc/json.h"
#include "doc/text.h"
#include "doc/yaml.h"

namespace railbed {
namespace {

// The length of a colour's sequence at the start of `text`, "\x1b[32m"; 0 if there is none.
size_t colour_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

// What the standard output does not take is reported here, while the reason is known. Nothing is written behind it.
void report_unwritten(FILE* out, int sys_errno) {
  if (out == stdout) (void)give_up(system_error(sys_errno != 0 ? sys_errno : EIO, "write the standard output"));
}

void write_text(FILE* out, std::string_view text) {
  if (text.empty() || std::ferror(out) != 0) return;
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), out) != text.size()) report_unwritten(out, errno);
}

}  // namespace

Colour colour_of(FILE* out) {
  if (!variable("NO_COLOR").empty()) return Colour::kNo;
  const std::string force = variable("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return Colour::kYes;
  if (variable("CLICOLOR") == "0" || variable("TERM") == "dumb") return Colour::kNo;
  return Colour{isatty(fileno(out)) == 1};
}

std::string shown(std::string_view text, Colour colour) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t plain = std::min(text.find_first_of("\n\x1b"), text.size());
    out += doc::printable(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const size_t kept = text.front() == '\n' ? 1 : colour == Colour::kYes ? colour_length(text) : 0;
    out += kept > 0 ? std::string(text.substr(0, kept)) : "\\x1b";
    text.remove_prefix(std::max<size_t>(kept, 1));
  }
  return out;
}

void print_text(FILE* out, std::string_view text) {
  write_text(out, shown(text, colour_of(out)));
}

void print_document(std::string_view text) {
  write_text(stdout, text);
}

void print_value(const doc::Value& value, std::string_view output) {
  print_document(output == "yaml" ? doc::to_yaml(value) : doc::to_json(value, 2) + "\n");
}

void flush_output() {
  if (std::ferror(stdout) != 0) return;
  errno = 0;
  if (std::fflush(stdout) != 0) report_unwritten(stdout, errno);
}

int end_of_output(int status) {
  flush_output();
  return std::ferror(stdout) == 0 ? status : kExitError;
}

}  // namespace railbed
