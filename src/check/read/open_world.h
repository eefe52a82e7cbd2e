// SPDX-License-Identifier: Apache-2.0
// Whether a thing that is not in the checked files may be there nevertheless.
//
// Why: a manifest is one part of a cluster. "It is not there" is an error only if everything that could make it was
// read; otherwise it is a note that names what was not read. Threading: pure functions. Failure: none.
#pragma once

#include <string>
#include <string_view>

#include "check/read/bundle.h"

namespace railbed::check {

// Whether an object of `kind` that `user` refers to may be made by what was not read. `why`, if not null, then says by
// what.
bool could_be_made_elsewhere(const Bundle& bundle, const Document& user, std::string_view kind, std::string* why);

}  // namespace railbed::check
