// SPDX-License-Identifier: Apache-2.0
// Keeps a DEL request on disk until an agent repeats it.
//
// The file "<nanoseconds since 1970>-<pid>.del" holds the request's frame as it goes over the socket; names
// sort by time. It is on the disk before keep() says so: written under another name, synced, renamed, and the
// folder synced, as is the one above a folder that had to be made. Threading: one. Failure: `problem` names the system
// call, its path and errno.
#pragma once

#include <string>
#include <string_view>

namespace railbed::shim {

bool keep(const char* folder, std::string_view frame, std::string& problem);

}  // namespace railbed::shim
