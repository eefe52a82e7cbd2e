// SPDX-License-Identifier: Apache-2.0
// What Multus left of a pod that it attached: for DEL after a node was switched over.
//
// Multus keeps its delegates in <cniDir>/<container>, and the CNI library the configuration and result of each of them
// in <cniDir>/results/<network>-<container>-<interface>. The second is complete and is used if it exists.
// Threading: any thread.
// Failure: files of other formats are skipped; Io.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cni/config.h"
#include "os/ports/disk.h"

namespace railbed::agent {

struct MultusAttachment {
  std::string container_id;  // empty in Multus' own files, whose names have it
  std::string ifname;
  std::string netns;
  std::string args;  // CNI_ARGS
  cni::ListConfig list;
  std::map<std::string, doc::Value> capability_args;
  std::optional<cni::AddResult> result;
};

struct MultusPod {
  std::vector<MultusAttachment> attachments;  // as they were made
  std::vector<std::string> files;             // to be removed after a complete DEL
};

// `container_id` must match the specification's pattern, because it becomes part of paths. `ifname` is that of the
// default network.
Result<MultusPod> multus_pod(os::Disk& disk, const std::string& cache_dir, const std::string& container_id,
                             const std::string& ifname);

// Parse the two kinds of files. Empty for other text.
std::optional<MultusAttachment> read_library_cache(const std::string& text);
std::vector<MultusAttachment> read_multus_delegates(const std::string& text, const std::string& ifname);

}  // namespace railbed::agent
