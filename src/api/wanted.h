// SPDX-License-Identifier: Apache-2.0
// The annotation railbed.dev/wanted of a SriovNetworkNodeState: what a node needs to know beyond the schema of
// sriovnetwork.openshift.io/v1.
//
// Why: definitions of the kind that the SR-IOV operator installed prune fields that they do not know, but no
// annotations. railbed's operator alone writes it, and there is one reader, so that each thing that is added is bounded
// and checked in one place. Its first member is the prefix of resource names: a network that the operator renders for
// "nvidia.com/rail0" needs nodes that offer their VFs under exactly that name.
// Spec: JSON, {"leftAlone": true, "logLevel": 2, "resourcePrefix": "nvidia.com", "version": 1}, the first two only
// where an object asks for them, at most kLongestWanted bytes. Members that this version does not know are passed over;
// what must not be passed over has another version, which is refused. Threading: pure functions. Failure: read_wanted,
// Invalid with what is wrong and what to do.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/objects.h"
#include "base/error.h"

namespace railbed::api {

inline constexpr std::string_view kWantedAnnotation = "railbed.dev/wanted";
inline constexpr int kWantedVersion = 1;
inline constexpr int kMostLogLevel = 2;
inline constexpr size_t kLongestWanted = size_t{64} * 1024;

struct Wanted {
  std::string resource_prefix;        // of the names of all resources of the node: "nvidia.com"
  std::optional<int> log_level = {};  // of the SriovOperatorConfig, 0 to kMostLogLevel
  bool left_alone = false;            // its configDaemonNodeSelector does not select the node
  friend bool operator==(const Wanted&, const Wanted&) = default;
};

// As the operator writes it.
std::string to_text(const Wanted& wanted);
Result<Wanted> read_wanted(std::string_view text);
// Of a node state; nothing where it has no such annotation.
Result<std::optional<Wanted>> wanted_in(const Metadata& meta);

// Why no resource can have this prefix: it is no DNS name, or one that Kubernetes keeps for itself. Empty: it can.
std::string why_no_prefix(std::string_view prefix);

}  // namespace railbed::api
