// SPDX-License-Identifier: Apache-2.0
// How much memory this process can still allocate.
//
// Why: registered memory is populated immediately. If a container's limit or the machine has less, the kernel kills the
// process without a message, so the limit is checked before.
// Threading: any.
// Failure: kExhausted, with what to do; a value that cannot be read is no limit.
// Source: Documentation/admin-guide/cgroup-v2.rst (memory.max, memory.current), proc(5) (MemAvailable).
#pragma once

#include <cstdint>
#include <optional>

#include "base/error.h"
#include "os/ports/file_tree.h"

namespace railbed::perf {

std::optional<int64_t> free_memory_bytes(const os::FileTree& files);
Result<void> need_memory(const os::FileTree& files, int64_t bytes);

}  // namespace railbed::perf
