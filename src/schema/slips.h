// SPDX-License-Identifier: Apache-2.0
// Slips in the names of fields and types: what was meant.
//
// Why: an unknown field has no effect, and the message says which one was meant where that is plain. The nearest of
// several names is doc::nearest. Threading: pure. Failure: none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doc/diagnostic.h"
#include "doc/value.h"

namespace railbed::schema {

// Whether a name is a known one but for one slip: one letter wrong, missing, doubled or swapped with its neighbour.
// With more before or behind the known name it is a name of its own: "ehost-device" beside "host-device".
bool is_one_slip(std::string_view name, std::string_view known);
// The one field that a name is short for; empty: none, or several.
std::string long_form_of(std::string_view name, const std::vector<std::string_view>& known);
// Adds an edit that replaces only the key's own bytes, so that its quotes stay.
void rename_key(doc::Diagnostic& finding, const doc::Value::Member& member, const std::string& key);

}  // namespace railbed::schema
