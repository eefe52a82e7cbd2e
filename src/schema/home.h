// SPDX-License-Identifier: Apache-2.0
// Where a misplaced field belongs.
//
// Why: most unknown fields are fields of the object around, below or beside, a slip of the indentation; the message
// names that place. Threading: pure. Failure: none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "schema/frame.h"

namespace railbed::schema {

struct Home {
  std::string sentence;  // "is a field of spec, not of spec.nicSelector"
  std::string fix;
  bool nowhere_else = false;  // no version of what is here will have it
};

// In an enclosing object; or, if no field here has a similar name (`look_far`), in one below, beside, two levels below,
// or in another kind. `variants` is the group that the object's type was found in, or null.
std::optional<Home> home_of(std::string_view key, const Frame& frame, const Schema* variants, bool look_far);
// How to move a field out to an object around it. Names no single field: the one that it slipped into may be in the
// wrong column, too.
std::string as_far_as_others_of(const Frame& frame);

}  // namespace railbed::schema
