// SPDX-License-Identifier: Apache-2.0
// For tests: which values a reader of JSON accepts for each field.
//
// Why: no example of a valid document detects a limit that is off by one, or a field that is no longer required.
// Starting from a valid document, this finds for each number the smallest and the largest accepted value, for each text
// and each list the longest, and whether the member may be absent or null.
// Threading: none.
// Failure: the test's, if the document itself is rejected.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "doc/json.h"

namespace railbed::doc {

class LimitsOf {
 public:
  using Accepts = std::function<bool(const std::string& json)>;
  static constexpr int64_t kLongest = 20'000;  // longer texts and lists are not tried
  static constexpr int64_t kMostObjects = 300;

  LimitsOf(Value good, Accepts accepts) : whole_(std::move(good)), accepts_(std::move(accepts)) {}

  // "path: 0 to 65535, required", one a line.
  std::string text() {
    EXPECT_TRUE(accepts_(to_json(whole_))) << to_json(whole_);
    walk(whole_, "");
    return out_;
  }

 private:
  bool accepted() const { return accepts_(to_json(whole_)); }
  bool accepted_with(Value& place, Value instead) {
    std::swap(place, instead);
    const bool taken = accepted();
    std::swap(place, instead);
    return taken;
  }
  // The value farthest from `good` toward `end` that is taken.
  template <typename Make>
  int64_t farthest(Value& place, int64_t good, int64_t end, const Make& make) {
    if (accepted_with(place, make(end))) return end;
    int64_t taken = good;
    int64_t refused = end;
    while (taken > refused ? taken - 1 > refused : refused - 1 > taken) {
      const int64_t middle = taken / 2 + refused / 2 + (taken % 2 + refused % 2) / 2;
      (accepted_with(place, make(middle)) ? taken : refused) = middle;
    }
    return taken;
  }

  void walk(Value& value, const std::string& path) {
    if (Value::Object* members = value.as_object()) {
      for (size_t i = 0; i < members->size(); ++i) {
        const std::string key = path + (path.empty() ? "" : ".") + (*members)[i].key;
        std::string line = limits((*members)[i].value);
        Value::Member kept = std::move((*members)[i]);
        members->erase(members->begin() + static_cast<long>(i));
        const bool absent = accepted();
        members->insert(members->begin() + static_cast<long>(i), std::move(kept));
        const bool null = accepted_with((*members)[i].value, Value());
        line += (line.empty() ? "" : ", ") + std::string(absent ? "optional" : "required") + (null ? ", null" : "");
        out_ += key + ": " + line + "\n";
        walk((*members)[i].value, key);
      }
    } else if (Value::Array* items = value.as_array(); items != nullptr && !items->empty()) {
      if (const std::string line = limits(items->back()); !line.empty()) out_ += path + "[]: " + line + "\n";
      walk(items->back(), path + "[]");
    }
  }

  std::string limits(Value& value) {
    const auto number = [](int64_t n) { return Value(n); };
    if (const int64_t* good = value.as_int()) {
      const int64_t from = *good;
      return fmt::format("{} to {}", farthest(value, from, -(int64_t{1} << 62), number),
                         farthest(value, from, int64_t{1} << 62, number)) +
             (accepted_with(value, Value(0.5)) ? ", fractions" : "");
    }
    if (value.as_double_exact() != nullptr)
      return accepted_with(value, Value(int64_t{0}))
                 ? fmt::format("{} to {}, fractions", farthest(value, 0, -(int64_t{1} << 62), number),
                               farthest(value, 0, int64_t{1} << 62, number))
                 : "fractions";
    if (const std::string* good = value.as_string()) {
      const std::string start = *good;
      const auto longer = [&](int64_t size) {
        std::string longer_text = start;
        longer_text.resize(static_cast<size_t>(size), 'a');
        return Value(longer_text);
      };
      const auto size = static_cast<int64_t>(start.size());
      const std::string empty = accepted_with(value, Value("")) ? ", empty" : "";
      if (!accepted_with(value, longer(size + 1))) return "of its own form" + empty;
      return fmt::format("up to {} bytes{}", farthest(value, size, kLongest, longer), empty);
    }
    if (Value::Array* items = value.as_array(); items != nullptr && !items->empty()) {
      const Value last = items->back();
      const Value::Array start = *items;
      const auto longer = [&](int64_t size) {
        Value::Array all = start;
        all.resize(static_cast<size_t>(size), last);
        return Value(std::move(all));
      };
      const auto size = static_cast<int64_t>(start.size());
      const std::string empty = accepted_with(value, Value(Value::Array{})) ? ", empty" : "";
      if (!accepted_with(value, longer(size + 1))) return fmt::format("{} entries{}", size, empty);
      const int64_t most = last.is_object() ? kMostObjects : kLongest;
      return fmt::format("up to {} entries{}", farthest(value, size, most, longer), empty);
    }
    return value.as_bool() != nullptr ? "true or false" : "";
  }

  Value whole_;
  Accepts accepts_;
  std::string out_;
};

}  // namespace railbed::doc
