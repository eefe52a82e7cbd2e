// SPDX-License-Identifier: Apache-2.0
// Conversion between gRPC's status and railbed's errors, and what all calls have in common.
// Threading: any thread.
// Failure: none.
#pragma once

#include <memory>
#include <string>

#include <grpcpp/grpcpp.h>

#include "base/error.h"
#include "os/ports/clock.h"

namespace railbed::kubelet {

// Timeout where the deadline has passed, Io where no server answers, Unsupported for a method that the other side does
// not have; `what` was being called.
Error error_of(const grpc::Status& status, const std::string& what);
// The kubelet shows the message in the pod's status.
grpc::Status status_of(const Error& error);

// A connection of its own to a unix socket, made with the first call: gRPC would otherwise share it within the process,
// and with it the pauses after a kubelet that did not answer.
std::shared_ptr<grpc::Channel> channel_to(const std::string& socket);
void set_deadline(grpc::ClientContext& context, os::Deadline deadline);
// gRPC writes lines of its own to standard error; what matters of them is in the errors.
void silence_grpc();

}  // namespace railbed::kubelet
