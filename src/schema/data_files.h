// SPDX-License-Identifier: Apache-2.0
// The schemas of all kinds (src/schema/data), as files compiled into the program.
//
// Threading: immutable. Failure: none; tests read all of them.
#pragma once

#include <span>

#include "base/embed.h"

namespace railbed::schema {

std::span<const EmbeddedFile> data_files();

}  // namespace railbed::schema
