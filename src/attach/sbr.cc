// SPDX-License-Identifier: Apache-2.0
// Type sbr, chained: what leaves with an address of this interface leaves by this interface.
//
// Keys: table (absent: a free one from 100 up for each address), gateways, addSourceHints.
#include "attach/types.h"

namespace railbed::attach {

Result<void> read_sbr(const Keys& keys, const InterfaceWanted&, Wish& wish) {
  constexpr int kMostTables = 0x7fffffff;
  SourceRouting routing;
  routing.table = TRY(keys.number("table", 1, kMostTables));
  if (routing.table.has_value() && *routing.table >= 253 && *routing.table <= 255)
    return fail(keys.invalid(fmt::format("table {} is one of the kernel's own", *routing.table)));
  routing.source_hints = TRY(keys.boolean("addSourceHints")).value_or(false);
  const doc::Value* gateways = keys.value("gateways");
  if (gateways != nullptr && !gateways->is_null()) {
    if (!gateways->is_array()) return fail(keys.invalid("gateways must be an array of addresses"));
    for (const doc::Value& one : *gateways->as_array()) {
      if (!one.is_string()) return fail(keys.invalid("gateways must be an array of addresses"));
      routing.gateways.push_back(
          TRY(IpAddress::parse(*one.as_string()).context("{}", keys.invalid("gateways").message)));
    }
  }
  wish.source_routing = routing;
  return {};
}

}  // namespace railbed::attach
