// SPDX-License-Identifier: Apache-2.0
// fmt for railbed's own types: any type with `std::string to_string() const` can be formatted with "{}".
//
// Why: the strong types at module boundaries (PciAddress, Guid, …) appear in every message; a formatter for each would
// be boilerplate. Format specifications of strings ("{:>12}") work too.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace railbed {
template <typename T>
concept HasToString = requires(const T& value) {
  { value.to_string() } -> std::same_as<std::string>;
};
}  // namespace railbed

template <typename T>
  requires railbed::HasToString<T>
struct fmt::formatter<T> : fmt::formatter<std::string_view> {
  auto format(const T& value, fmt::format_context& context) const {
    return fmt::formatter<std::string_view>::format(value.to_string(), context);
  }
};
