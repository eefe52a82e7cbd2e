// SPDX-License-Identifier: Apache-2.0
#include "cni/error.h"

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

// The action that a code of the wire means.
Code meaning_of(int code) {
  switch (code) {
    case kIncompatibleVersion:
    case kUnsupportedField:
    case kKernel:
      return Code::kUnsupported;
    case kInvalidEnvironment:
    case kDecode:
    case kInvalidConfig:
    case kInvalidNetns:
      return Code::kInvalid;
    case kUnknownContainer:
    case kGone:
      return Code::kNotFound;
    case kTryAgainLater:
    case kUnavailable:
    case kUnavailableLimited:
      return Code::kBusy;
    case kTaken:
      return Code::kConflict;
    case kExhausted:
    case kStarved:
      return Code::kExhausted;
    case kIo:
      return Code::kIo;
    default:
      return Code::kInternal;
  }
}

// Where the kernel says that something is used up, it is never an address or a VF.
bool is_starved(const Error& error) {
  return error.code == Code::kExhausted && error.sys_errno != 0;
}

std::string_view hint_of_errno(int sys_errno) {
  switch (sys_errno) {
    case ENOSPC:
      return "the file system or a table of the device is full: free some space";
    case EMFILE:
      return "the agent reached its open file limit; run `railbed status`";
    case ENFILE:
      return "this machine reached its open file limit (fs.file-max)";
    default:
      return "this machine has no memory or threads left; the runtime will retry";
  }
}
}  // namespace

Error error_with(int code, std::string message, std::string hint) {
  return {.code = meaning_of(code), .message = std::move(message), .hint = std::move(hint), .wire_code = code};
}

std::unexpected<Error> fail_with(int code, std::string message, std::string hint) {
  return std::unexpected(error_with(code, std::move(message), std::move(hint)));
}

Error error_of(const std::exception& thrown) {
  if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr)
    return system_error(ENOMEM, "allocate memory in the agent");
  const auto* system = dynamic_cast<const std::system_error*>(&thrown);
  if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again)
    return no_thread_error("a part of the request");
  return error_with(kInternal, thrown.what());
}

int code_of(const Error& error) {
  if (error.wire_code != 0) return error.wire_code;
  if (is_starved(error)) return error.sys_errno == ENOSPC ? kIo : kStarved;
  return code_of(error.code);
}

std::string hint_of(const Error& error) {
  return error.hint.empty() && is_starved(error) ? std::string(hint_of_errno(error.sys_errno)) : error.hint;
}

void add_hint(Error& error, const std::string& text) {
  std::string hint = hint_of(error);
  error.hint = hint.empty() ? text : hint + "; " + text;
}

std::optional<Error> read_error(const std::string& json) {
  doc::Diagnostics ignored;
  const auto value = doc::parse_json(std::make_shared<const doc::Source>(doc::Source{"", json}), ignored);
  if (!value.has_value() || !value->is_object()) return std::nullopt;
  const doc::Value* code = value->find("code");
  const doc::Value* message = value->find("msg");
  const doc::Value* details = value->find("details");
  if (code == nullptr || code->as_int() == nullptr || message == nullptr || !message->is_string()) return std::nullopt;
  return error_with(static_cast<int>(*code->as_int()), *message->as_string(),
                    details != nullptr && details->is_string() ? *details->as_string() : "");
}

std::string to_json(const Error& error, const std::string& cni_version) {
  doc::Value out = doc::Value::object();
  out.set("cniVersion", cni_version.empty() ? kLatest.to_string() : cni_version);
  out.set("code", code_of(error));
  out.set("msg", error.story());
  if (const std::string hint = hint_of(error); !hint.empty()) out.set("details", hint);
  return doc::to_json(out, 4);
}

}  // namespace railbed::cni
