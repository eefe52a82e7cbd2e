// SPDX-License-Identifier: Apache-2.0
#include "kube/cache.h"

#include <algorithm>
#include <set>

namespace railbed::kube {

void ObjectCache::drop(const ObjectKey& key, std::vector<Change>& changes) {
  const auto found = objects_.find(key);
  if (found == objects_.end()) return;
  bytes_ -= held_bytes(*found->second);
  changes.push_back({Change::Type::kRemoved, key, std::move(found->second), nullptr});
  objects_.erase(found);
}

Held ObjectCache::held_with(const doc::Value& object) const {
  const auto known = objects_.find(key_of(object));
  const bool replaces = known != objects_.end();
  return {.objects = objects_.size() + (replaces ? 0 : 1),
          .bytes = bytes_ + held_bytes(object) - (replaces ? held_bytes(*known->second) : 0)};
}

void ObjectCache::put(doc::Value object, std::vector<Change>& changes) {
  ObjectKey key = key_of(object);
  const auto known = objects_.find(key);
  if (known != objects_.end() && uid_of(*known->second) != uid_of(object)) {
    drop(key, changes);
  } else if (known != objects_.end()) {
    if (resource_version(*known->second) == resource_version(object)) return;
    bytes_ += held_bytes(object) - held_bytes(*known->second);
    const ObjectPtr before = std::exchange(known->second, std::make_shared<const doc::Value>(std::move(object)));
    changes.push_back({Change::Type::kChanged, std::move(key), before, known->second});
    return;
  }
  bytes_ += held_bytes(object);
  ObjectPtr& kept = objects_[key];
  kept = std::make_shared<const doc::Value>(std::move(object));
  changes.push_back({Change::Type::kAdded, std::move(key), nullptr, kept});
}

std::vector<Change> ObjectCache::replace(std::vector<doc::Value> all) {
  std::vector<Change> changes;
  std::ranges::sort(all, {}, key_of);
  std::set<ObjectKey> present;
  for (const doc::Value& object : all) present.insert(key_of(object));
  std::vector<ObjectKey> gone;
  for (const auto& [key, object] : objects_)
    if (!present.contains(key)) gone.push_back(key);
  for (const ObjectKey& key : gone) drop(key, changes);
  for (doc::Value& object : all) put(std::move(object), changes);
  return changes;
}

std::vector<Change> ObjectCache::take(WatchType type, doc::Value object) {
  std::vector<Change> changes;
  if (type == WatchType::kDeleted)
    drop(key_of(object), changes);
  else
    put(std::move(object), changes);
  return changes;
}

}  // namespace railbed::kube
