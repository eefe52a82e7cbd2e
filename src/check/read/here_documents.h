// SPDX-License-Identifier: Apache-2.0
// Manifests in here-documents of files that are not read otherwise: Vagrantfile, Dockerfile, Jenkinsfile, Makefile, and
// the scripts inside workflows, playbooks and files of cloud-init.
//
// Why: such files apply objects as scripts do, and what they make would count as missing. Their own language is not
// read: a here-document is recognized by the line that opens it and the one that ends it, whatever is around it.
// Threading: pure functions; linear, up to a limit of nesting.
// Failure: none; a here-document that is never closed is none.
#pragma once

#include <string_view>
#include <vector>

#include "check/read/kubectl.h"
#include "doc/value.h"
#include "doc/yaml.h"

namespace railbed::check {

// A manifest in a text, and how the line that opens it applies it.
struct HeldManifest {
  doc::Region region;
  Applied applied;
};

// The delimiter of a here-document that a line opens: "EOF" of `cat <<-'EOF' | …`, "SHELL" of `inline: <<~SHELL`;
// empty: none.
std::string_view here_delimiter(std::string_view line);

// The innermost here-documents in a part of a text that have manifests, also `define NAME … endef` of make and texts
// between ''' or """.
std::vector<HeldManifest> manifests_in_script(std::string_view text, doc::Region part);

// Those in the literal texts of a document that is no object of Kubernetes, and the texts that are manifests themselves
// (`content: |`). `text`: of the source of the document.
std::vector<HeldManifest> manifests_in_texts(const doc::Value& document, std::string_view text);

}  // namespace railbed::check
