// SPDX-License-Identifier: Apache-2.0
// Which endpoints have registered for a mesh, and which requests are admitted.
//
// Why: two hosts with one name, or one server under two names, would produce verdicts about the wrong machine, and
// results of a machine that measures with itself.
// Threading: pure.
// Failure: kConflict, kInvalid or kExhausted, which is sent to the endpoint.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "perf/mesh/coordinator.h"
#include "perf/mesh/register_message.h"

namespace railbed::perf::mesh {

class Roster {
 public:
  using Id = uint64_t;
  explicit Roster(size_t most) : most_(most) {}

  // Takes in who asks from this address. Returns whose place that is: the same server, which registers again.
  Result<std::optional<Id>> add(Id id, const IpAddress& from, Register one);
  void remove(Id id);
  size_t size() const { return hosts_.size(); }
  // In the order of names, so that the same hosts make the same mesh, whichever came first. Failure: fewer than two.
  Result<MeshSetup> setup() const;

 private:
  using Place = std::pair<IpAddress, uint16_t>;  // an address, and the port where its server listens
  struct Host {
    IpAddress from;
    Register said;
  };
  Result<void> check_rails(const Register& one, std::optional<Id> but) const;

  size_t most_;
  std::map<Id, Host> hosts_;
  std::map<std::string, Id> names_;
  std::map<Place, Id> servers_;
  std::map<Place, Id> rails_;
};

}  // namespace railbed::perf::mesh
