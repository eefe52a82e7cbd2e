// SPDX-License-Identifier: Apache-2.0
// Any text as the configuration of an attachment definition: no crash; a configuration that was taken is
// written and read back the same.
#include "api/attachment.h"
#include "api/load.h"

using namespace railbed;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  doc::Diagnostics diagnostics;
  const auto config = api::parse_network_config(doc::Value(text), "net", diagnostics);
  doc::render(diagnostics);
  if (config.has_value() == diagnostics.has_errors()) __builtin_trap();
  if (!config) return 0;
  doc::Diagnostics again;
  const auto back = api::parse_network_config(doc::Value(api::config_text(*config)), "net", again);
  if (!back || !(back->plugins == config->plugins || config->plugins.size() == 1)) __builtin_trap();
  return 0;
}
