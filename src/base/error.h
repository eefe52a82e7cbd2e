// SPDX-License-Identifier: Apache-2.0
// Result and Error: how every function of railbed reports failure.
//
// Why: operating errors (a busy device, a missing file) are a normal part of operation, so they are values, not
// exceptions. An Error carries a code that says which action the caller takes, the errno of the system call if there
// was one, and the context of the attempted operation, outermost first. The caller that gives up prints it, once;
// library code only adds context and returns it.
//
//   Result<int> vf_count(const FileTree& sys, PciAddress pf) {
//     std::string text = TRY(sys.read(path).context("reading how many VFs {} has", pf));
//     ...
//   }
//
// Threading: plain values.
// Failure: none.
#pragma once

#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"

namespace railbed {

// What the caller can do about the error. No caller needs a finer distinction than this.
enum class Code {
  kNotFound,     // the thing is not there (any more)
  kInvalid,      // the input is wrong; trying again cannot help
  kConflict,     // another party has it or changed it; look again
  kBusy,         // try again later
  kDenied,       // a privilege is missing
  kExhausted,    // a bounded resource (VFs, addresses, memory) is used up
  kTimeout,      // a deadline passed
  kCanceled,     // asked to stop
  kUnsupported,  // this kernel, driver or device cannot do it
  kIo,           // the device or file system failed
  kInternal,     // a defect of railbed
};

std::string_view code_name(Code code);

struct Error {
  Code code = Code::kInternal;
  int sys_errno = 0;                 // 0 where no system call was involved
  std::string message;               // what failed, with the path or netlink call and the errno's name
  std::vector<std::string> context;  // innermost first
  std::string hint;                  // what to do, one sentence; may be empty
  // The code of the protocol in which a request fails, such as CNI's; 0: that protocol derives it from `code`.
  int wire_code = 0;

  // "outer: inner: message", and the hint on a line of its own, indented by two blanks.
  std::string to_string() const;
  // The same without the hint.
  std::string story() const;

  friend bool operator==(const Error&, const Error&) = default;
};

// The error of a system call on `what` ("write /sys/…/sriov_numvfs"): the code that fits `sys_errno`, and a message
// "<what>: EBUSY (Device or resource busy)".
Error system_error(int sys_errno, std::string what);

// No thread could be started for `what`: Exhausted, since EAGAIN of a thread is no reason to try again at once.
Error no_thread_error(const std::string& what);

// "EBUSY" for 16; "errno 4711" for a number without a name.
std::string errno_name(int sys_errno);

template <typename T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;

  // Adds what was being done, for the reader of the message. Free when there is no error.
  template <typename... Args>
  Result context(fmt::format_string<Args...> format, Args&&... args) && {
    if (!this->has_value()) this->error().context.push_back(fmt::format(format, std::forward<Args>(args)...));
    return std::move(*this);
  }
  // Adds what to do about the error, unless code nearer to the cause has already said so.
  Result hint(std::string text) && {
    if (!this->has_value() && this->error().hint.empty()) this->error().hint = std::move(text);
    return std::move(*this);
  }
};

// return fail(Code::kNotFound, "no PF named {}", name);
template <typename... Args>
std::unexpected<Error> fail(Code code, fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{.code = code, .message = fmt::format(format, std::forward<Args>(args)...)});
}
inline std::unexpected<Error> fail(Error error) {
  return std::unexpected(std::move(error));
}

}  // namespace railbed

// The value of `expression`, or return its error from the enclosing function. A statement expression, because
// libstdc++ 12 has no and_then. For Result<void> use it as a statement.
#define TRY(expression)                                                             \
  ({                                                                                \
    auto&& railbed_result_ = (expression);                                          \
    if (!railbed_result_.has_value()) [[unlikely]]                                  \
      return std::unexpected<::railbed::Error>(std::move(railbed_result_.error())); \
    ::railbed::detail::take(std::move(railbed_result_));                            \
  })

namespace railbed::detail {
template <typename T>
T take(Result<T>&& result) {
  return std::move(*result);
}
inline void take(Result<void>&&) {}
}  // namespace railbed::detail
