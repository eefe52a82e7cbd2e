// SPDX-License-Identifier: Apache-2.0
// Which pods of a manifest folder had networks when the folder was last valid.
//
// Why: a manifest that was deleted, emptied or only half written looks like a pod without networks, and the meta plugin
// would start that pod with success and without its rails. So a pod that once had networks gets them or fails, with the
// reason. A pod that is missing from valid files counts as removed after kRemovalSettles: until then a user may be
// editing. Files that cannot be read, or are no longer manifests, remove nothing, regardless of how long that lasts.
// Threading: pure.
// Failure: none; read_seen_pods() returns Invalid for a file of another format.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/error.h"

namespace railbed::agent {

inline constexpr int64_t kRemovalSettles_s = 600;

struct SeenPod {
  std::string file;             // in which it was last
  std::string networks;         // its annotation, as written
  int64_t missing_since_s = 0;  // since the epoch; 0: it is there
  friend bool operator==(const SeenPod&, const SeenPod&) = default;
};
using SeenPods = std::map<std::string, SeenPod>;  // by namespace/name

// One reading of the folder.
struct FolderReading {
  struct Pod {
    std::string file;
    std::optional<std::string> networks;  // nullopt: it has no annotation that names networks; "": it asks for none
  };
  std::map<std::string, Pod> pods;
  std::map<std::string, std::string> damaged;  // file → why it is no manifest
  std::string unread;                          // why nothing could be read; empty: the folder was read
};

// Why that file has no manifests in it; empty: it may have some. Only for what a parser takes for an empty document.
std::string blank_reason(const std::string& text);

// What is known after `now`.
SeenPods see(SeenPods before, const FolderReading& now, int64_t now_s);
// Why the pod must not start as a pod without networks; nullopt: it may.
std::optional<std::string> lost_networks(const SeenPods& seen, const FolderReading& now, const std::string& pod,
                                         int64_t now_s);

std::string seen_pods_text(const SeenPods& seen);
Result<SeenPods> read_seen_pods(const std::string& text);

}  // namespace railbed::agent
