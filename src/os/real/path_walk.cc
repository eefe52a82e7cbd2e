// SPDX-License-Identifier: Apache-2.0
#include "os/real/path_walk.h"

#include <cerrno>
#include <vector>

namespace railbed::os {
namespace {

// Pushes the components of `path` onto `todo`, the last one first, without empty ones.
void push_components(std::string_view path, std::vector<std::string>& todo) {
  size_t end = path.size();
  while (end > 0) {
    size_t slash = path.rfind('/', end - 1);
    size_t start = slash == std::string_view::npos ? 0 : slash + 1;
    if (start < end) todo.emplace_back(path.substr(start, end - start));
    if (slash == std::string_view::npos) break;
    end = slash;
  }
}

}  // namespace

std::expected<std::string, int> walk_path(std::string_view path, const PathProbe& probe, LastLink last) {
  constexpr int kMaxLinks = 40;  // as the kernel's MAXSYMLINKS
  bool must_be_directory = path.ends_with('/');
  std::vector<std::string> todo;
  push_components(path, todo);
  std::string at;  // the resolved part; "" is the root
  int links = 0;
  bool at_file = false;
  while (!todo.empty()) {
    std::string part = std::move(todo.back());
    todo.pop_back();
    if (at_file) return std::unexpected(ENOTDIR);
    if (part == ".") continue;
    if (part == "..") {
      at.resize(at.empty() ? 0 : at.rfind('/'));
      continue;
    }
    std::string next = at + "/" + part;
    PathEntry entry = probe(next);
    switch (entry.kind) {
      case PathEntry::Kind::kMissing:
        return std::unexpected(ENOENT);
      case PathEntry::Kind::kDirectory:
        at = std::move(next);
        break;
      case PathEntry::Kind::kFile:
        at = std::move(next);
        at_file = true;
        break;
      case PathEntry::Kind::kLink:
        if (todo.empty() && last == LastLink::kKeep && !must_be_directory) return next;
        if (++links > kMaxLinks) return std::unexpected(ELOOP);
        if (entry.target.empty()) return std::unexpected(ENOENT);
        if (entry.target.front() == '/') at.clear();
        if (entry.target.back() == '/' && todo.empty()) must_be_directory = true;
        push_components(entry.target, todo);
        break;
    }
  }
  if (at_file && must_be_directory) return std::unexpected(ENOTDIR);
  return at.empty() ? "/" : at;
}

}  // namespace railbed::os
