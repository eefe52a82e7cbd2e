// SPDX-License-Identifier: Apache-2.0
// What a change of files brought about: the findings that were not there before, and the changed object behind each.
//
// Why: a commit that lowers the VFs of a policy makes pods wait in files that it does not touch. Looking at changed
// files or lines alone hides that; so both trees are checked as a whole and the findings are compared by fingerprint.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "check/check.h"

namespace railbed::check {

// The objects with a name, and a hash of each. `to_given` converts a place to one in the given texts.
std::vector<ObjectState> object_states_of(const Bundle& bundle,
                                          const std::function<doc::Span(const doc::Span&)>& to_given);

// Removes the findings of `now` that `before` has, too, and returns how many. Those that stay name the object that
// changed: a note "caused by …, which changed since REF" where it is not the finding's own. Both reports have the
// states of their objects.
size_t keep_what_is_new(const Report& before, std::string_view ref, Report& now);

}  // namespace railbed::check
