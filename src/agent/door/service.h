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

#include <atomic>
#include <string>

#include "agent/door/story.h"
#include "agent/engine.h"
#include "cni/config.h"
#include "cni/request.h"

namespace railbed::agent {

class Meta;           // meta.h
class Dhcp;           // dhcp.h
class HostLocal;      // host_local.h
class Metrics;        // metrics.h
class Readiness;      // readiness.h
class AddressSupply;  // addresses/address_supply.h

struct Reply {
  int status = 0;  // the shim's exit status
  std::string output;
};

// Everything that the handlers need; the caller that runs the agent owns it.
struct Backends {
  Engine& engine;
  Meta& meta;
  Dhcp& dhcp;
  HostLocal& host_local;
  Metrics& metrics;
  Readiness* readiness = nullptr;   // what STATUS says; null: always ready
  AddressSupply* supply = nullptr;  // null: nobody can get this node more addresses
  RequestStory* story = nullptr;    // of the request that is handled

  void tell(const std::string& network, const std::string& device) const {
    if (story == nullptr) return;
    story->has_network(network);
    story->has_device(device);
  }
};

class Service {
 public:
  explicit Service(Backends backends) : backends_(backends) {}
  // What is learned on the way about the request goes into `story`.
  Reply handle(const cni::Request& request, RequestStory& story);

 private:
  Reply answer(Backends& backends, const cni::Request& request);

  Backends backends_;
};

}  // namespace railbed::agent
