// SPDX-License-Identifier: Apache-2.0
// The namespace in which an object ends up: written, added by what applies it, or unknown.
//
// Why: many manifests have no namespace of their own. A kustomization, an Application or `kubectl -n` adds it, and a
// network that is looked for in "default" is then reported as missing although it is there. What nothing adds is
// unknown, and unknown is equal to any namespace.
// Threading: pure functions over a Bundle.
// Failure: none.
#pragma once

#include <string_view>

#include "check/read/bundle.h"
#include "check/read/kustomizations.h"
#include "doc/diagnostic.h"

namespace railbed::check {

// Gives an object a namespace that something else writes, at `where`.
void set_namespace(Document& document, std::string_view ns, const doc::Span& where);

// The kinds that become networks which pods can name.
bool is_network_kind(std::string_view kind);

// Applies what kustomizations (also namePrefix and nameSuffix, to networks), Applications, HelmReleases and commands
// add. Kustomize overwrites a namespace that is written; the others do not.
void add_namespaces(Bundle& bundle, const Kustomizations& kustomizations);

// Gives pods and networks whose namespace is unknown that of the only network or of the pods that fit, and says so of
// pods (RB-POD-001, a note).
void infer_namespaces(Bundle& bundle, doc::Diagnostics& out);

}  // namespace railbed::check
