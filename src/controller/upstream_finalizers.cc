// SPDX-License-Identifier: Apache-2.0
#include "controller/upstream_finalizers.h"

#include <string>
#include <utility>
#include <vector>

#include "doc/members.h"
#include "kube/object.h"

namespace railbed::controller {

using doc::Value;

std::optional<Value> patch_without(const Value& object, std::string_view finalizer) {
  const Value* meta = doc::object_in(object, "metadata");
  if (meta == nullptr) return std::nullopt;
  std::vector<std::string> finalizers = doc::texts_in(*meta, "finalizers");
  if (std::erase(finalizers, finalizer) == 0) return std::nullopt;
  Value patch = Value::object();
  Value& wanted = patch.set("metadata", Value::object());
  wanted.set("finalizers", doc::texts(finalizers));
  wanted.set("resourceVersion", kube::resource_version(object));
  return patch;
}

}  // namespace railbed::controller
