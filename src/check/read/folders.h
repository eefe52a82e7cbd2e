// SPDX-License-Identifier: Apache-2.0
// Whether files of several folders are one bundle or examples beside each other.
//
// Why: manifests of one cluster are often spread over folders (policies/, networks/), so files are checked together. A
// collection of examples gives the same object in each of its folders, differently; together they contradict each other
// without being wrong. Threading: pure. Failure: none.
#pragma once

#include <string>
#include <vector>

#include "doc/value.h"

namespace railbed::check {

struct FileGroups {
  std::vector<std::vector<doc::SourcePtr>> groups;  // in the order of the sources
  std::string why;                                  // why there are several; empty where all are one bundle
};

// By the folders in the sources' names. Patches of kustomize and what they are for are no contradiction.
FileGroups group_by_folder(const std::vector<doc::SourcePtr>& sources);

}  // namespace railbed::check
