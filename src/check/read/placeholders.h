// SPDX-License-Identifier: Apache-2.0
// Words that a page writes in the place of its reader's own: <num>, {namespace}, NUM_VFS, YOUR_POLICY, "...", int.
//
// Why: documentation shows manifests with placeholders, and a type error at `mtu: <mtu>` tells its author nothing. In a
// page such values are not judged; in a file that is applied they are one finding.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <string>
#include <string_view>

namespace railbed::check {

// Whether a value or key, as written, is or holds a placeholder.
bool is_placeholder(std::string_view written);
// Whether it may be one where something else is needed: an upper-case word, a single capital letter.
bool may_be_placeholder(std::string_view written);
// The placeholder to name in a message: "<num>".
std::string placeholder_in(std::string_view written);

}  // namespace railbed::check
