// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <cerrno>
#include <cstring>

namespace railbed {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::kNotFound:
      return "not found";
    case Code::kInvalid:
      return "invalid";
    case Code::kConflict:
      return "conflict";
    case Code::kBusy:
      return "busy";
    case Code::kDenied:
      return "denied";
    case Code::kExhausted:
      return "exhausted";
    case Code::kTimeout:
      return "timeout";
    case Code::kCanceled:
      return "canceled";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kIo:
      return "input/output";
    case Code::kInternal:
      return "internal";
  }
  return "internal";
}

std::string Error::story() const {
  std::string text;
  for (auto part = context.rbegin(); part != context.rend(); ++part) text += *part + ": ";
  return text + message;
}

std::string Error::to_string() const {
  return hint.empty() ? story() : story() + "\n  " + hint;
}

std::string errno_name(int sys_errno) {
  const char* name = strerrorname_np(sys_errno);
  return name != nullptr ? name : fmt::format("errno {}", sys_errno);
}

namespace {

Code code_of_errno(int sys_errno) {
  switch (sys_errno) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case ESRCH:
    case EADDRNOTAVAIL:
      return Code::kNotFound;
    case EINVAL:
    case ERANGE:
    case E2BIG:
    case ENAMETOOLONG:
    case ENOTDIR:
    case EISDIR:
      return Code::kInvalid;
    case EEXIST:
    case EADDRINUSE:
      return Code::kConflict;
    case EBUSY:
    case EAGAIN:
    case ETXTBSY:
      return Code::kBusy;
    case EPERM:
    case EACCES:
    case EROFS:
      return Code::kDenied;
    case ENOMEM:
    case ENOSPC:
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
      return Code::kExhausted;
    case ETIMEDOUT:
    case ETIME:
      return Code::kTimeout;
    case ECANCELED:
    case EINTR:
      return Code::kCanceled;
    case EOPNOTSUPP:
    case ENOSYS:
    case EAFNOSUPPORT:
    case EPROTONOSUPPORT:
      return Code::kUnsupported;
    default:
      return Code::kIo;
  }
}

}  // namespace

Error system_error(int sys_errno, std::string what) {
  // Drivers pass on numbers that only the kernel knows, such as ENOTSUPP (524).
  const char* meaning = strerrordesc_np(sys_errno);
  return Error{.code = code_of_errno(sys_errno),
               .sys_errno = sys_errno,
               .message = fmt::format("{}: {} ({})", what, errno_name(sys_errno),
                                      meaning != nullptr ? meaning : "unknown error number")};
}

Error no_thread_error(const std::string& what) {
  Error error = system_error(EAGAIN, "start a thread for " + what);
  error.code = Code::kExhausted;
  error.hint =
      "this machine reached its thread limit (TasksMax of the unit, pids.max, kernel.threads-max), or has no memory "
      "left";
  return error;
}

}  // namespace railbed
