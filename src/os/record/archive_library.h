// SPDX-License-Identifier: Apache-2.0
// libarchive, loaded only when a recording is read or written.
//
// Why: it depends on nine other libraries (31 MB of ICU among them), and the loader would resolve their 2,000 symbols
// at every start of railbed, which is a third of the start time; recordings are rare.
// Spec: libarchive 3 (libarchive.so.13), archive.h.
// Threading: immutable after the first call; any thread.
// Failure: an Error that names the library and its package.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include "base/error.h"

namespace railbed::os {

// Functions by the names that archive.h gives them.
#define RAILBED_ARCHIVE_FUNCTIONS(X)         \
  X(archive_entry_filetype)                  \
  X(archive_entry_free)                      \
  X(archive_entry_hardlink)                  \
  X(archive_entry_new)                       \
  X(archive_entry_pathname)                  \
  X(archive_entry_set_filetype)              \
  X(archive_entry_set_mtime)                 \
  X(archive_entry_set_pathname)              \
  X(archive_entry_set_perm)                  \
  X(archive_entry_set_size)                  \
  X(archive_entry_set_symlink)               \
  X(archive_entry_symlink)                   \
  X(archive_errno)                           \
  X(archive_error_string)                    \
  X(archive_read_data)                       \
  X(archive_read_free)                       \
  X(archive_read_new)                        \
  X(archive_read_next_header)                \
  X(archive_read_open_filename)              \
  X(archive_read_open_memory)                \
  X(archive_read_set_options)                \
  X(archive_read_support_filter_bzip2)       \
  X(archive_read_support_filter_gzip)        \
  X(archive_read_support_filter_xz)          \
  X(archive_read_support_filter_zstd)        \
  X(archive_read_support_format_tar)         \
  X(archive_write_add_filter_gzip)           \
  X(archive_write_close)                     \
  X(archive_write_data)                      \
  X(archive_write_free)                      \
  X(archive_write_header)                    \
  X(archive_write_new)                       \
  X(archive_write_open_filename)             \
  X(archive_write_set_format_pax_restricted) \
  X(archive_write_set_options)

struct ArchiveLibrary {
#define RAILBED_DECLARE(name) decltype(&::name) name = nullptr;
  RAILBED_ARCHIVE_FUNCTIONS(RAILBED_DECLARE)
#undef RAILBED_DECLARE
};

// The library that was loaded, by the first call; the same for all.
Result<const ArchiveLibrary*> archive_library();

}  // namespace railbed::os
