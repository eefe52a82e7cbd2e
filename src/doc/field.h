// SPDX-License-Identifier: Apache-2.0
// A field of a manifest together with its location.
//
// Why: rules and plans refer to single fields ("policy.yaml:14:11 asks for 9"); an absent field still has a default
// value and no location. Comparison ignores the location (Where), so that structs with one compare by `= default`.
// Threading: plain values. Failure: none.
#pragma once

#include <optional>
#include <utility>

#include "doc/value.h"

namespace railbed::doc {

// The place of something. Any two are equal: the same content in two places is the same.
struct Where : Span {
  Where() = default;
  Where(Span span) : Span(std::move(span)) {}
  friend bool operator==(const Where&, const Where&) { return true; }
};

template <typename T>
struct Field {
  T value{};
  bool present = false;
  Where span;  // of the value; of the object around it where the field is absent

  const T& operator*() const { return value; }
  const T* operator->() const { return &value; }
  friend bool operator==(const Field&, const Field&) = default;
};

// A field with a value, for tests and for objects that were not read from a source.
template <typename T>
Field<T> given(T value) {
  return Field<T>{.value = std::move(value), .present = true};
}

}  // namespace railbed::doc
