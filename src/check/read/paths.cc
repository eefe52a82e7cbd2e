// SPDX-License-Identifier: Apache-2.0
#include "check/read/paths.h"

#include <algorithm>
#include <array>
#include <vector>

#include "check/read/outside.h"

namespace railbed::check {

using doc::Value;

std::string folder_of(std::string_view name) {
  const size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? "." : std::string(name.substr(0, slash));
}

std::string_view file_of(std::string_view name) {
  return name.substr(name.find('/') == std::string_view::npos ? 0 : name.rfind('/') + 1);
}

bool is_page(std::string_view name) {
  static constexpr std::string_view kEndings[] = {".md", ".markdown", ".adoc", ".asciidoc", ".rst", ".txt"};
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return name.ends_with(ending); });
}

std::string_view test_folder(std::string_view name) {
  static constexpr std::string_view kFolders[] = {"testdata", "test-data", "fixtures", "fixture", "golden",  "goldens",
                                                  "e2e",      "invalid",   "bad",      "broken",  "negative"};
  for (size_t at = 0; at < name.size();) {
    const size_t end = name.find('/', at);
    if (end == std::string_view::npos) break;  // the file itself
    const std::string_view part = name.substr(at, end - at);
    if (std::ranges::find(kFolders, part) != std::end(kFolders)) return part;
    at = end + 1;
  }
  return {};
}

std::string_view kept_folder(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kFolders{"archive", "archived", "archives", "backups"};
  static constexpr std::array<std::string_view, 8> kEnds{"-backup",  "_backup", ".backup",  "-backups",
                                                         "_backups", ".bak",    "-archive", "_archive"};
  for (size_t at = 0; at < name.size();) {
    const size_t end = name.find('/', at);
    if (end == std::string_view::npos) break;  // the file itself
    const std::string_view part = name.substr(at, end - at);
    if (std::ranges::find(kFolders, part) != kFolders.end()) return part;
    if (std::ranges::any_of(kEnds, [&](std::string_view one) { return part.ends_with(one); })) return part;
    at = end + 1;
  }
  return {};
}

bool is_json_with_comments(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kBegins{"tsconfig",      "jsconfig", "devcontainer", ".eslintrc",
                                                           ".devcontainer", "tslint",   ".swcrc",       "renovate"};
  const std::string_view file = file_of(name);
  if (file.ends_with(".jsonc") || file.ends_with(".json5") || file.ends_with(".code-workspace")) return true;
  if (name.starts_with(".vscode/") || name.find("/.vscode/") != std::string_view::npos) return true;
  return file.ends_with(".json") &&
         std::ranges::any_of(kBegins, [&](std::string_view one) { return file.starts_with(one); });
}

std::string plain_path(std::string_view path) {
  std::vector<std::string_view> parts;
  const bool absolute = path.starts_with('/');
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (part.empty() || part == ".") continue;
    if (part == ".." && !parts.empty() && parts.back() != "..")
      parts.pop_back();
    else
      parts.push_back(part);
  }
  std::string out = absolute ? "/" : "";
  for (const std::string_view part : parts) {
    if (!out.empty() && !out.ends_with('/')) out += '/';
    out += part;
  }
  return out;
}

bool is_kustomization(std::string_view name) {
  const std::string_view file = file_of(name);
  return file == "kustomization.yaml" || file == "kustomization.yml" || file == "Kustomization";
}

std::set<std::string> listed_paths(const Value* list, std::string_view name) {
  std::set<std::string> paths;
  if (list == nullptr || !list->is_array()) return paths;
  const std::string folder = folder_of(name) + "/";
  for (const Value& item : *list->as_array()) {
    const Value* path = item.is_object() ? item.find("path") : &item;
    const std::string* text = path == nullptr ? nullptr : path->as_string();
    // A text with line ends is a patch itself.
    if (text == nullptr || text->find('\n') != std::string::npos) continue;
    paths.insert(is_remote(*text) ? *text : plain_path(folder + *text));
  }
  return paths;
}

}  // namespace railbed::check
