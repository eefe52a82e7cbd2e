// SPDX-License-Identifier: Apache-2.0
// The log line of a request: what was requested for which pod, the result, the duration of each phase, the error.
//
//   ADD default/vllm-0 container=5d3c… as railbed: networks=ai/rail0 devices=0000:3b:00.2 in 12.1 ms (wait 0.2,
//   kernel 9.4)
//
// Its fields are the journal's: `journalctl CONTAINER_ID=…`, POD=, VERB=, CODE=, NETWORK=, DEVICE=. All external text
// is printable in both.
// Threading: pure.
// Failure: none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/context/request_context.h"
#include "agent/context/story.h"
#include "base/log.h"
#include "cni/request.h"

namespace railbed::agent {

struct RequestLine {
  log::Level level = log::Level::kInfo;
  std::string text;
  std::vector<log::Field> fields;
};

// ADD and DEL of a runtime: info. Other requests that went well, and what a plugin that we execute asks in turn: debug.
// Failures: warn, or error where this machine or railbed is at fault and not the request.
RequestLine request_line(const cni::Request& request, const Reply& reply, const RequestStory& story);

}  // namespace railbed::agent
