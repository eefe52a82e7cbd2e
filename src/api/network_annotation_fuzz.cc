// SPDX-License-Identifier: Apache-2.0
// Any text as the networks annotation of a pod: no crash; every selection that is taken has a name, a
// namespace and an interface of its own.
#include <set>

#include "api/load.h"

using namespace railbed;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  doc::Diagnostics diagnostics;
  const auto selections = api::parse_networks_annotation(doc::Value(text), "default", diagnostics);
  doc::render(diagnostics);
  if (diagnostics.has_errors()) return 0;
  std::set<std::string> interfaces;
  for (const api::NetworkSelection& selection : selections) {
    if (selection.name->empty() || selection.ns->empty()) __builtin_trap();
    if (!interfaces.insert(*selection.interface).second) __builtin_trap();
  }
  return 0;
}
