// SPDX-License-Identifier: Apache-2.0
// The error of a request to an API server, or of the connection to it.
//
// Why: an Error's code says which action a caller takes. Retries need more: whether the request may have been
// carried out, how long the server asks clients to wait, and the HTTP status. So calls of the API client return an
// Answer, whose error is an Error plus these facts; result() is the same as a plain Result, for TRY. Codes: 400, 405,
// 413, 415, 422 Invalid; 401, 403 Denied; 404 NotFound; 409, 410 Conflict (read again); 429, 503 Busy; 408, 504
// Timeout; all others Io.
// Threading: plain values.
// Failure: none.
// Source: metav1.Status, Kubernetes API conventions.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "doc/value.h"
#include "kube/clock.h"

namespace railbed::kube {

// How far a request that failed came.
enum class Delivery : uint8_t {
  kNotSent,   // no server has seen it
  kUnknown,   // it was sent, and no answer came
  kAnswered,  // a server refused it
};

// What a server asks for beyond this is a mistake, of a proxy or of an attacker, and would stop caches for as long.
inline constexpr std::chrono::seconds kLongestRetryAfter{300};

// One of the details of a refusal, as the server said it.
struct RefusalCause {
  std::string reason;  // "DisruptionBudget"
  std::string message;
  friend bool operator==(const RefusalCause&, const RefusalCause&) = default;
};

struct ApiError : Error {
  int status = 0;                           // HTTP's; 0 where no answer came
  std::string reason;                       // of the Status object: "AlreadyExists", "Conflict", "Expired", …
  std::optional<milliseconds> retry_after;  // as the server asked, up to kLongestRetryAfter
  // Of a list whose continue token is too old: goes on behind the same object, in the newest state.
  std::string continue_token;
  Delivery delivery = Delivery::kNotSent;
  std::vector<RefusalCause> causes = {};  // the first few

  // The resourceVersion or continue token is too old: list again.
  bool expired() const { return status == 410; }
};

template <typename T>
class [[nodiscard]] Answer : public std::expected<T, ApiError> {
 public:
  using std::expected<T, ApiError>::expected;

  Result<T> result() && {
    if (!this->has_value()) return std::unexpected<Error>(std::move(this->error()));
    if constexpr (std::is_void_v<T>)
      return {};
    else
      return std::move(**this);
  }
};

inline std::unexpected<ApiError> no_answer(ApiError error) {
  return std::unexpected(std::move(error));
}

// The error of an answer with this HTTP status; `body` is a Status object, or any text that a proxy wrote. `what` is
// the request ("GET /api/v1/pods").
ApiError refused(std::string_view what, int status, std::string_view body);
// The error that an ERROR event of a watch holds.
ApiError refused(std::string_view what, const doc::Value& status);
// The API server is there and the right is, too: a ValidatingAdmissionPolicy refuses this object. The policy's reason
// decides whether that is 403 or, without a reason, 422.
bool is_of_policy(const ApiError& error);
// The error of a request that came to no answer.
ApiError unanswered(Code code, Delivery delivery, std::string message);
// `error`, which is railbed's own or of a file, before anything was sent.
ApiError not_sent(Error error);

}  // namespace railbed::kube
