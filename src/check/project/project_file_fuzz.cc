// SPDX-License-Identifier: Apache-2.0
// Any bytes as a project file: no crash, no hang; every place is in the text, and what was read answers for any path.
#include "check/project/policy.h"
#include "check/project/project_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace railbed;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto source = std::make_shared<const doc::Source>(doc::Source{"railbed.yaml", text});
  doc::Diagnostics problems;
  const auto project = check::read_project_file(source, problems);
  if (project && !problems.all().empty()) __builtin_trap();
  for (const doc::Diagnostic& one : problems.all())
    if (one.span.known() && one.span.offset + static_cast<size_t>(one.span.length) > text.size()) __builtin_trap();
  if (!project) return 0;
  check::to_value(*project);
  for (const std::string& path : {std::string("a/b.yaml"), text.substr(0, 200)}) {
    project->excludes(path);
    project->class_of(path);
    project->environment_of(path);
    project->severity_of(path);
  }
  return 0;
}
