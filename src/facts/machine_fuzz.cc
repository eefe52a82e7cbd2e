// SPDX-License-Identifier: Apache-2.0
// Any text as a machine file: whatever machine it describes is read, printed and read again.
#include <cstdint>
#include <cstdlib>

#include "facts/collect.h"
#include "facts/facts_json.h"
#include "facts/machine_file.h"
#include "os/record/recorded.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace railbed;
  auto files = facts::parse_machine({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!files) return 0;
  auto again = facts::parse_machine(facts::print_machine(**files), "again");
  if (!again) std::abort();
  auto kernel = os::recorded_kernel_over(std::move(*files));
  if (!kernel) return 0;
  facts::NodeFacts node = facts::collect(**kernel, {.node = "fuzz", .pci_ids = "/nonexistent"});
  doc::Diagnostics diagnostics;
  auto read = facts::from_value(facts::to_value(node), diagnostics);
  if (!read || !(*read == node)) std::abort();
  return 0;
}
