// SPDX-License-Identifier: Apache-2.0
// Resolves a path inside a root, link by link, as openat2(2) does with RESOLVE_IN_ROOT.
//
// Why: trees in memory have no kernel to do it, and kernels before 5.6 have no openat2. Absolute links start again at
// the root, ".." stops there.
// Threading: pure.
// Failure: ENOENT, ENOTDIR, ELOOP (more than 40 links) as an errno, for the caller's own message.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <string_view>

namespace railbed::os {

// The entry at a path whose directories are already resolved.
struct PathEntry {
  enum class Kind { kMissing, kDirectory, kFile, kLink };
  Kind kind = Kind::kMissing;
  std::string target;  // of a link
};
using PathProbe = std::function<PathEntry(const std::string& resolved_path)>;

enum class LastLink : bool { kFollow, kKeep };

// The canonical path ("/" for the root, else without a slash at the end), or an errno.
std::expected<std::string, int> walk_path(std::string_view path, const PathProbe& probe, LastLink last);

}  // namespace railbed::os
