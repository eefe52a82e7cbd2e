// SPDX-License-Identifier: Apache-2.0
// Any JSON as an AddressCell: no crash; what is read is written as it was read.
#include "api/address_cell.h"
#include "doc/json.h"

using namespace railbed;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  doc::Diagnostics diagnostics;
  const auto source =
      std::make_shared<const doc::Source>(doc::Source{"fuzz", std::string(reinterpret_cast<const char*>(data), size)});
  const auto object = doc::parse_json(source, diagnostics);
  if (!object) return 0;
  const auto cell = api::read_address_cell(*object);
  if (!cell.has_value()) return 0;
  const auto back = api::read_address_cell(api::to_value(*cell));
  if (!back.has_value() || !(*back == *cell)) __builtin_trap();
  return 0;
}
