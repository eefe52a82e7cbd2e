// SPDX-License-Identifier: Apache-2.0
// How a CNI request fails: the error codes of the specification, and their JSON form.
//
// Why: a runtime acts on the code (11: retry later, 50: no pods here now), a user on the text. railbed's errors already
// carry a code that means an action; this maps one to the other.
// Threading: plain values.
// Source: CNI specification 1.1.0, "Error".
#pragma once

#include <exception>
#include <expected>
#include <optional>
#include <string>

#include "base/error.h"

namespace railbed::cni {

inline constexpr int kIncompatibleVersion = 1;
inline constexpr int kUnsupportedField = 2;
inline constexpr int kUnknownContainer = 3;
inline constexpr int kInvalidEnvironment = 4;
inline constexpr int kIo = 5;
inline constexpr int kDecode = 6;
inline constexpr int kInvalidConfig = 7;
inline constexpr int kInvalidNetns = 8;  // of the reference library: CNI_NETNS is the host's own
inline constexpr int kTryAgainLater = 11;
inline constexpr int kUnavailable = 50;         // no ADD can be served
inline constexpr int kUnavailableLimited = 51;  // and running pods have limited connectivity
// railbed's own codes, from 100 on.
inline constexpr int kGone = 100;       // a device, interface or namespace does not exist
inline constexpr int kTaken = 101;      // a device, name or address belongs to another owner
inline constexpr int kExhausted = 102;  // no address or VF is left
inline constexpr int kKernel = 103;     // the kernel or the driver refused
inline constexpr int kInternal = 104;
inline constexpr int kStarved = 105;  // the machine or the agent has no memory, open files or threads left

struct Failure {
  int code = kInternal;
  std::string message;
  std::string details;  // the hint; may be empty
  friend bool operator==(const Failure&, const Failure&) = default;
};

template <typename T>
using Outcome = std::expected<T, Failure>;

// The code that fits the error; its message with context as message, its hint as details.
Failure failure_of(const Error& error);

// Of what the standard library throws: memory, threads, or a defect of railbed.
Failure failure_of(const std::exception& thrown);

// The failure in an answer; nothing where the text is none: it has no "code" or no "msg".
std::optional<Failure> read_failure(const std::string& json);

// {"cniVersion": …, "code": …, "msg": …, "details": …}, indented as the reference library prints it.
std::string to_json(const Failure& failure, const std::string& cni_version);

}  // namespace railbed::cni

// The value of a Result, or return its error from the enclosing function as a Failure.
#define TRY_CNI(expression)                                                              \
  ({                                                                                     \
    auto&& railbed_outcome_ = (expression);                                              \
    if (!railbed_outcome_.has_value()) [[unlikely]]                                      \
      return std::unexpected(::railbed::cni::detail::failure(railbed_outcome_.error())); \
    ::railbed::cni::detail::take(std::move(railbed_outcome_));                           \
  })

namespace railbed::cni::detail {
inline Failure failure(const Error& error) {
  return failure_of(error);
}
inline Failure failure(const Failure& failure) {
  return failure;
}
template <typename T>
T take(Result<T>&& result) {
  return std::move(*result);
}
inline void take(Result<void>&&) {}
template <typename T>
T take(std::expected<T, Failure>&& outcome) {
  return std::move(*outcome);
}
inline void take(std::expected<void, Failure>&&) {}
}  // namespace railbed::cni::detail
