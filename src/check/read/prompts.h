// SPDX-License-Identifier: Apache-2.0
// Prompts that no list has: "~ ❯ ", "~/dev/x (main) $ ", "└─$ ", "➜  ~ git:(main) ✗ ".
//
// Why: everybody draws a prompt of his own, and pages and notes show it. What makes a line one of a terminal is the
// command behind it, so a few words that end with a sign are a prompt where a known command follows; other lines are
// text.
// Threading: pure functions; linear in the first hundred bytes of a line.
// Failure: none.
#pragma once

#include <cstddef>
#include <string_view>

namespace railbed::check {

// The bytes before the command in a line without indentation; 0 where it is no such line. Of a line that is a prompt
// and nothing else, all of it.
size_t drawn_prompt_length(std::string_view line);

// The length of the last lines of a block that are a prompt without a command, with blank lines around it: what a
// terminal shows behind its last output. 0: there is none.
size_t last_prompt_length(std::string_view block);

}  // namespace railbed::check
