// SPDX-License-Identifier: Apache-2.0
// Cached objects of the API server, as one file: for an agent that starts while the API server is unavailable.
//
// Why the file names its owner: an agent that is pointed at another cluster, or that got another node's name, must not
// mistake pods of the old one for its own. A file that is incomplete, or has another owner, counts as absent, with the
// reason.
// Threading: pure.
// Failure: Invalid for a file of another format, Conflict for another owner's.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/error.h"
#include "doc/value.h"

namespace railbed::agent {

struct KeptObjects {
  std::string of;  // the API server and what was selected there
  std::chrono::system_clock::time_point as_of;
  std::vector<doc::Value> objects;
};

std::string object_file_text(KeptObjects kept);
// `of` is who asks.
Result<KeptObjects> read_object_file(const std::string& text, const std::string& of);

}  // namespace railbed::agent
