// SPDX-License-Identifier: Apache-2.0
// Nodes with their machines, and leases of addresses, as an API server has them. For tests.
#pragma once

#include <string>
#include <vector>

#include "api/address_cell.h"
#include "controller/test_cluster.h"

namespace railbed::controller::testing {

enum class Ready : uint8_t { kYes, kNo };

struct Machine {
  std::string uuid;
  std::string boot = "boot1";
  Ready ready = Ready::kYes;
  bool out_of_service = false;
};

inline Value node_of(const std::string& name, const Machine& machine) {
  Value out = node(name);
  out.find("metadata")->set("uid", "node-" + name);
  if (machine.out_of_service)
    out.set("spec", json(R"({"taints": [{"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}]})"));
  out.set("status", json(fmt::format(R"({{"nodeInfo": {{"systemUUID": "{}", "bootID": "{}"}},
                                          "conditions": [{{"type": "Ready", "status": "{}"}}]}})",
                                     machine.uuid, machine.boot, machine.ready == Ready::kYes ? "True" : "Unknown")));
  return out;
}

inline api::CellLease lease(const std::string& node, const std::string& uuid, api::CellOffsets offsets = 0xffff,
                            int64_t quiet_seconds = 3600, const std::string& boot = "boot1") {
  return {.holder = {node, uuid, boot}, .claim = "c-" + uuid, .offsets = offsets, .quiet_seconds = quiet_seconds};
}

inline api::AddressCell cell(const std::string& base, std::vector<api::CellLease> leases,
                             const std::string& network = "") {
  return {.network_name = network,
          .base = IpAddress::parse(base).value(),
          .leases = std::move(leases),
          .uid = "",
          .resource_version = ""};
}

inline std::string cell_path(const api::AddressCell& cell) {
  return "/apis/railbed.dev/v1/addresscells/" + api::cell_name(cell.network_name, cell.base);
}
inline void put(kube::fake::ApiServer& server, const api::AddressCell& cell) {
  Value object = api::to_value(cell);
  object.find("metadata")->set("uid", "cell-" + cell.base.to_string());
  server.put(cell_path(cell), std::move(object));
}

// "10.0.0.16: n1/u1 ffff gone 5, n2/u2 0001": what is leased, each cell on a line of its own.
inline std::string leases_in(const kube::fake::ApiServer& server) {
  std::string out;
  for (const auto& [path, object] : server.objects()) {
    const auto read = api::read_address_cell(object);
    if (path.find("/addresscells/") == std::string::npos || !read.has_value()) continue;
    out += fmt::format("{}:", read->base);
    for (const api::CellLease& one : read->leases)
      out += fmt::format(" {}/{} {:04x}{}", one.holder.node, one.holder.system_uuid, one.offsets,
                         one.gone_seconds > 0 ? fmt::format(" gone {}", one.gone_seconds) : "");
    out += "\n";
  }
  return out;
}

}  // namespace railbed::controller::testing
