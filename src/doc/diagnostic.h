// SPDX-License-Identifier: Apache-2.0
// What is told to a person about their input: a finding at a place, why, and what to do.
//
// Why: an Error says that an operation of railbed failed; a Diagnostic says that something in a manifest is
// wrong or odd. One pass collects all of them; the caller sorts, prints and decides. Ids ("RB-YAML-001") are
// stable: documented, searchable, and used by SARIF and by tests.
//
// Threading: plain values. Failure: none.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doc/value.h"

namespace railbed::doc {

enum class Severity : uint8_t { kNote, kWarning, kError };
std::string_view severity_name(Severity severity);

// A change of a text that a machine can make safely: `length` bytes from `offset` become `text`. `origin` is set for
// text that was moved: the byte where it was before, so that messages can name places in it.
struct Edit {
  SourcePtr source;
  size_t offset = 0;
  size_t length = 0;
  std::string text;
  std::optional<size_t> origin;
};

struct Diagnostic {
  struct Note {
    Span span;
    std::string text;
  };

  std::string id;
  Severity severity = Severity::kError;
  Span span;
  std::string message;
  std::vector<Note> notes;  // other places that explain it
  std::string fix;          // one sentence or a line to write instead; may be empty
  std::vector<Edit> edits;  // `fix` as changes to the text; empty where a person has to decide
  // The name of the thing that was looked for and is not there. Where that name stands in a text that could
  // not be read, this finding only follows from that one.
  std::string missing;

  Diagnostic& note(Span where, std::string text);
  Diagnostic& with_fix(std::string text);
  Diagnostic& with_edit(Span where, std::string text);
  Diagnostic& looks_for(std::string name);
};

// Collects the findings of one run.
class Diagnostics {
 public:
  Diagnostic& error(std::string_view id, Span span, std::string message);
  Diagnostic& warning(std::string_view id, Span span, std::string message);
  Diagnostic& note(std::string_view id, Span span, std::string message);

  const std::vector<Diagnostic>& all() const { return all_; }
  std::vector<Diagnostic>& mutable_all() { return all_; }
  bool has_errors() const;
  size_t count(Severity severity) const;
  void append(Diagnostics other);
  // By source name, line, column; findings without a place come last. Stable.
  void sort();

 private:
  std::vector<Diagnostic> all_;
};

// "policy.yaml:14:11: error: message [RB-VF-002]", the source line with a caret below it, then notes (with
// their lines) and the fix. Ends with a newline. Long lines are cut around the column.
std::string render(const Diagnostic& diagnostic);
std::string render(const Diagnostics& diagnostics);

// The candidate that was probably intended: edit distance at most 2 (1 for names under 5 bytes), ignoring case; empty
// when none is close.
std::string nearest(std::string_view wrong, const std::vector<std::string_view>& candidates);

}  // namespace railbed::doc
