// SPDX-License-Identifier: Apache-2.0
#include "os/record/memory_files.h"

#include <cerrno>

namespace railbed::os {

struct MemoryFiles::Node {
  Entry::Kind kind = Entry::Kind::kDirectory;
  std::string text;  // content of a file, target of a link
  const Node* parent = nullptr;
  std::string_view name;  // the key in the parent's map
  std::map<std::string, std::unique_ptr<Node>, std::less<>> children;
};

namespace {

constexpr int kMaxLinks = 40;  // as the kernel's MAXSYMLINKS

using Kind = MemoryFiles::Entry::Kind;

// Removes the next component from the front of `path` and returns it; empty at the end.
std::string_view next_part(std::string_view& path) {
  size_t start = std::min(path.find_first_not_of('/'), path.size());
  size_t end = std::min(path.find('/', start), path.size());
  std::string_view part = path.substr(start, end - start);
  path.remove_prefix(end);
  return part;
}

bool only_slashes(std::string_view path) {
  return path.find_first_not_of('/') == std::string_view::npos;
}

}  // namespace

MemoryFiles::MemoryFiles() : root_(std::make_unique<Node>()) {}
MemoryFiles::~MemoryFiles() = default;

// The rest of the path is a stack of texts: the targets of links on the way, and the path itself at the bottom.
std::expected<const MemoryFiles::Node*, int> MemoryFiles::find(std::string_view path, Last last) const {
  const Node* at = root_.get();
  int links = 0;
  bool must_be_directory = path.ends_with('/');
  std::vector<std::string_view> ways = {path};
  while (!ways.empty()) {
    std::string_view part = next_part(ways.back());
    if (part.empty()) {
      ways.pop_back();
      continue;
    }
    if (at->kind != Kind::kDirectory) return std::unexpected(ENOTDIR);
    if (part == ".") continue;
    if (part == "..") {
      if (at->parent != nullptr) at = at->parent;
      continue;
    }
    auto found = at->children.find(part);
    if (found == at->children.end()) return std::unexpected(ENOENT);
    const Node* next = found->second.get();
    if (next->kind != Kind::kLink) {
      at = next;
      continue;
    }
    bool is_last = ways.back().empty();
    for (size_t i = 0; is_last && i + 1 < ways.size(); ++i) is_last = only_slashes(ways[i]);
    if (last == Last::kKeep && ways.size() == 1 && ways.back().empty()) return next;
    if (++links > kMaxLinks) return std::unexpected(ELOOP);
    if (next->text.empty()) return std::unexpected(ENOENT);
    if (next->text.front() == '/') at = root_.get();
    if (is_last && next->text.back() == '/') must_be_directory = true;
    ways.push_back(next->text);
  }
  if (at->kind == Kind::kFile && must_be_directory) return std::unexpected(ENOTDIR);
  return at;
}

std::string MemoryFiles::path_of(const Node& node) {
  std::string path;
  for (const Node* at = &node; at->parent != nullptr; at = at->parent) path.insert(0, "/" + std::string(at->name));
  return path.empty() ? "/" : path;
}

// The node at `path`; creates it and its parents where they are missing.
MemoryFiles::Node* MemoryFiles::place(const std::string& path) {
  Node* at = root_.get();
  std::string_view rest = path;
  for (std::string_view part = next_part(rest); !part.empty(); part = next_part(rest)) {
    if (at->kind != Kind::kDirectory || part == "." || part == "..") return nullptr;
    auto [child, made] = at->children.try_emplace(std::string(part));
    if (made) {
      child->second = std::make_unique<Node>();
      child->second->parent = at;
      child->second->name = child->first;
    }
    at = child->second.get();
  }
  return at;
}

bool MemoryFiles::put_file(const std::string& path, std::string content) {
  std::lock_guard lock(mutex_);
  Node* node = place(path);
  if (node == nullptr || node == root_.get()) return false;
  node->kind = Kind::kFile;
  node->text = std::move(content);
  node->children.clear();
  return true;
}

bool MemoryFiles::put_link(const std::string& path, std::string target) {
  std::lock_guard lock(mutex_);
  Node* node = place(path);
  if (node == nullptr || node == root_.get()) return false;
  node->kind = Kind::kLink;
  node->text = std::move(target);
  node->children.clear();
  return true;
}

bool MemoryFiles::put_directory(const std::string& path) {
  std::lock_guard lock(mutex_);
  Node* node = place(path);
  return node != nullptr && node->kind == Kind::kDirectory;
}

void MemoryFiles::remove(const std::string& path) {
  std::lock_guard lock(mutex_);
  auto found = find(path, Last::kKeep);
  if (!found || (*found)->parent == nullptr) return;
  auto& siblings = const_cast<Node*>((*found)->parent)->children;
  siblings.erase(siblings.find((*found)->name));
}

void MemoryFiles::visit(const Node& node, const std::string& path, const std::function<void(const Entry&)>& visitor) {
  if (!path.empty()) visitor({node.kind, path, node.text});
  for (const auto& [name, child] : node.children) visit(*child, path + "/" + name, visitor);
}

void MemoryFiles::each(const std::function<void(const Entry&)>& visitor) const {
  std::lock_guard lock(mutex_);
  visit(*root_, "", visitor);
}

Result<std::string> MemoryFiles::read(const std::string& path) const {
  std::lock_guard lock(mutex_);
  if (path.empty()) return fail(Code::kInvalid, "read \"\": not a path");
  auto node = find(path, Last::kFollow);
  if (!node) return fail(system_error(node.error(), "read " + path));
  if ((*node)->kind == Kind::kDirectory) return fail(system_error(EISDIR, "read " + path));
  return (*node)->text;
}

Result<void> MemoryFiles::write(const std::string& path, std::string_view content) {
  std::string resolved;
  {
    std::lock_guard lock(mutex_);
    auto node = find(path, Last::kFollow);
    if (!node) return fail(system_error(node.error(), "write " + path));
    if ((*node)->kind == Kind::kDirectory) return fail(system_error(EISDIR, "write " + path));
    if (!on_write_) return fail(system_error(EROFS, "write " + path));
    resolved = path_of(**node);
  }
  return on_write_(resolved, content);
}

Result<std::vector<std::string>> MemoryFiles::list(const std::string& path) const {
  std::lock_guard lock(mutex_);
  auto node = find(path, Last::kFollow);
  if (!node) return fail(system_error(node.error(), "list " + path));
  if ((*node)->kind != Kind::kDirectory) return fail(system_error(ENOTDIR, "list " + path));
  std::vector<std::string> names;
  names.reserve((*node)->children.size());
  for (const auto& [name, child] : (*node)->children) names.push_back(name);
  return names;
}

Result<std::string> MemoryFiles::read_link(const std::string& path) const {
  std::lock_guard lock(mutex_);
  auto node = find(path, Last::kKeep);
  if (!node) return fail(system_error(node.error(), "readlink " + path));
  if ((*node)->kind != Kind::kLink) return fail(system_error(EINVAL, "readlink " + path));
  return (*node)->text;
}

Result<std::string> MemoryFiles::real_path(const std::string& path) const {
  std::lock_guard lock(mutex_);
  auto node = find(path, Last::kFollow);
  if (!node) return fail(system_error(node.error(), "resolve " + path));
  return path_of(**node);
}

bool MemoryFiles::exists(const std::string& path) const {
  std::lock_guard lock(mutex_);
  return find(path, Last::kFollow).has_value();
}

}  // namespace railbed::os
