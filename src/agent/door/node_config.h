// SPDX-License-Identifier: Apache-2.0
// The node's CNI configuration that makes its runtime call railbed, maintained alongside those of other components.
//
// Why the name: runtimes use the first file of /etc/cni/net.d by name, so railbed's must sort before "00-multus.conf".
// Runtimes read *.conf, *.conflist and *.json; Multus generates its own configuration from the first *.conf or
// *.conflist, and must not choose railbed's, which requests all networks: hence ".json". Why a file path as the default
// network: the owner of that file changes it as before, and every ADD reads it. Cilium with cni.exclusive renames all
// files but its own: then the runtime calls no plugin for a pod's networks, and every pod starts without them, so the
// agent is not ready.
// Threading: one thread, except for not_ready().
// Failure: the disk's; `keep` reports what is missing instead of writing an incomplete file.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/ports/disk.h"

namespace railbed::agent {

inline constexpr std::string_view kNodeConfigName = "00-a-railbed.json";
// What Cilium appends to the names of others' files.
inline constexpr std::string_view kCiliumBackup = ".cilium_bak";

struct ConfigFile {
  std::string name;  // without its folder
  std::string text;
};

// Whether a runtime reads files of this name.
bool is_configuration(std::string_view name);

// The configuration that the runtime would use without railbed and Multus: the first of `files` by name that is one.
std::optional<ConfigFile> default_network(std::vector<ConfigFile> files);

// Our configuration with `file` of `folder` as the default network: its cniVersion, and the capabilities that its
// plugins declare, since a runtime passes on what the first configuration declares only.
std::string node_config(const std::string& folder, const ConfigFile& file);

class NodeConfig {
 public:
  NodeConfig(os::Disk& disk, std::string folder) : disk_(disk), folder_(std::move(folder)) {}

  // Writes our file, or writes it again where the default network has changed. NotFound while the folder has no default
  // network: pods get none either way. Once written and then gone, it was taken away (`railbed cni uninstall`) and is
  // not written any more; Conflict where it was Cilium that took it.
  Result<void> keep();
  // Any thread: the sentence of that conflict.
  std::vector<std::string> not_ready() const;

 private:
  // When Cilium's copy of our file was made; nothing where there is none.
  std::optional<os::FileStamp> backup() const;

  os::Disk& disk_;
  std::string folder_;
  bool written_ = false;
  std::optional<os::FileStamp> old_backup_;  // was there when the file was written
  mutable std::mutex mutex_;
  std::string renamed_;  // not empty: why pods do not get their networks
};

// Removes our file, also one of another process. From now on the runtime uses the next one.
Result<void> remove_node_config(os::Disk& disk, const std::string& folder);

}  // namespace railbed::agent
