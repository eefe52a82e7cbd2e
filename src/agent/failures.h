// SPDX-License-Identifier: Apache-2.0
// Combines several failures into one, for operations that try all items: the code and details of the first, the context
// of all.
//
// Threading: plain values.
// Failure: none.
#pragma once

#include <optional>
#include <string>

#include "cni/request.h"

namespace railbed::agent {

class Failures {
 public:
  // `where` may be empty.
  void add(const std::string& where, cni::Failure why) {
    std::string story = where.empty() ? why.message : where + ": " + why.message;
    if (!first_.has_value()) {
      first_ = std::move(why);
      first_->message = std::move(story);
    } else {
      first_->message += "; " + story;
    }
  }
  bool any() const { return first_.has_value(); }
  cni::Outcome<void> outcome() {
    if (first_.has_value()) return std::unexpected(*std::move(first_));
    return {};
  }

 private:
  std::optional<cni::Failure> first_;
};

}  // namespace railbed::agent
