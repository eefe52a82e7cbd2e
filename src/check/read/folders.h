// SPDX-License-Identifier: Apache-2.0
// Whether files of several folders are one bundle or separate examples.
//
// Why: manifests of one cluster are often spread over folders (policies/, networks/), so files are checked together. A
// collection of examples has the same object in each of its folders, with different content; together they conflict
// without being wrong. The same applies to files of a folder of test data, and to those of a folder that has one object
// in three versions or more (two may be a mistake, which is reported).
// Threading: pure.
// Failure: none.
#pragma once

#include <string>
#include <vector>

#include "doc/value.h"

namespace railbed::check {

struct FileGroups {
  std::vector<std::vector<doc::SourcePtr>> groups;  // in the order of the sources
  std::string why;                                  // why there are several; empty where all are one bundle
};

// By the folders in the sources' names. Patches of kustomize belong to what lists them, and contradict nothing.
FileGroups group_by_folder(const std::vector<doc::SourcePtr>& sources);

}  // namespace railbed::check
