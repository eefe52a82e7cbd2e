// SPDX-License-Identifier: Apache-2.0
// Recordings as tar files, with libarchive.
//
// Threading: any thread.
// Failure: Invalid for a tar that is broken, too large (kMaxRecordingBytes, kMaxRecordingEntries) or leaves its root;
// entries that are not a file, link or directory are skipped.
#pragma once

#include <string>

#include "os/record/memory_files.h"

namespace railbed::os {

Result<void> read_tar(const std::string& tar_file, MemoryFiles& files);
// The same from memory: for tests and fuzzing. `name` is for messages.
Result<void> read_tar_bytes(std::string_view bytes, const std::string& name, MemoryFiles& files);
// Written beside `tar_file` and renamed, so that it appears whole or not at all. Times and owners are zero:
// the same content gives the same bytes.
Result<void> write_tar(const MemoryFiles& files, const std::string& tar_file);

}  // namespace railbed::os
