// SPDX-License-Identifier: Apache-2.0
// Objects and commands in running text: pages that were copied without their fences.
//
// Why: users often get a page as plain text. If its lines kept their indentation, a manifest in it is still YAML; if
// they lost it, or were joined into one, the schema determines where each field belongs (rebuild.h).
// Threading: pure functions; linear.
// Failure: RB-DOC-001 for each object that had to be rebuilt; what cannot be parsed stays prose.
#pragma once

#include "check/read/bundle.h"
#include "doc/text.h"
#include "doc/yaml.h"

namespace railbed::check {

enum class ProseOf : uint8_t {
  kPage,       // text between the fences of a page: '#' begins a heading, commands are in `code spans`
  kPlainText,  // text without markup: commands stand on lines of their own, '#' begins a comment
};

// Adds commands and prose of a part of a source to `bundle` and its objects to `documents`.
void read_prose(const doc::SourcePtr& source, const doc::LineIndex& index, doc::Region region, ProseOf kind,
                Bundle& bundle, std::vector<Document>& documents, doc::Diagnostics& out);

}  // namespace railbed::check
