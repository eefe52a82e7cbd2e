// SPDX-License-Identifier: Apache-2.0
// The commands of a bundle for the rules: with their tool and its options parsed.
//
// Why: nearly every rule needs the same parsing, and which command is the server of which client.
// Threading: values that point into the Bundle, which must outlive them.
// Failure: none.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "check/read/bundle.h"
#include "check/read/tools.h"

namespace railbed::check {

struct ToolCommand {
  const Command* command = nullptr;
  const Tool* tool = nullptr;
  ParsedCommand parsed;

  const Word& word(size_t index) const { return command->words[index]; }
  // The option's argument; null where the option is absent or has none.
  const Word* argument(std::string_view option) const;
  bool is_client() const { return !parsed.positionals.empty(); }
  bool uses_gpu_memory() const;
};

// The commands whose program has a table of options, in order.
std::vector<ToolCommand> tool_commands(const Bundle& bundle);

// A test between two ends in a document.
struct Pair {
  const ToolCommand* server = nullptr;
  const ToolCommand* client = nullptr;
};
// For each client its server: the one of its tool before it in its section (sections.h), with no other test between
// them; of several the one with its port and its device. A client that may belong to two is in no pair.
std::vector<Pair> pairs(const std::vector<ToolCommand>& commands);
// Whether both ends have the option, with one argument, or neither; a placeholder may become anything.
bool agree(const Pair& ends, std::string_view option);

// Whether two spans belong to the same source.
bool same_source(const doc::Span& a, const doc::Span& b);
// `length` bytes at `offset` of a span within one line.
doc::Span part_of(const doc::Span& line, size_t offset, size_t length);
// Whether the word is to be replaced by the reader: "<node>", "$NODE", "{{ x }}", "[options]", "...".
bool is_placeholder_word(std::string_view word);

// Lines of a source outside manifests: prose and pasted output.
struct TextLine {
  std::string_view text;
  const doc::Span* span = nullptr;
  const Command* command = nullptr;  // the command that printed it; null for prose
};
std::vector<TextLine> text_lines(const Bundle& bundle);

}  // namespace railbed::check
