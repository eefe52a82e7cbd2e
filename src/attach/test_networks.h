// SPDX-License-Identifier: Apache-2.0
// Networks for tests, from the JSON of their plugins. Only included by tests.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/ipam.h"
#include "attach/attach.h"
#include "doc/json.h"

namespace railbed::attach {

// The first physical function of the tests' machines.
inline constexpr PciAddress kPf{0, 1, 0, 0};

inline doc::Value json(const std::string& text) {
  doc::Diagnostics diagnostics;
  auto source = std::make_shared<doc::Source>(doc::Source{.name = "test", .text = text});
  auto value = doc::parse_json(source, diagnostics);
  EXPECT_TRUE(value.has_value()) << text;
  return value.value_or(doc::Value());
}

// Interface `name` on the network default/<name>.
inline InterfaceRequest wanted(const std::string& name, const std::vector<std::string>& plugins,
                               std::optional<plan::PoolVf> vf = std::nullopt) {
  InterfaceRequest one{.name = IfName{name}, .network = "default/" + name, .device = vf};
  for (const std::string& text : plugins) {
    doc::Value config = json(text);
    one.config.plugins.push_back({*config.find("type")->as_string(), config});
  }
  return one;
}

// A change of an interface that is there, by one plugin.
inline InterfaceRequest chained(const std::string& name, const std::string& plugin) {
  InterfaceRequest one = wanted(name, {plugin});
  one.chained = true;
  return one;
}

// As callers do it: each interface's addresses, the lowest that is free in the store, and its routes.
inline Result<void> give_addresses(state::Store& store, PodRequest& pod) {
  ipam::Taken taken = ipam::taken_by(TRY(store.all_leases()));
  for (InterfaceRequest& one : pod.interfaces) {
    if (one.chained) continue;
    api::IpamConfig config = TRY(api::read_ipam(one.config, one.network));
    const ipam::Owner owner{pod.pod, one.name.value};
    if (config.type != api::IpamType::kNone) one.addresses = TRY(ipam::assign(config, one.network, taken, {}, owner));
    for (const ipam::Assigned& address : one.addresses)
      if (!address.pool.empty()) taken[address.pool].emplace(address.address.address, owner);
    one.routes = std::move(config.routes);
  }
  return {};
}

inline Result<PodReport> attach_with_addresses(os::Kernel& kernel, state::Store& store, PodRequest pod,
                                               os::Deadline deadline) {
  TRY(give_addresses(store, pod));
  return attach_pod(kernel, store, pod, deadline);
}

inline std::string message(const auto& result) {
  return result.has_value() ? "" : result.error().to_string();
}

}  // namespace railbed::attach
