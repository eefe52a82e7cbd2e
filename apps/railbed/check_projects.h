// SPDX-License-Identifier: Apache-2.0
// The project files (railbed.yaml) of a run: the nearest one in the folder of a file or above it.
//
// The search ends at the root of a repository (a folder with .git), so that a file of another owner above it (in /tmp,
// in a home) decides nothing; outside of a repository it ends at "/".
// Threading: one thread.
// Failure: an Error names a project file that cannot be read; what is wrong in one is in the diagnostics.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "check/project/policy.h"

namespace railbed {

class CheckProjects {
 public:
  // The project of the files in this folder: an index in all(). The folder is absolute and in plain form.
  Result<std::optional<size_t>> of_folder(const std::filesystem::path& folder);
  // Where a file is, for the policy: relative to its project, else to the root of its repository, else to the working
  // directory. `name` is as it was given.
  Result<check::SourcePlace> place_of(const std::string& name);

  const std::vector<check::ProjectFile>& all() const { return projects_; }
  // The folder of a project, absolute.
  const std::filesystem::path& folder(size_t project) const { return folders_[project]; }
  const doc::Diagnostics& problems() const { return problems_; }
  // Whether this is the file of a project that was found.
  bool is_project_file(const std::filesystem::path& file) const;

 private:
  std::map<std::filesystem::path, std::optional<size_t>> known_;  // by folder
  std::vector<check::ProjectFile> projects_;
  std::vector<std::filesystem::path> folders_;
  doc::Diagnostics problems_;
};

// The path in plain form: absolute, without "." and "..". Links are not followed, so that it is the path that people
// type.
std::filesystem::path plain_absolute(const std::filesystem::path& path);
// The nearest folder around the path (or itself) with .git; empty where there is none.
std::filesystem::path repository_of(const std::filesystem::path& folder);

}  // namespace railbed
