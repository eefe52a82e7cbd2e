// SPDX-License-Identifier: Apache-2.0
// For the fuzzers of this folder: reads bytes as a file of some name, and aborts if the result is impossible.
#pragma once

#include "check/read/bundle.h"
#include "check/read/command_view.h"

namespace railbed::check::fuzzing {

inline void require(bool holds) {
  if (!holds) __builtin_trap();
}

inline void require_inside(const doc::Span& span) {
  if (!span.known()) return;
  require(span.offset + static_cast<size_t>(span.length) <= span.source->text.size());
  require(span.column >= 1 && span.length >= 0);
}

inline void require_inside(const doc::Value& value) {
  require_inside(value.span);
  if (const doc::Value::Array* items = value.as_array())
    for (const doc::Value& item : *items) require_inside(item);
  if (const doc::Value::Object* members = value.as_object())
    for (const doc::Value::Member& member : *members) {
      require_inside(member.key_span);
      require_inside(member.value);
    }
}

inline Bundle read_any(const char* name, const uint8_t* data, size_t size) {
  const auto source =
      std::make_shared<const doc::Source>(doc::Source{name, std::string(reinterpret_cast<const char*>(data), size)});
  doc::Diagnostics diagnostics;
  Bundle bundle = read_bundle({source}, diagnostics);
  diagnostics.sort();
  doc::render(diagnostics);
  for (const doc::Diagnostic& finding : diagnostics.all()) require_inside(finding.span);
  for (const Document& document : bundle.documents) {
    require(!document.kind.empty() && document.value.is_object());
    require_inside(document.value);
  }
  for (const Command& command : bundle.commands) {
    require(!command.words.empty());
    require_inside(command.span);
    for (const Word& word : command.words) require_inside(word.span);
    for (const Command::Line& line : command.output) require_inside(line.span);
  }
  for (const Prose& prose : bundle.prose) {
    require_inside(prose.span);
    require(!prose.text.empty() && prose.text.find('\n') == std::string_view::npos);
  }
  for (const ToolCommand& one : tool_commands(bundle)) {
    for (const OptionProblem& problem : one.parsed.problems) require(problem.word < one.command->words.size());
    for (size_t word : one.parsed.positionals) require(word < one.command->words.size());
  }
  return bundle;
}

}  // namespace railbed::check::fuzzing
