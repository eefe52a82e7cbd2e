// SPDX-License-Identifier: Apache-2.0
// Which object a place is in whose text is no valid YAML, so that no document knows it.
//
// Why: programs group findings by object, and the broken one is what they must show. Its kind and name are usually
// above the mistake, in lines that anybody can read. Threading: pure functions; linear in the text. Failure: none;
// empty fields where the lines do not say it.
#pragma once

#include <string_view>

#include "doc/diagnostic.h"

namespace railbed::check {

// Kind, and namespace/name, of the object around a place, by its lines alone.
doc::Subject object_by_lines(std::string_view text, size_t place);

}  // namespace railbed::check
