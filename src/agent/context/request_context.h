// SPDX-License-Identifier: Apache-2.0
// What every floor of the agent needs to handle a request: the engine, the metrics, the request's story.
//
// Why apart from addresses/backends.h: records and addresses must not know what handles pods. The floors, the lowest
// first: the room's own files and context, records, addresses, pod, door, leftovers; each includes those below it only
// (`tests/tidy`, floors).
// Threading: the request's thread.
// Failure: none.
#pragma once

#include <string>

#include "agent/context/story.h"
#include "agent/engine.h"
#include "base/error.h"

namespace railbed::agent {

class Metrics;  // metrics.h

struct Reply {
  Result<std::string> result;  // for the shim's standard output; the server writes the JSON of a failure
  std::string version;         // of the configuration, for that JSON; empty: the latest
};

struct RequestContext {
  Engine& engine;
  Metrics& metrics;
  RequestStory* story = nullptr;  // of the request that is handled

  void note_interface(const std::string& network, const std::string& device) const {
    if (story == nullptr) return;
    story->has_network(network);
    story->has_device(device);
  }
};

}  // namespace railbed::agent
