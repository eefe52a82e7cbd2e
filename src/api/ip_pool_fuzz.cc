// SPDX-License-Identifier: Apache-2.0
// Any JSON as an IPPool: no crash; what is read stays when something else is put beside it, and goes when it is
// dropped.
#include "api/ip_pool.h"
#include "doc/json.h"

using namespace railbed;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  doc::Diagnostics diagnostics;
  const auto source =
      std::make_shared<const doc::Source>(doc::Source{"fuzz", std::string(reinterpret_cast<const char*>(data), size)});
  auto object = doc::parse_json(source, diagnostics);
  if (!object) return 0;
  const auto pool = api::read_ip_pool(*object);
  if (!pool.has_value()) return 0;
  api::IpPoolChange change{.put = {{7, {"railbed", ""}}}, .drop = {}};
  for (const auto& [distance, allocation] : pool->allocations)
    if (distance % 2 == 0) change.drop.insert(distance);
  auto wanted = pool->allocations;
  std::erase_if(wanted, [&](const auto& one) { return change.drop.contains(one.first); });
  wanted[7] = {"railbed", ""};
  api::apply_change(*object, change);
  const auto changed = api::read_ip_pool(*object);
  if (!changed.has_value() || !(changed->allocations == wanted)) __builtin_trap();
  return 0;
}
