// SPDX-License-Identifier: Apache-2.0
// A file that a person named, written as a whole or left as it was.
//
// Why: a full disk or a kill must not cost what was in it (a manifest that is repaired, results of an earlier run). It
// is written beside its place and renamed. Links are kept: what they point to is replaced. Pipes and devices, and files
// in a folder in which this user may not make others, are written in place. Threading: any thread. Failure: the write's
// error with the path; nothing is left behind.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace railbed {

Result<void> replace_file(const std::string& path, std::string_view text);

}  // namespace railbed
