// SPDX-License-Identifier: Apache-2.0
#include "cni/failure.h"

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
}  // namespace

Failure failure_of(const Error& error) {
  return {code_of(error.code), error.story(), error.hint};
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
