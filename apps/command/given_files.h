// SPDX-License-Identifier: Apache-2.0
// Files that a verb is given on its command line.
//
// Threading: any. Failure: with the path.
#pragma once

#include <string>

#include "base/error.h"

namespace railbed {

Result<std::string> read_file(const std::string& path);
// The first line of the file; "" without one. In a file, since everybody sees a command line, and results record it. A
// file that others than its owner may read, write or execute is refused.
Result<std::string> read_token(const std::string& path);

}  // namespace railbed
