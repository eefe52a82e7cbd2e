// SPDX-License-Identifier: Apache-2.0
// What a block of code of a page is: its text decides, the word behind the fence only where the text does not.
//
// Why: pages show manifests in blocks that say "bash", commands and their output in blocks that say "yaml", HTTP
// requests above JSON, differences. A reader of the page sees which; so does this.
// Threading: pure functions; linear.
// Failure: none.
#pragma once

#include <cstdint>
#include <string_view>

#include "check/read/page.h"

namespace railbed::check {

enum class BlockText : uint8_t {
  kManifest,  // YAML or JSON of Kubernetes, or what says that it is
  kCommands,  // a script, or commands with their output
  kRequest,   // an HTTP request or answer with a body of JSON
  kProse,     // text, a table, output
  kOther,     // a difference, a program, the settings of another one
};

BlockText block_text(std::string_view text, BlockLanguage language);

// Where the body of a request begins; its size where there is none.
size_t body_of_request(std::string_view text);

// Whether a text has lines of a manifest anywhere: a here-document, a block without a language.
bool looks_like_manifest(std::string_view text);

// Whether the text is JSON of another program: an editor's settings, a server's answer.
bool is_other_json(std::string_view text);

}  // namespace railbed::check
