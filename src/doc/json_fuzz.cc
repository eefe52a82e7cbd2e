// SPDX-License-Identifier: Apache-2.0
// Any bytes as JSON: no crash, and whatever was read is the same after writing and reading, also as a text inside YAML.
#include "doc/json.h"
#include "doc/yaml.h"

using namespace railbed::doc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto text = std::string(reinterpret_cast<const char*>(data), size);
  Diagnostics diagnostics;
  const auto value = parse_json(std::make_shared<const Source>(Source{"in", text}), diagnostics);
  render(diagnostics);
  if (value.has_value() == diagnostics.has_errors()) __builtin_trap();
  if (!value) return 0;
  Diagnostics again;
  const auto back = parse_json(std::make_shared<const Source>(Source{"out", to_json(*value, size % 3)}), again);
  if (!back || *back != *value) __builtin_trap();
  const Value holder = Value::Object{{"config", {}, Value(text)}};
  const auto outer = parse_yaml(std::make_shared<const Source>(Source{"yaml", to_yaml(holder)}), again);
  if (outer.size() != 1 || outer[0] != holder) __builtin_trap();
  const auto embedded = parse_embedded_json(*outer[0].find("config"), again);
  if (!embedded || *embedded != *value) __builtin_trap();
  return 0;
}
