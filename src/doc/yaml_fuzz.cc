// SPDX-License-Identifier: Apache-2.0
// Any bytes as YAML: no crash, no hang, and whatever was read is the same after writing and reading.
#include "doc/json.h"
#include "doc/yaml.h"

using namespace railbed::doc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto text = std::string(reinterpret_cast<const char*>(data), size);
  Diagnostics diagnostics;
  const auto documents = parse_yaml(std::make_shared<const Source>(Source{"in", text}), diagnostics);
  for (const Value& document : documents) {
    Diagnostics again;
    const auto back = parse_yaml(std::make_shared<const Source>(Source{"out", to_yaml(document)}), again);
    if (again.has_errors() || back.size() != 1 || back[0] != document) __builtin_trap();
    if (const auto* object = document.as_object())
      for (const Value::Member& member : *object)
        if (member.value.is_string()) parse_embedded_json(member.value, again);
  }
  diagnostics.sort();
  render(diagnostics);
  return 0;
}
