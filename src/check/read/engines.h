// SPDX-License-Identifier: Apache-2.0
// Programs that fill in manifests before they are applied, by the marks that they replace.
//
// Why: a value that Helm, ytt, envsubst or another program inserts cannot be judged, and the advice differs by program:
// what to run to see the manifest. All of them are rows of src/check/data/engines.yaml; nothing in the code knows one.
// Threading: read once, immutable.
// Failure: none; the file is checked by engines_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "doc/value.h"

namespace railbed::check {

struct Mark {
  enum class Inside : uint8_t { kAny, kName, kUpper };
  enum class Where : uint8_t { kText, kWhole, kComment, kLine, kTag, kFile, kKey };

  std::string open;
  std::string close;  // empty: a word follows `open`
  Inside inside = Inside::kAny;
  Where where = Where::kText;
};

struct Engine {
  std::string name;  // "envsubst"
  std::vector<Mark> marks;
  std::vector<std::string> signs;  // one of them must be in the file; none: the marks suffice
  std::string command;
  std::string note;

  // What to run, and when: "envsubst < a.yaml | railbed check -".
  std::string advice() const;
};

std::span<const Engine> engines();

// Where a mark is in a text.
struct MarkPlace {
  size_t begin = 0;
  size_t end = 0;
};
// The first mark of any engine in the text of a value or key; `whole`: in one that is nothing but the mark.
std::optional<MarkPlace> find_mark(std::string_view text);
inline bool has_mark(std::string_view text) {
  return find_mark(text).has_value();
}
// Whether a comment ("#{vfs}", "#@ x", "# $spec") is a mark.
bool is_marked_comment(std::string_view comment);
// The tag of an engine at the beginning of a text ("!Ref"); its length, 0 where there is none.
size_t tag_length(std::string_view text);

// The engine of a mark in a file with this text; null where no engine has it.
const Engine* engine_of_mark(std::string_view mark, std::string_view file);
// The engine that a whole file belongs to by one of its lines ("#@ for …"); null: none.
const Engine* engine_of_lines(std::string_view file);
// The engine that adds this key to the top of a document ("sops").
const Engine* engine_of_key(std::string_view key);

// A file of another language by its ending.
struct OtherLanguage {
  std::string ending;    // ".jsonnet"
  std::string language;  // "Jsonnet"
  std::string command;   // may be empty
  bool makes = false;    // it may make objects of Kubernetes
};
const OtherLanguage* other_language(std::string_view file_name);
// Whether it is a file of another program in which here-documents are looked for: "Vagrantfile", "Makefile".
bool has_here_documents(std::string_view file_name);

}  // namespace railbed::check
