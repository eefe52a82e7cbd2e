// SPDX-License-Identifier: Apache-2.0
// Any text as the configuration of an attachment definition: no crash; a configuration that was taken is
// written and read back the same.
#include "api/attachment.h"

using namespace railbed;

namespace {

std::optional<api::NetworkAttachmentDefinition> read_config(std::string text, doc::Diagnostics& out) {
  doc::Value object = doc::Value::object();
  object.set("metadata", doc::Value::object()).set("name", "net");
  object.set("spec", doc::Value::object()).set("config", std::move(text));
  return api::parse_attachment(object, out);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  doc::Diagnostics diagnostics;
  const auto read = read_config(std::string(reinterpret_cast<const char*>(data), size), diagnostics);
  doc::render(diagnostics);
  if (read.has_value() == diagnostics.has_errors()) __builtin_trap();
  if (!read || read->config.plugins.empty()) return 0;
  doc::Diagnostics again;
  const auto back = read_config(api::config_text(read->config), again);
  if (!back || !(back->config.plugins == read->config.plugins || read->config.plugins.size() == 1)) __builtin_trap();
  return 0;
}
