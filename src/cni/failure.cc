// SPDX-License-Identifier: Apache-2.0
#include "cni/failure.h"

#include <cerrno>
#include <new>
#include <system_error>

#include "cni/version.h"
#include "doc/json.h"

namespace railbed::cni {

namespace {
int code_of(Code code) {
  switch (code) {
    case Code::kNotFound:
      return kGone;
    case Code::kInvalid:
      return kInvalidConfig;
    case Code::kConflict:
      return kTaken;
    case Code::kBusy:
    case Code::kTimeout:
    case Code::kCanceled:
      return kTryAgainLater;
    case Code::kExhausted:
      return kExhausted;
    case Code::kDenied:
    case Code::kUnsupported:
      return kKernel;
    case Code::kIo:
      return kIo;
    case Code::kInternal:
      break;
  }
  return kInternal;
}

Failure starved(int sys_errno, const Error& error) {
  Failure failure{kStarved, error.story(), error.hint};
  std::string& hint = failure.details;
  switch (sys_errno) {
    case ENOSPC:
      failure.code = kIo;
      if (hint.empty()) hint = "the file system or a table of the device is full: free some space";
      break;
    case EMFILE:
      if (hint.empty()) hint = "the agent reached its open file limit; run `railbed status`";
      break;
    case ENFILE:
      if (hint.empty()) hint = "this machine reached its open file limit (fs.file-max)";
      break;
    default:
      if (hint.empty()) hint = "this machine has no memory or threads left; the runtime will retry";
  }
  return failure;
}
}  // namespace

Failure failure_of(const Error& error) {
  // Where the kernel says that something is used up, it is never an address or a VF.
  if (error.code == Code::kExhausted && error.sys_errno != 0) return starved(error.sys_errno, error);
  return {code_of(error.code), error.story(), error.hint};
}

Failure failure_of(const std::exception& thrown) {
  if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr)
    return failure_of(system_error(ENOMEM, "allocate memory in the agent"));
  const auto* system = dynamic_cast<const std::system_error*>(&thrown);
  if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again)
    return failure_of(no_thread_error("a part of the request"));
  return {kInternal, thrown.what(), {}};
}

std::optional<Failure> read_failure(const std::string& json) {
  doc::Diagnostics ignored;
  const auto value = doc::parse_json(std::make_shared<const doc::Source>(doc::Source{"", json}), ignored);
  if (!value.has_value() || !value->is_object()) return std::nullopt;
  const doc::Value* code = value->find("code");
  const doc::Value* message = value->find("msg");
  const doc::Value* details = value->find("details");
  if (code == nullptr || code->as_int() == nullptr || message == nullptr || !message->is_string()) return std::nullopt;
  return Failure{static_cast<int>(*code->as_int()), *message->as_string(),
                 details != nullptr && details->is_string() ? *details->as_string() : ""};
}

std::string to_json(const Failure& failure, const std::string& cni_version) {
  doc::Value out = doc::Value::object();
  out.set("cniVersion", cni_version.empty() ? kLatest.to_string() : cni_version);
  out.set("code", failure.code);
  out.set("msg", failure.message);
  if (!failure.details.empty()) out.set("details", failure.details);
  return doc::to_json(out, 4);
}

}  // namespace railbed::cni
