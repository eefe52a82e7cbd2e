// SPDX-License-Identifier: Apache-2.0
// Texts of the shim's messages, without fmt and locale. Threading: pure. Failure: none.
#pragma once

#include <string>
#include <string_view>

namespace railbed::shim {

std::string json_quoted(std::string_view text);
std::string number(unsigned long long value);
// "ENOENT (No such file or directory)". strerror(3) would link the message catalogues.
std::string error_text(int sys_errno);

}  // namespace railbed::shim
