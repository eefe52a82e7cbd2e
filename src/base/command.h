// SPDX-License-Identifier: Apache-2.0
// A command for users to type, as a list of words: what railbed prints in fix hints, reports and next to errors.
//
// Why: names of nodes, pods, interfaces and files are external input. In a text, "$(…)", a quote or a newline in a name
// becomes a separate command in the shell of the administrator who pastes it. So a command stays a list of words until
// it is printed, and the only printer quotes for POSIX shells. tests/tidy rejects a format string that contains a
// command and a placeholder.
//
//   fmt::format("if unused: {}", Command{"ip", "netns", "del"}.value(name))
//
// Threading: plain values.
// Failure: none; a name that cannot be typed is described instead of printed as a command.
// Spec: POSIX.1-2017, Shell & Utilities, 2.2 (quoting) and 12.2 (guideline 10, "--").
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"

namespace railbed {

class Command {
 public:
  // Words of railbed itself: a program, verbs, options.
  Command(std::initializer_list<std::string_view> words) : argv_(words.begin(), words.end()) {}

  // A name that the program reads as an operand: behind "--" if it begins with '-'. Options must come before it.
  Command& operand(std::string_view name);
  // A file or folder: "./-x" instead of "-x".
  Command& path(std::string_view name);
  // "--option=value", which is never read as another option.
  Command& option(std::string_view name, std::string_view value);
  // More words of railbed itself.
  Command& words(std::initializer_list<std::string_view> more);
  // A word in a place where this program looks for no option: behind a keyword (`dev`), or where options are read
  // before the object only (ip).
  Command& value(std::string_view word);

  const std::vector<std::string>& argv() const { return argv_; }

  // One line for a POSIX shell. With a word that has control characters, marks of text direction or bytes that are not
  // UTF-8: "name cannot be typed: "…"", with those escaped.
  std::string to_string() const;

  friend bool operator==(const Command&, const Command&) = default;

 private:
  std::vector<std::string> argv_;
  bool ended_ = false;  // "--" is among the words
};

// Whether a person can type or paste the word as it is shown: valid UTF-8 without control characters, line separators
// and marks that change the direction of text.
bool can_be_typed(std::string_view word);

// The word as a POSIX shell reads it back: unchanged where no character is special, in single quotes otherwise.
std::string shell_quoted(std::string_view word);

}  // namespace railbed
