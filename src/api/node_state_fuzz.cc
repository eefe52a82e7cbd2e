// SPDX-License-Identifier: Apache-2.0
// Any JSON as a SriovNetworkNodeState: no crash; what is read is written as it was read.
#include "api/node_state.h"
#include "doc/json.h"

using namespace railbed;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  doc::Diagnostics diagnostics;
  const auto source =
      std::make_shared<const doc::Source>(doc::Source{"fuzz", std::string(reinterpret_cast<const char*>(data), size)});
  const auto object = doc::parse_json(source, diagnostics);
  if (!object) return 0;
  const auto state = api::parse_node_state(*object, diagnostics);
  if (!state) return 0;
  doc::Value again = *object;
  if (!again.is_object()) return 0;
  if (state->decided) again.set("spec", api::node_state_spec(state->pfs, state->rdma_mode));
  again.set("status", api::node_state_status(*state));
  const auto back = api::parse_node_state(again, diagnostics);
  if (!back || !(*back == *state)) __builtin_trap();
  return 0;
}
