// SPDX-License-Identifier: Apache-2.0
// Objects of the API server as they were known here, as one file: what an agent that starts while the API server is
// away works with.
//
// Why the file names whose objects they are: an agent that is pointed at another cluster, or that got another node's
// name, must not take pods of the old one for its own. A file that is not whole, or of somebody else, is as good as
// none, with the reason. Threading: pure. Failure: Invalid for what is no such file, Conflict for somebody else's.
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
