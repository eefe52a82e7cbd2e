// SPDX-License-Identifier: Apache-2.0
// A finding about a machine, a cluster or a measurement: a port that is down, a program that is incompatible with
// railbed, a rail that carries half of what its link can.
//
// Why: a doc::Diagnostic points at a place in a text. What is found on machines has no text, but a subject, and values
// that a person can look up. A sentence alone cannot be joined with others about the same subject, counted or
// explained. The id selects the section that explains the finding (explain.h), in docs/findings; id, message and fix
// are for people. Code that has to know more of a finding gets a typed member here and compares no words.
// Threading: plain values.
// Failure: none.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/utc.h"
#include "doc/diagnostic.h"

namespace railbed::findings {

// What a finding is about. The name is for people and for comparison with other names; no code parses it.
struct Subject {
  enum class Kind : uint8_t {
    kPci,         // a PCI function: "0000:3b:00.0"
    kCardModel,   // all cards of a node with these ids: "15b3:1021"
    kInterface,   // "eth2"
    kRdmaDevice,  // "mlx5_2"
    kRdmaPort,    // "mlx5_2/1"
    kLink,        // between two ports: "mlx5_2/1 – leaf1/7"
    kRail,        // measured between two hosts, or several: "rail0 (gpu-1 eth2 → gpu-2 eth2)"
    kNode,
    kNodes,      // several, separated by commas; empty: the nodes of a cluster
    kNodePath,   // a file or directory of a node: "node1: /etc/cni/net.d"
    kPod,        // "ai/trainer-0"
    kObject,     // one object of the API or several, with their kind: "ConfigMap kube-system/cilium-config"
    kApiServer,  // its address
    kRequest,    // to the API server, with its failure: "Node: GET /api/v1/nodes: 403 Forbidden"
  };
  Kind kind = Kind::kObject;
  std::string name;

  std::string to_string() const;  // "PCI function 0000:3b:00.0"
  friend bool operator==(const Subject&, const Subject&) = default;
};

// The kind as JSON has it: "pci", "card-model", …
std::string_view kind_name(Subject::Kind kind);

// A value that a finding is based on, and where a person can look it up.
struct Evidence {
  std::string source;                                       // "sysfs", "devlink"
  std::string what;                                         // "/sys/bus/pci/devices/0000:3b:00.0/current_link_width"
  std::string value;                                        // "8"
  std::optional<std::chrono::system_clock::time_point> at;  // when it was read; absent: unknown, as in a recording
  friend bool operator==(const Evidence&, const Evidence&) = default;
};

struct Finding {
  std::string id;  // "RB-PCIE-001"
  doc::Severity severity = doc::Severity::kError;
  Subject subject;
  std::string message;
  std::vector<Evidence> evidence;
  std::string fix;  // a command or one sentence; may be empty
  friend bool operator==(const Finding&, const Finding&) = default;
};

}  // namespace railbed::findings
