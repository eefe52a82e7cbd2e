// SPDX-License-Identifier: Apache-2.0
// Where this program lies: what belongs to it lies beside it. Threading: any thread. Failure: without /proc.
#pragma once

#include <string>

#include "base/error.h"

namespace railbed {

// "/usr/bin", symbolic links resolved.
Result<std::string> program_folder();

}  // namespace railbed
