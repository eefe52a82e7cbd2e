// SPDX-License-Identifier: Apache-2.0
// Which findings a run shows and how severe they are: what project files, --select and --ignore say.
//
// Why apart from the rules: a rule says what is wrong, a repository what it has decided about that.
// Threading: values; pure.
// Failure: none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/project/project_file.h"
#include "doc/diagnostic.h"

namespace railbed::check {

// Where a source is: below the folder of its project file, or of the repository or working directory where it has none.
struct SourcePlace {
  std::optional<size_t> project;  // in Policy::projects
  std::string path;               // relative to that folder
};

struct Policy {
  std::vector<ProjectFile> projects;
  std::map<std::string, SourcePlace, std::less<>> places;  // by the names of the sources
  std::vector<std::string> select;                         // ids and families; empty: all
  std::vector<std::string> ignore;

  const SourcePlace* place_of(const doc::Span& span) const;
  const ProjectFile* project_of(const doc::Span& span) const;
  std::optional<GivenClass> class_of(const doc::Span& span) const;
};

// An entry of a project file's `ignore`: the project, the entry, and the rule in it.
struct IgnoreEntry {
  size_t project = 0;
  size_t entry = 0;
  size_t rule = 0;
  auto operator<=>(const IgnoreEntry&) const = default;
};

// What becomes of a finding.
struct Verdict {
  enum class What : uint8_t {
    kShown,
    kIgnored,  // a project file ignores it here
    kOff,      // --select, --ignore, or a severity `off`: as if the rule were not there
  };
  What what = What::kShown;
  std::string reason;                  // of an ignored one; may be empty
  std::optional<IgnoreEntry> by = {};  // of an ignored one
};

// Decides about the finding, and gives it the severity that its project file sets.
Verdict judged(const Policy& policy, doc::Diagnostic& finding);

// Warnings about entries of `ignore` that no finding of the run needed (`used`), about those without a reason, and
// about environments without a file: of the projects (`whole`) of which the run has read every file.
void report_unused(const Policy& policy, const std::set<IgnoreEntry>& used, const std::set<size_t>& whole,
                   doc::Diagnostics& out);

}  // namespace railbed::check
