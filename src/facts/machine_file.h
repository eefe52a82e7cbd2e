// SPDX-License-Identifier: Apache-2.0
// A machine's files as one text that people can read and edit: fixtures and small recordings.
//
//   # a comment; empty lines are skipped
//   [/sys/devices/pci0000:3a/0000:3a:01.0/0000:3c:00.0]    the folder of the names that follow
//   numa_node = 0                                          a file; a newline is added at its end,
//   uevent = DRIVER=mlx5_core\nPCI_ID=15B3:1021            "\n", "\t", "\r" and "\\" are escapes
//   board_id := MT_0000000838                              the same without the newline at the end
//   driver -> ../../../../bus/pci/drivers/mlx5_core        a symbolic link
//   net/                                                   a directory, for empty ones
//   /proc/modules <<END                                    a file of many lines, up to the word after "<<";
//   mlx5_core 2428928 1 mlx5_ib, Live 0x0                  absolute names need no folder
//   END
//
// Parents come into being by themselves. Threading: pure functions. Failure: Code::kInvalid with name and line.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "os/record/memory_files.h"

namespace railbed::facts {

// `name` is for messages.
Result<std::unique_ptr<os::MemoryFiles>> parse_machine(std::string_view text, std::string_view name);

// The same tree as text; parse_machine() reads it back.
std::string print_machine(const os::MemoryFiles& files);

}  // namespace railbed::facts
