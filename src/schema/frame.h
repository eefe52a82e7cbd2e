// SPDX-License-Identifier: Apache-2.0
// A value that is being compared with its schema, and the objects around it.
//
// Why: messages name a value by its path ("plugins[1].mtu"), and a field in the wrong place by the object around it
// that has such a field. Threading: values that point to each other, on the stack of one comparison. Failure: none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "schema/schema.h"

namespace railbed::schema {

// Messages build the path's text, which is seldom needed.
struct Frame {
  enum class Step : uint8_t { kRoot, kField, kKey, kItem };

  const Schema* schema = nullptr;  // of an object
  const Frame* around = nullptr;   // the object around it
  const Frame* up = nullptr;       // one step back; null for a root
  Step step = Step::kRoot;
  std::string_view key;   // of a field or of a map's member
  size_t index = 0;       // of an item
  std::string_view name;  // instead of a path from here on
  bool json = false;      // of an object

  // "spec.nicSelector", "plugins[1].mtu"; empty at the top.
  std::string path() const;
  // Not of a text inside an object, which has a name.
  bool is_object_itself() const { return up == nullptr && name.empty(); }
  // The field that contains it.
  std::string_view field() const;
};

// A field of the object.
Frame below(const Frame& frame, std::string_view key);
// How messages name an object: by its path, else by its kind.
std::string name_of(const Frame& frame);
std::string root_name(const Frame& frame);
// The key of `around` that leads to `frame`.
std::string child_below(const Frame& around, const Frame& frame);

}  // namespace railbed::schema
