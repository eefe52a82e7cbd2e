// SPDX-License-Identifier: Apache-2.0
// Recorded machines: a directory or a tar file that replaces the kernel.
//
// Why: the behaviour of a reader of facts on a machine that is not available here can only be tested, and reported,
// with the data of that machine's kernel. A recording is a tree of files below a root (sys/…, proc/…) with links kept
// as links, plus the netlink data, as JSON:
//   railbed/links.json    interfaces with VFs, addresses, routes, rules with a source
//   railbed/rdma.json     RDMA devices and mode
//   railbed/netlink.json  the answers to all other questions over netlink that were asked, as bytes, and which families
//                         could not be reached
//   railbed/host.json     name, kernel release, boot id; eswitch modes and firmware versions for earlier versions of
//                         railbed. Their recordings have no netlink.json: there these values are the answers.
// Without one of these files (a plain copy of /sys) its port is Unsupported. A recording cannot be changed.
// Threading: as the ports.
// Failure: Invalid with the file and the location for a tar or JSON that cannot be read; a tar may contain no "..", at
// most kMaxRecordingBytes and kMaxRecordingEntries; entries that are not a file, link or directory are skipped.
#pragma once

#include <memory>
#include <string>

#include "os/ports/kernel.h"
#include "os/record/memory_files.h"

namespace railbed::os {

inline constexpr size_t kMaxRecordingBytes = 256 << 20;
inline constexpr size_t kMaxRecordingEntries = 1 << 20;

Result<std::unique_ptr<Kernel>> recorded_kernel(const std::string& root_dir);
// Any compression that libarchive knows, or none. A single directory around everything is skipped.
Result<std::unique_ptr<Kernel>> recorded_kernel_from_tar(const std::string& tar_file);
// Whether a file of this name is read as a tar file: ".tar", also compressed (".tar.gz", ".tgz", ".tar.zst", …).
bool is_tar_name(std::string_view path);
// Any tree with the files of such a recording.
Result<std::unique_ptr<Kernel>> recorded_kernel_over(std::unique_ptr<FileTree> files);

// Records everything that a reader looks at: give kernel() to the reader of facts, then write. So a recording has
// exactly the files that matter.
class Recorder {
 public:
  explicit Recorder(Kernel& machine);
  ~Recorder();
  Kernel& kernel();
  // Adds the netlink facts; everything that belongs into a recording.
  Result<const MemoryFiles*> files();
  // Writes files() as a tar file, compressed where the name ends in "gz"; it appears complete or not at all.
  Result<void> write(const std::string& tar_file);

 private:
  class Traced;
  std::unique_ptr<Traced> traced_;
};

}  // namespace railbed::os
