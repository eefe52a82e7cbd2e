// SPDX-License-Identifier: Apache-2.0
// Machines that were recorded: a directory or a tar file that stands in for the kernel.
//
// Why: what a reader of facts does on a machine that nobody here owns can only be tested, and reported, with
// what that machine's kernel said. A recording is a tree of files below a root (sys/…, proc/…) with links
// kept as links, plus what netlink told, as JSON:
//   railbed/links.json   interfaces with VFs, addresses, routes;  railbed/rdma.json   RDMA devices and mode
//   railbed/host.json    name, kernel release, boot id, eswitch modes and firmware versions
// Without one of these files (a plain copy of /sys) its port is Unsupported. Nothing can be changed there.
// Threading: as the ports. Failure: Invalid with the file and the place for a tar or JSON that cannot be
// read; a tar may hold no "..", at most kMaxRecordingBytes and kMaxRecordingEntries; what is no file, link or
// directory is left out.
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
