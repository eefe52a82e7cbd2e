// SPDX-License-Identifier: Apache-2.0
#include "trusted_programs.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/core.h>
#include <unistd.h>

namespace railbed {
namespace {

// Whether the folder is one of the checked ones or below one: the authors of the manifests may have put programs there.
bool is_checked(const std::filesystem::path& folder, const std::vector<std::string>& given) {
  std::error_code failure;
  const std::filesystem::path real = std::filesystem::weakly_canonical(folder, failure);
  return std::ranges::any_of(given, [&](const std::string& one) {
    std::error_code none;
    std::filesystem::path tree = std::filesystem::weakly_canonical(one, none);
    if (!std::filesystem::is_directory(tree, none)) tree = tree.parent_path();
    const auto [end, at] = std::ranges::mismatch(tree, real);
    return end == tree.end();
  });
}

}  // namespace

std::string trusted_path(const std::vector<std::string>& given) {
  const char* path = std::getenv("PATH");
  std::string out;
  for (std::string_view left = path == nullptr ? "" : path; !left.empty();) {
    const std::string_view folder = left.substr(0, left.find(':'));
    left.remove_prefix(std::min(folder.size() + 1, left.size()));
    if (folder.starts_with('/') && !is_checked(folder, given))
      out += fmt::format("{}{}", out.empty() ? "" : ":", folder);
  }
  return out;
}

std::string program_in(std::string_view path, std::string_view name) {
  while (!path.empty()) {
    const std::string_view folder = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(folder.size() + 1, path.size()));
    const std::string program = fmt::format("{}/{}", folder, name);
    if (::access(program.c_str(), X_OK) == 0) return program;
  }
  return "";
}

}  // namespace railbed
