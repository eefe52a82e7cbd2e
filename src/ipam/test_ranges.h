// SPDX-License-Identifier: Apache-2.0
// Ranges for tests, parsed from text. Only included by tests.
#pragma once

#include <vector>

#include "ipam/assign.h"

namespace railbed::ipam {

inline IpAddress ip(const char* text) {
  return *IpAddress::parse(text);
}
inline IpPrefix prefix(const char* text) {
  return *IpPrefix::parse(text);
}
inline api::IpamRange range(const char* subnet) {
  IpPrefix whole = prefix(subnet);
  return {.subnet = whole, .addresses = {whole.network(), whole.last()}};
}
inline api::IpamConfig whereabouts(std::vector<std::vector<api::IpamRange>> sets) {
  api::IpamConfig config;
  config.type = api::IpamType::kWhereabouts;
  config.range_sets = std::move(sets);
  return config;
}

}  // namespace railbed::ipam
