// SPDX-License-Identifier: Apache-2.0
// Paths in the names of sources and in the lists of a kustomization. Text only: no file is accessed.
// Threading: pure.
// Failure: none.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "doc/value.h"

namespace railbed::check {

// "a/b" of "a/b/c.yaml"; "." where there is no folder.
std::string folder_of(std::string_view name);
// "c.yaml" of "a/b/c.yaml".
std::string_view file_of(std::string_view name);
// Documentation: Markdown, AsciiDoc, reStructuredText, text.
bool is_page(std::string_view name);
// The folder in a path that says that its files are inputs of tests and may be wrong on purpose ("testdata"); empty:
// none.
std::string_view test_folder(std::string_view name);
// The folder in a path that says that its files are kept and nothing applies them ("archive", "workflows-backup");
// empty: none. "backup" alone is often the home of a program that makes backups.
std::string_view kept_folder(std::string_view name);
// Files of editors and compilers that are JSON with comments: ".vscode/tasks.json", "tsconfig.json".
bool is_json_with_comments(std::string_view name);
// Without "." and "..", as far as ".." can be followed.
std::string plain_path(std::string_view path);
// kustomize knows its own files by their names; `kind` may be left out in them.
bool is_kustomization(std::string_view name);
// The paths that a list of the kustomization `name` has: items are paths, or objects with a `path`. What is fetched
// from elsewhere stays as it is written.
std::set<std::string> listed_paths(const doc::Value* list, std::string_view name);

}  // namespace railbed::check
