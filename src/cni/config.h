// SPDX-License-Identifier: Apache-2.0
// The network configuration that a plugin gets on stdin, and configuration lists.
//
// Keys that all plugins share are read here; a plugin's own keys stay in `object`.
// Threading: pure.
// Failure: code 1 for an unsupported version, 6 for invalid JSON, 7 for invalid content, with line and column.
// Source: CNI specification 1.1.0, sections 1 and 4.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cni/add_result.h"
#include "doc/value.h"

namespace railbed::cni {

struct AttachmentId {
  std::string container_id;
  std::string ifname;
  friend auto operator<=>(const AttachmentId&, const AttachmentId&) = default;
};

// One plugin's configuration, as it is executed.
struct PluginConfig {
  Version version;
  std::string network;  // "name"
  std::string type;
  doc::Value object;                  // all of it
  std::optional<AddResult> previous;  // prevResult
  doc::Value runtime;                 // "runtimeConfig": an object, or null
  doc::Value args;                    // "args.cni": an object, or null
  std::vector<AttachmentId> valid;    // GC: "cni.dev/valid-attachments", or the older "cni.dev/attachments"
  bool valid_is_given = false;        // GC: one of the two is there
};

Result<PluginConfig> read_plugin_config(const std::string& json);

// Called before GC: code 7 without a list of valid attachments. The specification requires the list. If an absent one
// (the reference library's GC without arguments, as in `cnitool gc`) counted as an empty one, GC would remove every
// pod's interfaces.
Result<void> require_valid_attachments(const PluginConfig& config);

// A list (".conflist"), or one plugin's configuration as a list of one.
struct ListConfig {
  std::string version;  // the highest of cniVersions that railbed supports, otherwise cniVersion
  std::string name;
  bool disable_check = false;
  bool disable_gc = false;
  std::vector<doc::Value> plugins;
};
Result<ListConfig> read_list_config(const std::string& json);
// The same of an object that was read already.
Result<ListConfig> list_config_of(doc::Value object);

// The standard input of plugin number `index` of the list: its object with cniVersion, name, prevResult, and as
// runtimeConfig those of `capability_args` that it declares. `cni_args` become "args.cni" where given.
std::string plugin_input(const ListConfig& list, size_t index, const std::optional<AddResult>& previous,
                         const std::map<std::string, doc::Value>& capability_args,
                         const doc::Value* cni_args = nullptr);

}  // namespace railbed::cni
