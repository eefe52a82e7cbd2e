// SPDX-License-Identifier: Apache-2.0
// A pattern for paths, as in .gitignore: `*.tmpl.yaml`, `charts/*`, `/build/`, `**/golden/**`, `!keep.yaml`.
//
// A pattern without "/" (but at its end) fits a file or folder of that name at any depth; another one fits the whole
// path below the folder of its file. `*` and `?` stay within a name, `**` as a name means any number of folders,
// `[a-z]` and `[!a-z]` one character, `\` takes the next character verbatim. `/` at the end: folders only.
// Threading: values; pure.
// Failure: a pattern that git ignores (a lone `\` at its end, a `[` that is not closed) fits nothing.
// Spec: gitignore(5).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace railbed::check {

class PathPattern {
 public:
  // One line of a .gitignore; nullopt for a comment or an empty line.
  static std::optional<PathPattern> parse_line(std::string_view line);
  // The same for a pattern in a list, where `#` and `!` are ordinary characters.
  explicit PathPattern(std::string_view pattern);

  bool negated() const { return negated_; }
  // Whether the pattern fits this path ("a/b.yaml", relative to the folder of the pattern) itself.
  bool fits(std::string_view path, bool is_folder) const;
  // Whether it fits the file or a folder around it.
  bool covers(std::string_view file) const;

 private:
  std::vector<std::string> names_;  // between the slashes
  bool any_depth_ = false;
  bool only_folders_ = false;
  bool negated_ = false;
};

// Whether a name fits a pattern without "/".
bool name_fits(std::string_view pattern, std::string_view name);

}  // namespace railbed::check
