// SPDX-License-Identifier: Apache-2.0
// Whether a page shows an example as a wrong one.
//
// Why: a page about what is refused ("Test 6: negative values (should fail)") has mistakes that its author wants. They
// are mistakes, and need no repair. The words around the example say so: its heading, the line before it, a
// comment above its command. Threading: a pure function; looks at a bounded number of lines. Failure: none.
#pragma once

#include <cstddef>
#include <string_view>

namespace railbed::check {

// `begin`: where the example begins in the text of the page: the first line of a block, or of a here-document in one.
bool is_wrong_on_purpose(std::string_view page, size_t begin);

}  // namespace railbed::check
