// SPDX-License-Identifier: Apache-2.0
// One validated CNI request: what a runtime passes to a plugin in environment variables and on stdin.
//
// Why validated: container ids, interface names and CNI_ARGS are external input and end up in names, paths and records;
// input that does not match the specification's patterns is rejected here.
// Threading: pure.
// Failure: code 4 names every variable that is missing or wrong.
// Source: CNI specification 1.1.0, "Parameters".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cni/error.h"

namespace railbed::cni {

enum class Command : uint8_t { kAdd, kDel, kCheck, kGc, kStatus, kVersion };
std::string_view command_name(Command command);

struct Request {
  Command command = Command::kVersion;
  std::string type;          // the name under which the program was called: "macvlan", "railbed"
  std::string container_id;  // empty for GC, STATUS and VERSION
  std::string netns;         // path; may be empty for DEL
  std::string ifname;
  std::map<std::string, std::string> args;  // CNI_ARGS
  std::string args_text;                    // unchanged, for plugins that are executed
  std::vector<std::string> path;            // CNI_PATH, split
  std::string config;                       // standard input
  std::string netns_proof;                  // of a DEL that was kept: which namespace the shim saw (wire.h)
  std::string executed_by;                  // the agent that executed the plugin which asks; empty: a runtime asks
  friend bool operator==(const Request&, const Request&) = default;

  // "namespace/name" of K8S_POD_NAMESPACE and K8S_POD_NAME; empty where they are absent.
  std::string pod() const;
  std::string pod_uid() const;
};

// `environment` has entries like "CNI_COMMAND=ADD"; other variables are ignored.
Result<Request> read_request(const std::string& type, const std::vector<std::string>& environment, std::string config);

// CNI_ARGS.
Result<std::map<std::string, std::string>> read_args(std::string_view text);

// The specification's patterns.
bool valid_container_id(std::string_view id);
bool valid_interface_name(std::string_view name);
bool valid_network_name(std::string_view name);

}  // namespace railbed::cni
