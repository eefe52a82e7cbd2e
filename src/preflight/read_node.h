// SPDX-License-Identifier: Apache-2.0
// Reads the files of a node, and changes nothing.
//
// Why a FileTree: in a pod the node's files are below a folder, and in a test in memory. The flags of its mount show
// whether a folder can be written, since trying would leave a file behind: from ROOT/proc/1/mountinfo if a pod has
// that, because its own mounts are read-only.
// Threading: one thread.
// Failure: none; what cannot be read counts as missing.
#pragma once

#include "os/ports/file_tree.h"
#include "preflight/look.h"

namespace railbed::preflight {

struct NodePlace {
  std::string name;
  std::string root;  // where the node's files are; empty or "/": this is the node
  std::string conf_dir = "/etc/cni/net.d";
  std::string bin_dir = "/opt/cni/bin";
};

// `files` are this machine's own, in which `root` is a folder.
NodeLook look_at_node(const os::FileTree& files, NodePlace place);

// Whether `path` lies in a mount that is read-only, by the text of /proc/self/mountinfo.
bool is_read_only(std::string_view mountinfo, std::string_view path);

}  // namespace railbed::preflight
