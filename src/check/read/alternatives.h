// SPDX-License-Identifier: Apache-2.0
// Which files of a run are judged together: all, but for alternatives of one object.
//
// Why: manifests of one cluster are often spread over folders, so files are checked together. A collection of examples
// gives one object in several folders, each differently; no apply takes more than one of them. Such objects, and what
// depends on them, are alternatives: each is judged with everything else, none with another. Files that do not take
// part in this are judged once, as one bundle; a contradiction elsewhere is no reason to leave their relations out.
// Threading: pure.
// Failure: none.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "check/read/open_world.h"
#include "doc/diagnostic.h"
#include "doc/value.h"

namespace railbed::check {

struct SourceGroup {
  std::vector<doc::SourcePtr> sources;
  // The files that the group is about; the others are there for their sake. Empty: all.
  std::set<std::string, std::less<>> about;
};

struct FileGroups {
  std::vector<SourceGroup> groups;  // the first has all files that are no alternatives
  std::string why;                  // why there are several, and what was split; empty: one
  doc::Diagnostics notes;           // a note for each file that is an alternative to one of its folder
  World world;                      // of all files
};

// `unopened`: files of other languages that lie beside the sources.
FileGroups group_alternatives(const std::vector<doc::SourcePtr>& sources, std::span<const NotRead> unopened);

}  // namespace railbed::check
