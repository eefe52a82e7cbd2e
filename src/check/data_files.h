// SPDX-License-Identifier: Apache-2.0
// The rules' domain data, as files compiled into the program.
//
// Why: PF→VF ids, producers of labels and resources, options of tools and variables of libraries change more
// often than code and are reviewed by people who do not read C++. They are YAML below src/check/data.
// Threading: immutable.
// Failure: none; the content of a file is checked by its reader's test.
#pragma once

#include <span>
#include <string_view>

#include "base/embed.h"
#include "doc/value.h"

namespace railbed::check {

std::span<const EmbeddedFile> data_files();  // "pci_ids.yaml"

// The text of a file; empty when no file has that name.
std::string_view data_file(std::string_view name);
// The only YAML document in the file. The file must exist and be valid; a unit test checks all of them.
doc::Value data_document(std::string_view name);

}  // namespace railbed::check
