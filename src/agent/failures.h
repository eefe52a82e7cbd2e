// SPDX-License-Identifier: Apache-2.0
// Combines several failures into one, for operations that try all items: the code and details of the first, the context
// of all.
//
// Threading: plain values.
// Failure: none.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"

namespace railbed::agent {

class Failures {
 public:
  // `where` may be empty.
  void add(const std::string& where, Error why) {
    if (!where.empty()) why.context.push_back(where);
    if (!first_.has_value())
      first_ = std::move(why);
    else
      first_->message += "; " + why.story();
  }
  bool any() const { return first_.has_value(); }
  Result<void> outcome() {
    if (first_.has_value()) return fail(*std::move(first_));
    return {};
  }

 private:
  std::optional<Error> first_;
};

}  // namespace railbed::agent
