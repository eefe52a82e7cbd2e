// SPDX-License-Identifier: Apache-2.0
// Words in the place of a value that is written later: <num>, {namespace}, NUM_VFS, YOUR_POLICY, "...", int on a page;
// CHANGEME, <num>, xxx, _replaced_ also in a file.
//
// Why: documentation shows manifests with placeholders, and a type error at `mtu: <mtu>` says nothing to its author. In
// a page such values are not judged; in a file that is applied they are one warning, and nothing if the word says that
// a program replaces it. The words are data (src/check/data/placeholders.yaml), the shapes are here. Threading: pure
// functions. Failure: none.
#pragma once

#include <string>
#include <string_view>

namespace railbed::check {

// Whether a value or key, as written, is or holds a placeholder.
bool is_placeholder(std::string_view written);
// Whether it is one in any text, also in a file that is applied: brackets, a word that asks for a value, crosses, dots.
bool is_sure_placeholder(std::string_view written);
// Whether it says that a program replaces it before the file is applied: "_replaced_", "replaced-by-kustomize".
bool is_replaced_word(std::string_view written);
// Whether it may be one where something else is needed: an upper-case word, a single capital letter.
bool may_be_placeholder(std::string_view written);
// Whether a part of a name or value stands for what a program or a person fills in, without marks around it:
// "APP_NAME-migration", "dsv4-bench-JOBSUFFIX", "REPLACE_NETWORK.0/24", "pod-n{}", "_ignored_". A capital letter among
// others ("My-pod", "Rail0") is none: it is a mistake.
bool has_stand_in(std::string_view written);
// Whether a line is no YAML for the sake of such a word: "env:HF_TOKEN_ENV", "policy: \"All\"LOG_CONFIG", a word alone.
bool is_line_of_stand_in(std::string_view line);
// The placeholder to name in a message: "<num>".
std::string placeholder_in(std::string_view written);

}  // namespace railbed::check
