// SPDX-License-Identifier: Apache-2.0
// Manifests that helm and kubectl make of the charts and kustomizations among files, by the programs of this machine.
//
// Threading: one thread. Failure: an Error for each folder that was not rendered says why and what to do; its files
// stay among the sources, as they are.
#pragma once

#include <chrono>
#include <vector>

#include "base/error.h"
#include "doc/value.h"

namespace railbed {

struct RenderedSources {
  std::vector<doc::SourcePtr> sources;  // files that are not rendered, and what was rendered of the others
  std::vector<Error> failures;
};

// Each renderer is ended when it takes longer than `limit`.
RenderedSources render(const std::vector<doc::SourcePtr>& sources, std::chrono::seconds limit);

}  // namespace railbed
