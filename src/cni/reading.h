// SPDX-License-Identifier: Apache-2.0
// Reads input from a runtime or a plugin with doc::Fields, and reports errors with the specification's codes.
//
// Threading: pure.
// Failure: the code that the caller passes, with file:line:column, the member's name, and the expected value.
#pragma once

#include <string>
#include <string_view>

#include "cni/error.h"
#include "doc/fields.h"

namespace railbed::cni {

// JSON text as an object; `name` stands for the text in messages. Code 6.
Result<doc::Value> read_object(const std::string& json, std::string_view name);

// A boolean, which the reference library also takes as a text ("true", in any case); false where it is absent.
bool read_flag(doc::Fields& fields, std::string_view key);

// The first complaint with `code`, if there is one.
Result<void> understood(const doc::Diagnostics& found, int code);

}  // namespace railbed::cni
