// SPDX-License-Identifier: Apache-2.0
#include "check_projects.h"

#include <algorithm>

#include "manifests.h"

namespace railbed {

namespace fs = std::filesystem;

namespace {

// "a/b" below `folder`; the whole path where it is not below it.
std::string below(const fs::path& file, const fs::path& folder) {
  const fs::path relative = file.lexically_relative(folder);
  return relative.empty() || relative.native().starts_with("..") ? file.string() : relative.string();
}

}  // namespace

fs::path plain_absolute(const fs::path& path) {
  std::error_code failure;
  fs::path plain = fs::absolute(path, failure).lexically_normal();
  if (failure) return path;
  return plain.has_filename() || plain == plain.root_path() ? plain : plain.parent_path();
}

fs::path repository_of(const fs::path& folder) {
  std::error_code failure;
  for (fs::path here = folder; !here.empty(); here = here.parent_path()) {
    if (fs::exists(here / ".git", failure)) return here;
    if (here == here.parent_path()) break;
  }
  return {};
}

Result<std::optional<size_t>> CheckProjects::of_folder(const fs::path& folder) {
  if (const auto known = known_.find(folder); known != known_.end()) return known->second;
  std::error_code failure;
  const fs::path file = folder / check::kProjectFileName;
  std::optional<size_t> found;
  if (fs::is_regular_file(file, failure)) {
    // As people would type it from here.
    const std::string name = below(file, plain_absolute("."));
    const doc::SourcePtr source = TRY(read_source(name));
    if (auto project = check::read_project_file(source, problems_)) {
      found = projects_.size();
      projects_.push_back(std::move(*project));
      folders_.push_back(folder);
    }
  }
  const bool ends = found || fs::exists(folder / ".git", failure) || folder == folder.parent_path();
  if (!ends) found = TRY(of_folder(folder.parent_path()));
  known_.emplace(folder, found);
  return found;
}

Result<check::SourcePlace> CheckProjects::place_of(const std::string& name) {
  if (name == "<stdin>" || name == "-") {
    const std::optional<size_t> project = TRY(of_folder(plain_absolute(".")));
    return check::SourcePlace{project, "<stdin>"};
  }
  const fs::path file = plain_absolute(name);
  const fs::path folder = file.parent_path();
  const std::optional<size_t> project = TRY(of_folder(folder));
  if (project) return check::SourcePlace{project, below(file, folders_[*project])};
  const fs::path repository = repository_of(folder);
  return check::SourcePlace{std::nullopt, below(file, repository.empty() ? plain_absolute(".") : repository)};
}

bool CheckProjects::is_project_file(const fs::path& file) const {
  if (file.filename() != check::kProjectFileName) return false;
  return std::ranges::find(folders_, plain_absolute(file).parent_path()) != folders_.end();
}

}  // namespace railbed
