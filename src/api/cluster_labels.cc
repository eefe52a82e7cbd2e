// SPDX-License-Identifier: Apache-2.0
#include "api/cluster_labels.h"

namespace railbed::api {

std::string why_not_managed(const NodeOwnership& node) {
  if (node.managed == "false") return "the node is labelled railbed.dev/managed=false";
  if (node.upstream_daemon)
    return "the SR-IOV operator's config daemon is on this node: remove the node from its configDaemonNodeSelector, or "
           "remove that operator";
  if (node.managed == "true") return "";
  if (node.upstream_operator)
    return "the SR-IOV operator runs in this cluster; label the node railbed.dev/managed=true to take it over";
  if (node.has_state && !node.is_ours)
    return "its node state was written by the SR-IOV operator; label the node railbed.dev/managed=true to take it over";
  return "";
}

}  // namespace railbed::api
