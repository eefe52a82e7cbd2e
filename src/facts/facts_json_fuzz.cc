// SPDX-License-Identifier: Apache-2.0
// Any text as node facts; what was read is written and read again.
#include <cstdint>
#include <cstdlib>

#include "facts/facts_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace railbed;
  doc::Diagnostics diagnostics;
  auto source =
      std::make_shared<const doc::Source>(doc::Source{"fuzz", std::string(reinterpret_cast<const char*>(data), size)});
  for (const facts::NodeFacts& node : facts::parse_facts(source, diagnostics)) {
    auto again = facts::from_value(facts::to_value(node), diagnostics);
    if (!again || !(*again == node)) std::abort();
  }
  return 0;
}
