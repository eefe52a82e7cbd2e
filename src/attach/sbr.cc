// SPDX-License-Identifier: Apache-2.0
// Type sbr, chained: what leaves with an address of this interface leaves by this interface.
//
// Keys: table (absent: a free one from 100 up for each address), gateways, addSourceHints.
#include "attach/types.h"

namespace railbed::attach {

Result<void> read_sbr(const Keys& keys, const InterfaceRequest&, InterfaceSpec& spec) {
  SourceRouting routing;
  routing.table = TRY(keys.number("table"));
  routing.source_hints = TRY(keys.boolean("addSourceHints")).value_or(false);
  for (const std::string& one : TRY(keys.texts("gateways"))) routing.gateways.push_back(TRY(IpAddress::parse(one)));
  spec.source_routing = routing;
  return {};
}

// Its rules are those from the interface's addresses.
Result<DetachReport> detach_original_sbr(Original& original) {
  const os::Link* link = original.in_pod();
  if (link == nullptr) return DetachReport{};
  Before before = original.change_of(link);
  std::vector<os::LinkAddress> addresses = TRY(original.links().addresses());
  for (const os::Rule& rule : TRY(original.links().rules()))
    for (const os::LinkAddress& one : addresses)
      if (one.link == link->index && one.prefix.address == rule.source.address &&
          rule.source.length == rule.source.address.bits())
        before.rules.push_back(rule);
  if (before.rules.empty()) return DetachReport{};
  return original.restore_all(before);
}

}  // namespace railbed::attach
