// SPDX-License-Identifier: Apache-2.0
// Manifests that helm and kubectl make of the charts and kustomizations among files, by the programs of this machine.
//
// Why not just run them: a pull request's author writes what is rendered, and the job has tokens. A renderer gets PATH
// (absolute folders outside of what is checked), an empty HOME and no other variable; no plugins of helm; no network,
// where this machine lets us make a namespace. What would execute programs is not rendered, what is fetched only if
// allowed.
//
// Threading: one thread. Failure: an Error for each folder that was not rendered says why and what to do; its files
// stay among the sources, as they are.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "doc/value.h"

namespace railbed {

struct RenderedSources {
  std::vector<doc::SourcePtr> sources;  // files that are not rendered, and what was rendered of the others
  std::vector<Error> failures;
  std::map<std::string, std::string> from;  // the folders that were rendered, and the file that says how
};

struct RenderOptions {
  std::vector<std::string> given;  // files and folders on the command line: no program is taken from them
  std::chrono::seconds limit{60};  // a renderer that takes longer is ended
  bool remote = false;             // fetch what kustomizations take from other machines
};

RenderedSources render(const std::vector<doc::SourcePtr>& sources, const RenderOptions& options);

}  // namespace railbed
