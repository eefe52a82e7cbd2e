// SPDX-License-Identifier: Apache-2.0
// The state file of a machine that has none yet.
//
// Why not with SQLite: creating the tables takes half of the instructions of the first `railbed up`, and as much again
// is written twice, to the log and to the file. So the file with empty tables is created while railbed is built, and
// written here in one piece. A reader sees the complete file or none, also after a kill at any moment: the file gets
// its name last.
// Threading: under the lock of the state.
// Failure: the kernel's error; nothing is left then.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace railbed::state {

// The bytes of a file with schema.h's tables and nothing in them but the version; generated.
std::string_view empty_state();

enum class Origin { kFound, kMade };

// Leaves whatever has this name. With `in_memory` a power cut leaves no file, so that nothing is waited for.
Result<Origin> make_file(const std::string& path, bool in_memory);

}  // namespace railbed::state
