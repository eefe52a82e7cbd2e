// SPDX-License-Identifier: Apache-2.0
// Manual pages, in the language of man(7), from what verbs declare.
//
// Threading: pure functions over values. Failure: none. The pages are plain ASCII, and name no date, so that
// the same program always writes the same pages.
#pragma once

#include <span>
#include <string>

#include "described.h"

namespace railbed {

// railbed(1): the verbs and the files that railbed uses.
std::string man_page_of_all(std::span<const Described> verbs);
// railbed-check(1), …: the purpose of a verb, its options, its exit statuses.
std::string man_page_of(const Described& verb);

}  // namespace railbed
