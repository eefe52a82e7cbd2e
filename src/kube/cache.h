// SPDX-License-Identifier: Apache-2.0
// The cached objects of one kind, and the changes relative to the previous content.
//
// Why: after a gap (an expired resourceVersion, a server that was unavailable) the whole list is read again. What was
// missed is still reported as changes, so that an observer sees an unbroken sequence, deletions included. An object
// that was deleted and re-created is a different one (its uid differs): reported as removed, then as added.
// Threading: a value; its owner locks.
// Failure: none.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "kube/bounds.h"
#include "kube/object.h"
#include "kube/watch_decoder.h"

namespace railbed::kube {

using ObjectPtr = std::shared_ptr<const doc::Value>;
using Objects = std::map<ObjectKey, ObjectPtr>;

struct Change {
  enum class Type : uint8_t { kAdded, kChanged, kRemoved };
  Type type = Type::kAdded;
  ObjectKey key;
  ObjectPtr before;  // null when it was added
  ObjectPtr after;   // null when it was removed
};

class ObjectCache {
 public:
  const Objects& objects() const { return objects_; }
  // How much it holds, and how much it would with this object.
  Held held() const { return {.objects = objects_.size(), .bytes = bytes_}; }
  Held held_with(const doc::Value& object) const;
  // Everything there is. Changes in the order of keys, removals first: a name that moves is free before it is taken.
  std::vector<Change> replace(std::vector<doc::Value> all);
  // An event of the type added, modified or deleted.
  std::vector<Change> take(WatchType type, doc::Value object);

 private:
  void put(doc::Value object, std::vector<Change>& changes);
  void drop(const ObjectKey& key, std::vector<Change>& changes);

  Objects objects_;
  size_t bytes_ = 0;  // of all of them
};

}  // namespace railbed::kube
