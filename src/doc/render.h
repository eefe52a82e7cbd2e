// SPDX-License-Identifier: Apache-2.0
// Findings as a terminal shows them; without colours, doc::render of diagnostic.h.
//
// Threading: pure.
// Failure: none.
#pragma once

#include "base/paint.h"
#include "doc/diagnostic.h"

namespace railbed::doc {

std::string render(const Diagnostic& diagnostic, Colour colour);
std::string render(const Diagnostics& diagnostics, Colour colour);

}  // namespace railbed::doc
