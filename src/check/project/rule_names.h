// SPDX-License-Identifier: Apache-2.0
// How people name rules: one by its id ("RB-RES-001"), or all of a family ("RB-RES").
//
// Threading: pure.
// Failure: none.
#pragma once

#include <string_view>

namespace railbed::check {

// Whether this name is the id or its family. In any case of letters: people type names.
bool names_rule(std::string_view name, std::string_view id);
// "RB-RES" of "RB-RES-001".
std::string_view family_of(std::string_view id);
// Whether any finding of `check` has this name.
bool is_rule_name(std::string_view name);
// "RB-RES-001" for "rb-res-01", to suggest it; empty where nothing is near.
std::string_view nearest_rule_name(std::string_view name);

}  // namespace railbed::check
