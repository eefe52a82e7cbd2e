// SPDX-License-Identifier: Apache-2.0
// The state file of a machine that has none yet.
//
// Why not by SQLite: making the tables is half of the instructions of the first `railbed up`, and as much again is
// written twice, to the log and to the file. So the file without content is made while railbed is built, and here it is
// written in one piece. Whoever reads finds all of it or nothing, also after a kill at any moment: it gets its name
// last. Threading: under the lock of the state. Failure: what the kernel says; nothing is left then.
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
