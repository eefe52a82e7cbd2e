// SPDX-License-Identifier: Apache-2.0
// Commands in documents: prompts, comments, quotes, pipes, continued lines, here-documents, and the output pasted
// below.
//
// Why: one in five mistakes of published guides is in a command or in the output that "proves" it. No shell is
// emulated: nothing is expanded, `<node-name>` is a word, and what cannot be parsed is skipped.
// Threading: pure functions; linear in the text.
// Failure: none.
#pragma once

#include <functional>
#include <string_view>

#include "check/read/bundle.h"
#include "check/read/kubectl.h"
#include "doc/text.h"
#include "doc/yaml.h"

namespace railbed::check {

enum class ShellText {
  kScript,   // every line is a command unless some line has a prompt
  kConsole,  // only lines with a prompt have commands
  kFile,     // a shell script: '#' always begins a comment
};

// Receives the text of a here-document, and how the commands of its line apply it.
using HereDocument = std::function<void(doc::Region, const Applied&)>;

// Adds the commands of a part of a source, with the lines below each as its output. Comments that say
// something become prose. `where` is the pod or node in which an earlier part left its reader (`oc debug
// node/x`), and is set for the next one.
void read_shell(const doc::SourcePtr& source, const doc::LineIndex& index, doc::Region region, ShellText kind,
                Bundle& bundle, const HereDocument& here_document, std::string& where);

// The bytes of a prompt at the start of a line ("$ ", "[root@node ~]# ", "sh-4.4# "), with the blanks before
// and behind it; 0 where there is none. "# ", and "+ " of `set -x`, count only when what follows is a command.
size_t prompt_length(std::string_view line);

// Whether a line without a prompt reads like a command: a known program, and behind it what can follow it.
bool looks_like_command(std::string_view line);

}  // namespace railbed::check
