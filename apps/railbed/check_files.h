// SPDX-License-Identifier: Apache-2.0
// Which files `railbed check` reads of the paths that it is given.
//
// A file that is named is always read. Of a folder, everything is read that may be a manifest, a page or tasks, except
// what project files and --exclude leave out, what is not the repository's own (.git, vendor, node_modules,
// .terraform), and what git ignores (check/project/ignored_paths.h). Threading: one thread. Failure: an Error for a
// path that was named and cannot be read; what cannot be read inside a folder is in `unread`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "check/read/coverage.h"
#include "check_projects.h"

namespace railbed {

struct GivenPaths {
  std::vector<std::string> files;       // in the order of the paths, those of a folder sorted
  std::vector<check::NotRead> skipped;  // by default: what is not the repository's own, what git ignores
  std::vector<check::NotRead> foreign;  // may make objects, in languages that are not read
  std::vector<std::string> unread;      // folders that could not be read, with the reason
};

struct CheckFileChoice {
  std::vector<std::string> excluded;  // --exclude: patterns of the shell, for names and for paths below the folder
  std::vector<std::string> outputs;   // files that this run writes or compares with
};

Result<GivenPaths> given_paths(const std::vector<std::string>& paths, const CheckFileChoice& choice,
                               CheckProjects& projects);

// Whether --exclude or a project file leaves out a file below the folder `given`. Both are absolute.
Result<bool> is_excluded(const std::filesystem::path& file, const std::filesystem::path& given,
                         const CheckFileChoice& choice, CheckProjects& projects);
// Whether a file of this name is read where a folder is given.
bool is_read_in_folders(const std::filesystem::path& file);
// The names of folders that are left out where one around them is given.
std::span<const std::string_view> skipped_folders();
bool is_skipped_folder(std::string_view name);

}  // namespace railbed
