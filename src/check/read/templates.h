// SPDX-License-Identifier: Apache-2.0
// Texts that become manifests only after rendering, and files that were never meant as manifests.
//
// Why: directories of manifests also contain charts, Ansible templates, CloudFormation, compiler settings. Each of them
// gave a list of false errors. They get one note that names their type and how to check their result.
// Threading: pure.
// Failure: none.
#pragma once

#include <string>
#include <string_view>

#include "check/read/engines.h"
#include "check/read/page_text.h"
#include "doc/diagnostic.h"
#include "doc/value.h"

namespace railbed::check {

// What a text is that is not read.
struct Unreadable {
  std::string why;      // "a template of Helm"; empty: a manifest, with mistakes or without
  std::string command;  // what to run to check it; may be empty
  bool makes = false;   // it may make objects of Kubernetes

  bool unread() const { return !why.empty(); }
  // "not read: a template of Helm; check what is rendered from it: railbed check --render CHART"
  std::string message() const;
};

// "a template of Helm"; an engine's name may be one already ("a hub template of ACM").
std::string template_of(const Engine& engine);

// What `source` is, from what was found when it was read as YAML.
Unreadable why_not_read(const doc::Source& source, const doc::Diagnostics& found);

// The same of a block of code in a page, which is often a part of a manifest: what is found wrong is then no mistake.
std::string why_block_not_read(std::string_view block);

// Removes the errors of YAML and JSON on lines that an engine fills in; all of them if `part`, the file or the block
// that was read, is an engine's by its lines. The engine of the first; null: none was there.
const Engine* drop_errors_on_marks(const doc::Source& source, std::string_view part, doc::Diagnostics& found);

// The text at a place as written, and the rest of its line.
std::string_view written_at(const doc::Span& span);
std::string_view rest_of_line(const doc::Span& span);

// What an engine fills in at this place: the mark in a value or key, the tag before a value, the comment beside an
// empty one. Empty: nothing.
std::string_view mark_at(const doc::Span& span);
inline bool is_filled_in(const doc::Span& span) {
  return !mark_at(span).empty();
}

}  // namespace railbed::check
