// SPDX-License-Identifier: Apache-2.0
#include "labels/node_keys.h"

#include <algorithm>

namespace railbed::labels {

bool fits(std::string_view name, const NodeKey& key) {
  const size_t star = key.name.find('*');
  if (star == std::string_view::npos) return name == key.name;
  const std::string_view head = key.name.substr(0, star), tail = key.name.substr(star + 1);
  if (name.size() != head.size() + 4 + tail.size() || !name.starts_with(head) || !name.ends_with(tail)) return false;
  return name.substr(star, 4).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

const NodeKey* find_key(std::string_view name, KeyKind kind) {
  const auto* const found =
      std::ranges::find_if(kNodeKeys, [&](const NodeKey& key) { return key.kind == kind && fits(name, key); });
  return found == std::ranges::end(kNodeKeys) ? nullptr : found;
}

}  // namespace railbed::labels
