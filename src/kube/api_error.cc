// SPDX-License-Identifier: Apache-2.0
#include "kube/api_error.h"

#include <algorithm>

#include "doc/members.h"
#include "kube/object.h"

namespace railbed::kube {
namespace {

constexpr size_t kMaxTextBytes = 300;  // of an answer that is no Status
constexpr size_t kMostCauses = 8;

Code code_of(int status) {
  switch (status) {
    case 400:
    case 405:
    case 406:
    case 413:
    case 415:
    case 422:
      return Code::kInvalid;
    case 401:
    case 403:
      return Code::kDenied;
    case 404:
      return Code::kNotFound;
    case 409:
    case 410:
      return Code::kConflict;
    case 429:
    case 503:
      return Code::kBusy;
    case 408:
    case 504:
      return Code::kTimeout;
    default:
      return Code::kIo;
  }
}

std::string hint_of(int status) {
  if (status == 401)
    return "the API server does not know this client: its token or client certificate is wrong or too old";
  if (status == 403) return "grant it with a Role or ClusterRole and a binding to this user";
  return "";
}

ApiError refusal(std::string_view what, int status, std::string reason, std::string_view message) {
  ApiError error{Error{.code = code_of(status), .hint = hint_of(status)}};
  error.message = fmt::format("{}: {}{}{}{}{}", what, status, reason.empty() ? "" : " ", readable(reason),
                              message.empty() ? "" : ": ", readable(message));
  error.status = status;
  error.reason = readable(reason);
  error.delivery = Delivery::kAnswered;
  return error;
}

void add_causes(const doc::Value& details, std::vector<RefusalCause>& into) {
  const doc::Value::Array* causes = doc::list_in(details, "causes");
  if (causes == nullptr) return;
  for (const doc::Value& cause : *causes)
    if (into.size() < kMostCauses)
      into.push_back({readable(doc::text_in(cause, "reason")), readable(doc::text_in(cause, "message"))});
}

}  // namespace

ApiError refused(std::string_view what, const doc::Value& status) {
  ApiError error =
      refusal(what, doc::number_in(status, "code"), doc::text_in(status, "reason"), doc::text_in(status, "message"));
  error.continue_token = doc::text_at(status, "metadata.continue");
  const doc::Value* details = doc::object_in(status, "details");
  if (details == nullptr) return error;
  const std::chrono::seconds wait(std::max(0, doc::number_in(*details, "retryAfterSeconds")));
  if (wait.count() > 0) error.retry_after = std::min(wait, kLongestRetryAfter);
  add_causes(*details, error.causes);
  return error;
}

ApiError refused(std::string_view what, int status, std::string_view body) {
  const Result<doc::Value> object = parse_object(body);
  if (!object || doc::text_in(*object, "kind") != "Status") {
    const std::string_view begin = body.substr(0, kMaxTextBytes);
    return refusal(what, status, "", begin.substr(0, begin.find_last_not_of(" \r\n\t") + 1));
  }
  ApiError error = refused(what, *object);
  if (error.status != status) {
    const std::optional<milliseconds> retry_after = error.retry_after;
    std::vector<RefusalCause> causes = std::move(error.causes);
    error = refusal(what, status, error.reason, doc::text_in(*object, "message"));
    error.retry_after = retry_after;
    error.causes = std::move(causes);
  }
  return error;
}

bool is_of_policy(const ApiError& error) {
  return (error.status == 403 || error.status == 422) && error.message.contains("ValidatingAdmissionPolicy '");
}

ApiError unanswered(Code code, Delivery delivery, std::string message) {
  ApiError error{Error{.code = code, .message = std::move(message)}};
  error.delivery = delivery;
  return error;
}

ApiError not_sent(Error error) {
  return ApiError{std::move(error)};
}

}  // namespace railbed::kube
