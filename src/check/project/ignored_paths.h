// SPDX-License-Identifier: Apache-2.0
// Which paths of a repository git ignores, by the texts of its ignore files and its index.
//
// Why not `git check-ignore`: a checkout whose author is unknown may name programs in .git/config that git starts, git
// is not on every machine that checks manifests, and a process per run costs more than reading a few small files. Read
// are .git/info/exclude and each .gitignore; not read is the user's own file (core.excludesFile), because a check
// should find the same for everyone. What the index has is tracked, and git ignores nothing that is tracked.
// Threading: values; pure.
// Failure: none; a pattern that git does not understand ignores nothing.
// Spec: gitignore(5), gitformat-index(5).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "check/project/path_pattern.h"

namespace railbed::check {

class IgnoreRules {
 public:
  // .git/info/exclude: every .gitignore prevails over it.
  void add_exclude(std::string_view text);
  // The .gitignore of a folder ("" for the root of the repository, "a/b" below it).
  void add(std::string folder, std::string_view text);

  // Whether the rules ignore this path itself, whatever they say of the folders around it. A .gitignore deeper down
  // prevails, in one file the last line that fits.
  bool ignores(std::string_view path, bool is_folder) const;

 private:
  using Patterns = std::vector<PathPattern>;
  static void read(std::string_view text, Patterns& into);

  Patterns exclude_;
  std::map<std::string, Patterns, std::less<>> by_folder_;
};

// The paths that a repository tracks.
class TrackedPaths {
 public:
  TrackedPaths() = default;  // none
  explicit TrackedPaths(std::vector<std::string> paths);

  bool contains(std::string_view path) const;
  bool has_below(std::string_view folder) const;

 private:
  std::vector<std::string> paths_;  // sorted
};

// The paths in a repository's index (.git/index), versions 2 to 4, with object names of SHA-1 or SHA-256. Failure:
// Invalid if it is none; Unsupported for one that is split into two files.
Result<std::vector<std::string>> paths_in_index(std::string_view bytes);

}  // namespace railbed::check
