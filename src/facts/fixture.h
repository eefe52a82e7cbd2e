// SPDX-License-Identifier: Apache-2.0
// For tests: the facts of fixture machines.
#pragma once

#include "base/testdata.h"
#include "facts/collect.h"
#include "facts/machine_file.h"
#include "os/record/recorded.h"

namespace railbed::facts::testing_fixture {

inline CollectOptions options() {
  return {.pci_ids = testdata() / "discover/pci.ids"};
}

inline PciAddress pci(std::string_view text) {
  return PciAddress::parse(text).value();
}

// The facts of a machine written in a few lines (machine_file.h).
inline NodeFacts facts_of(std::string_view machine) {
  auto files = parse_machine(machine, "machine");
  EXPECT_TRUE(files.has_value()) << (files ? "" : files.error().to_string());
  if (!files) return {};
  auto kernel = os::recorded_kernel_over(std::move(*files));
  EXPECT_TRUE(kernel.has_value()) << (kernel ? "" : kernel.error().to_string());
  return kernel ? collect(**kernel, options()) : NodeFacts{};
}

}  // namespace railbed::facts::testing_fixture
