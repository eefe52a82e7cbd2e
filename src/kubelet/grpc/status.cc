// SPDX-License-Identifier: Apache-2.0
#include "kubelet/grpc/status.h"

#include <grpc/support/log.h>

namespace railbed::kubelet {
namespace {

constexpr int kLargestAnswer = 16 << 20;  // PodResources of a node with many pods; as the kubelet's own clients allow

Code code_of(grpc::StatusCode code) {
  switch (code) {
    case grpc::DEADLINE_EXCEEDED:
      return Code::kTimeout;
    case grpc::UNIMPLEMENTED:
      return Code::kUnsupported;
    case grpc::NOT_FOUND:
      return Code::kNotFound;
    case grpc::CANCELLED:
      return Code::kCanceled;
    case grpc::UNAVAILABLE:
      return Code::kIo;
    default:
      return Code::kInvalid;
  }
}

grpc::StatusCode code_of(Code code) {
  switch (code) {
    case Code::kNotFound:
      return grpc::NOT_FOUND;
    case Code::kInvalid:
      return grpc::INVALID_ARGUMENT;
    case Code::kConflict:
      return grpc::FAILED_PRECONDITION;
    case Code::kExhausted:
      return grpc::RESOURCE_EXHAUSTED;
    default:
      return grpc::INTERNAL;
  }
}

}  // namespace

Error error_of(const grpc::Status& status, const std::string& what) {
  return {.code = code_of(status.error_code()), .message = fmt::format("{}: {}", what, status.error_message())};
}

grpc::Status status_of(const Error& error) {
  return {code_of(error.code), "railbed: " + error.story()};
}

std::shared_ptr<grpc::Channel> channel_to(const std::string& socket) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(kLargestAnswer);
  return grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), arguments);
}

void set_deadline(grpc::ClientContext& context, os::Deadline deadline) {
  // gRPC's deadlines are of the system's clock; what is left is not changed by setting that clock meanwhile.
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::ceil<std::chrono::microseconds>(deadline - std::chrono::steady_clock::now()));
}

void silence_grpc() {
  gpr_set_log_function([](gpr_log_func_args*) {});
}

}  // namespace railbed::kubelet
