// SPDX-License-Identifier: Apache-2.0
// Dispatches CNI requests by the plugin's name to one of three handlers.
//
//   a plugin that makes or changes interfaces   plugin.cc   attach's transaction for one interface
//   an IPAM plugin called by a foreign one      ipam.cc     addresses only
//   the meta plugin `railbed`                   meta.cc     all networks of a pod in one transaction
//
// VERSION and STATUS are answered here, from memory.
// Threading: handle() from any thread.
// Failure: the answer carries the specification's error code; nothing is thrown and no change is left partially
// applied.
#pragma once

#include <string>

#include "agent/addresses/backends.h"
#include "cni/request.h"

namespace railbed::agent {

class Meta;       // pod/meta.h
class Readiness;  // readiness.h

class Service {
 public:
  // All outlive this. `readiness` is what STATUS says; null: always ready.
  Service(Backends backends, Meta& meta, Readiness* readiness = nullptr)
      : backends_(backends), meta_(meta), readiness_(readiness) {}
  // What is learned on the way about the request goes into `story`.
  Reply handle(const cni::Request& request, RequestStory& story);

 private:
  // Sets `version` once the configuration is read.
  Result<std::string> answer(Backends& backends, const cni::Request& request, std::string& version);

  Backends backends_;
  Meta& meta_;
  Readiness* readiness_;
};

}  // namespace railbed::agent
