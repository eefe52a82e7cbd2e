// SPDX-License-Identifier: Apache-2.0
// What a verb prints: results on standard output, everything else on standard error.
//
// Why: texts from outside (names of devices and hosts, answers of peers, other people's manifests) must not steer the
// terminal, a full disk must end a verb with a message and not with abort(), and whether there are colours is asked in
// one place. So no verb prints in another way (tests/tidy).
//
// Control characters other than line ends and tabs are shown as escapes ("\x1b"), but for colours that were asked for.
// The caller that puts a value from outside into a line removes its line ends (doc::printable, report::Cell).
// Threading: any thread. Failure: a failed write to standard output is reported at once and once, with the reason;
// later output is dropped, and end_of_output() makes it the exit status. Spec: NO_COLOR (no-color.org), CLICOLOR and
// CLICOLOR_FORCE (bixense.com/clicolors).
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "base/paint.h"
#include "doc/value.h"

namespace railbed {

// Whether `out` gets colours. In this order: NO_COLOR, CLICOLOR_FORCE, CLICOLOR=0, TERM=dumb, whether it is a terminal.
Colour colour_of(FILE* out);

// The text as it may reach a terminal. With colours, their escape sequences stay.
std::string shown(std::string_view text, Colour colour);

void print_text(FILE* out, std::string_view text);

template <typename... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  print_text(stdout, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void print_error(fmt::format_string<Args...> format, Args&&... args) {
  print_text(stderr, fmt::format(format, std::forward<Args>(args)...));
}

// For programs: these bytes, unchanged. Who makes them escapes what the format asks for.
void print_document(std::string_view text);
// As JSON or, where `output` is "yaml", as YAML.
void print_value(const doc::Value& value, std::string_view output);

// What was printed is there before what follows on standard error, or before the program waits.
void flush_output();

// The end of a program that printed: its exit status, or kExitError where not everything could be written (a full
// disk).
int end_of_output(int status);

}  // namespace railbed
