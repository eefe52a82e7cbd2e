// SPDX-License-Identifier: Apache-2.0
// Rendering of folders with helm and kustomize: which folders belong to them, and the manifests that they print.
//
// Why: a template is not a manifest yet, and an overlay says little without its base. The renderer's output is what
// gets applied, so it is checked, and the source files are skipped.
// Threading: pure functions.
// Failure: none.
// Source: Helm's "Charts" (Chart.yaml, templates/, charts/), kustomize's reference of kustomization.yaml.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "doc/value.h"

namespace railbed::check {

enum class Renderer : uint8_t { kHelm, kKustomize };

struct Renderable {
  Renderer by = Renderer::kHelm;
  std::string folder;           // as the sources name it; "." where they name none
  std::set<std::string> files;  // names of the sources that it is made of
  std::string remote;           // what rendering would fetch from another machine; empty: nothing is known of
  std::string executed;         // what rendering would execute; empty: as before
  bool operator==(const Renderable&) const = default;
};

// The charts and kustomizations among the sources: those that are applied themselves, not parts of others (a chart's
// own charts, the bases and components of an overlay), and not libraries of templates.
std::vector<Renderable> renderables(const std::vector<doc::SourcePtr>& sources);

// A source per document of the text, named "rendered from FOLDER (document N)".
std::vector<doc::SourcePtr> rendered_documents(std::string_view folder, std::string_view text);
// Whether a source is one of those: it is in no file, so that nothing can be repaired in it.
bool is_rendered(std::string_view name);
// The FOLDER in such a name.
std::string_view rendered_folder(std::string_view name);

}  // namespace railbed::check
