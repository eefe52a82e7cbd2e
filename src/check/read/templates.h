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

#include "doc/diagnostic.h"
#include "doc/value.h"

namespace railbed::check {

// What `source` is, from what was found when it was read as YAML: "a Helm template; check what `helm template` makes of
// it". Empty: a manifest, with mistakes or without.
std::string why_not_read(const doc::Source& source, const doc::Diagnostics& found);

// The same of a block of code in a page, which is often a part of a manifest: what is found wrong is then no mistake.
std::string why_block_not_read(std::string_view block);

// Whether a block of without_callouts() has lines that say that others were left out.
bool leaves_lines_out(std::string_view block);

// The same text, of the same length, without what pages put into code for the reader: AsciiDoc's callouts (" <1>" at
// the end of a line); lines that hold "..." only become comments. The source itself where there is neither.
doc::SourcePtr without_callouts(const doc::SourcePtr& source);

// Whether envsubst, Ansible or Helm fills in what is written at this place.
bool is_filled_in(const doc::Span& span);

}  // namespace railbed::check
