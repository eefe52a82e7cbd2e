// SPDX-License-Identifier: Apache-2.0
// A file tree in memory: of a recording, or of a simulated machine.
//
// Why: recordings are tar files that users should not have to unpack, and the fake kernel's sysfs changes at every
// write. Links resolve as in real_files: inside the tree.
// Threading: any; on_write is called without a lock held.
// Failure: as real_files, with the same messages; writes without on_write are EROFS.
#pragma once

#include <functional>
#include <map>
#include <mutex>

#include "os/ports/file_tree.h"

namespace railbed::os {

class MemoryFiles : public FileTree {
 public:
  MemoryFiles();
  ~MemoryFiles() override;

  // These create missing parent directories and replace an existing entry. False when a part of the path is no
  // directory (links are not followed here).
  bool put_file(const std::string& path, std::string content);
  bool put_link(const std::string& path, std::string target);
  bool put_directory(const std::string& path);
  void remove(const std::string& path);  // with everything below; does nothing when it is missing

  // Runs for a write to an existing file; links in the path are resolved. The content changes only if the handler calls
  // put_file.
  using OnWrite = std::function<Result<void>(const std::string& path, std::string_view content)>;
  void on_write(OnWrite handler) { on_write_ = std::move(handler); }

  // Visits every entry, parents first, in the order of names.
  struct Entry {
    enum class Kind { kDirectory, kFile, kLink } kind;
    std::string path;
    const std::string& text;  // content or target
  };
  void each(const std::function<void(const Entry&)>& visit) const;

  Result<std::string> read(const std::string& path) const override;
  Result<void> write(const std::string& path, std::string_view content) override;
  Result<std::vector<std::string>> list(const std::string& path) const override;
  Result<std::string> read_link(const std::string& path) const override;
  Result<std::string> real_path(const std::string& path) const override;
  bool exists(const std::string& path) const override;

 private:
  struct Node;
  enum class Last : bool { kFollow, kKeep };
  std::expected<const Node*, int> find(std::string_view path, Last last) const;
  Node* place(const std::string& path);
  static std::string path_of(const Node& node);
  static void visit(const Node& node, const std::string& path, const std::function<void(const Entry&)>& visit);

  mutable std::mutex mutex_;
  std::unique_ptr<Node> root_;
  OnWrite on_write_;
};

}  // namespace railbed::os
