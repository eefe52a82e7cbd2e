// SPDX-License-Identifier: Apache-2.0
// Remarks that a page writes beside the lines of a manifest and that are no comments of YAML: "port: 80   <== exposed",
// "mtu: 9000 ①", "replicas: 2  // one for each rail".
//
// Why: they are for the reader of the page, who does not copy them. YAML takes them for a part of the value.
// Threading: pure functions; linear.
// Failure: none.
#pragma once

#include <cstddef>
#include <string_view>

namespace railbed::check {

// Where the remark at the end of a line begins; the line's size where there is none.
size_t remark_begin(std::string_view line);

// Whether a line, without the blanks around it, is a remark about the line above or a sign between two objects:
// "^^^ the rail", "↓".
bool is_remark_line(std::string_view content);

}  // namespace railbed::check
