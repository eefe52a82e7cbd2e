// SPDX-License-Identifier: Apache-2.0
// A shell line split into commands and words, with the prefixes that only lead to a command.
//
// Why: separate from shell.cc, which handles pages. Words keep their positions in the source. A word that opens a quote
// may span lines (curl -d '{…}'), but not further than kMaxQuoted: an apostrophe in pasted text is not a quote.
// Threading: one lexer per thread.
// Failure: none.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace railbed::check {

struct ShellWord {
  std::string text;  // without quotes and escapes; `$x` and `<name>` stay
  size_t begin = 0;
  size_t end = 0;
  bool quoted = false;
};
using ShellWords = std::vector<ShellWord>;

struct ShellLine {
  std::vector<ShellWords> commands;         // of pipes, lists and $(…); the outer ones in their order
  std::vector<std::string> here_documents;  // the delimiters that end them: "EOF"
  size_t next = 0;                          // where the following line begins
};

class ShellLexer {
 public:
  ShellLexer(std::string_view text, size_t end) : text_(text.substr(0, end)) {}
  ShellLine line(size_t at);

 private:
  static constexpr size_t kMaxQuoted = 16 << 10;
  struct State;

  void step(State& state);
  void quote(State& state, char mark);
  void here_mark(State& state);
  bool placeholder(State& state);
  void redirection(State& state);
  size_t closing(size_t at, char mark);

  std::string_view text_;
  std::array<size_t, 2> closing_{};  // offsets of the next ' and " as far as searched, so that searching stays linear
};

bool is_assignment(const ShellWord& word);

// How many words only lead to the command: `sudo`, `VAR=x`, `timeout 5`, `kubectl exec POD --`, `chroot /host`. Returns
// the number of all words when nothing follows. Sets `where` to the pod or node.
size_t skip_leaders(const ShellWords& words, std::string& where);

}  // namespace railbed::check
