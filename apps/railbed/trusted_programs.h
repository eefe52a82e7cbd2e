// SPDX-License-Identifier: Apache-2.0
// Programs that `railbed check` runs: from PATH, but never from the files that are checked, whose author may have put a
// program there.
//
// Threading: any thread. Failure: an empty text where there is none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace railbed {

// The folders of PATH that are absolute and neither in nor below one of the `given` files and folders.
std::string trusted_path(const std::vector<std::string>& given);
// The path of a program that PATH leads to; empty where there is none.
std::string program_in(std::string_view path, std::string_view name);

}  // namespace railbed
