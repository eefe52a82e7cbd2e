// SPDX-License-Identifier: Apache-2.0
// The files of a check as they were at an earlier commit, read with git into memory.
//
// Why whole trees: the finding of a change may be in a file that it does not touch. Nothing is checked out, so the
// working tree and the index stay as they are.
// Threading: one thread.
// Failure: an Error if there is no git, no repository around a path, or no such commit.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "check_files.h"
#include "doc/value.h"

namespace railbed {

// What `given_paths` would have found at the commit `ref`, with the same names. Files that git ignores now but tracked
// then are among it; project files say what is left out as they are now.
Result<std::vector<doc::SourcePtr>> sources_at(const std::string& ref, const std::vector<std::string>& paths,
                                               const CheckFileChoice& choice, CheckProjects& projects);

}  // namespace railbed
