// SPDX-License-Identifier: Apache-2.0
// One interface to sysfs, procfs and similar file systems, rooted at any directory.
//
// Why: every read and write of a machine's files uses this interface, so that a recorded machine, a fixture and a
// failing kernel can replace the real one. Paths are absolute ("/sys/class/net"); symbolic links are resolved inside
// the root, also absolute ones.
// Threading: implementations may be used from several threads at once.
// Failure: errors carry "read /sys/…: ENOENT (…)".
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace railbed::os {

inline constexpr size_t kMaxFileBytes = 4 << 20;

class FileTree {
 public:
  virtual ~FileTree() = default;

  // The whole content, at most kMaxFileBytes, unchanged.
  virtual Result<std::string> read(const std::string& path) const = 0;
  // Writes `content` to an existing file with one write(2), as sysfs attributes require.
  virtual Result<void> write(const std::string& path, std::string_view content) = 0;
  // Names in a directory, sorted, without "." and "..".
  virtual Result<std::vector<std::string>> list(const std::string& path) const = 0;
  // The target of a symbolic link, as written.
  virtual Result<std::string> read_link(const std::string& path) const = 0;
  // The path with all links resolved, absolute within the root.
  virtual Result<std::string> real_path(const std::string& path) const = 0;
  virtual bool exists(const std::string& path) const = 0;
  // Whether a process has this device file open, of a kind that can be open only once (a vfio group: EBUSY).
  virtual Result<bool> is_in_use(const std::string& path) const;
};

// Content without trailing white space, for sysfs attributes. Recorded values may lack the newline.
Result<std::string> read_line(const FileTree& files, const std::string& path);
// The last component of a link's target ("mlx5_core" for …/driver).
Result<std::string> link_name(const FileTree& files, const std::string& path);

// The real file system below `root` ("" or "/" for the machine itself). Links cannot leave the root.
std::unique_ptr<FileTree> real_files(const std::string& root);

}  // namespace railbed::os
