// SPDX-License-Identifier: Apache-2.0
// A sandbox that the meta plugin attached, in the store: what DEL and GC need in addition to the interfaces' records.
//
// Threading: a Turn's thread.
// Failure: the store's.
#pragma once

#include <string>
#include <vector>

#include "state/store.h"

namespace railbed::agent {

inline constexpr std::string_view kSandboxNote = "meta/";

struct SandboxNote {
  std::string key;      // state::Sandbox::key()
  std::string network;  // the meta plugin's configuration
  std::string ifname;   // of the default network
  std::string netns;
  std::string pod_uid;
  std::vector<std::string> device_info;  // files
};

Result<void> put_sandbox_note(state::Store& store, const SandboxNote& note);
// nullopt when there is none.
Result<std::optional<SandboxNote>> sandbox_note(state::Store& store, const std::string& key);
Result<std::vector<SandboxNote>> sandbox_notes(state::Store& store);
Result<void> forget_sandbox_note(state::Store& store, const std::string& key);

}  // namespace railbed::agent
