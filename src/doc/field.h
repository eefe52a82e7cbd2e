// SPDX-License-Identifier: Apache-2.0
// A field of a manifest together with its location.
//
// Why: rules and plans refer to single fields ("policy.yaml:14:11 asks for 9"); an absent field still has a default
// value and no location. Comparison ignores the location.
#pragma once

#include <optional>
#include <utility>

#include "doc/value.h"

namespace railbed::doc {

template <typename T>
struct Field {
  T value{};
  bool present = false;
  Span span;  // of the value; of the object around it where the field is absent

  const T& operator*() const { return value; }
  const T* operator->() const { return &value; }
  friend bool operator==(const Field& a, const Field& b) { return a.value == b.value && a.present == b.present; }
};

// A field with a value, for tests and for objects that were not read from a source.
template <typename T>
Field<T> given(T value) {
  return Field<T>{.value = std::move(value), .present = true};
}

}  // namespace railbed::doc
