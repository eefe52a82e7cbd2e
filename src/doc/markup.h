// SPDX-License-Identifier: Apache-2.0
// External text as a part of an XML or HTML document.
//
// Threading: pure.
// Failure: none; characters that are not allowed there (control characters, invalid UTF-8) are written as printable()
// does.
#pragma once

#include <string>
#include <string_view>

namespace railbed::doc {

// Safe as an element's text and in an attribute in double quotes.
std::string markup_text(std::string_view text);

}  // namespace railbed::doc
