// SPDX-License-Identifier: Apache-2.0
// Splits a page of reStructuredText into blocks of code and the text between them.
//
// Why: only directives (`.. code-block:: yaml`, `parsed-literal`) and `::` open a block, by indentation; a row of ~, =
// or
// - is a heading. Tabs and notes indent what they hold, so directives are looked for at any indentation.
// Threading: pure functions; one pass, linear.
// Failure: none.
// Source: docutils' reStructuredText Markup Specification, "Literal Blocks"; Sphinx, "code-block".
#pragma once

#include <string_view>
#include <vector>

#include "check/read/page.h"

namespace railbed::check {

std::vector<Block> split_rst(std::string_view text);

}  // namespace railbed::check
