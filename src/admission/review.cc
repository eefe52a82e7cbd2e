// SPDX-License-Identifier: Apache-2.0
#include "admission/review.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/base64.h"
#include "base/format.h"
#include "base/text.h"
#include "doc/fields.h"
#include "doc/json.h"
#include "doc/members.h"
#include "doc/text.h"

namespace railbed::admission {
namespace {

using doc::Value;

constexpr std::string_view kVersion = "admission.k8s.io/v1";
constexpr std::string_view kReviewKind = "AdmissionReview";
// What a webhook sees of a uid is a UUID.
constexpr size_t kMaxUidBytes = 128;
constexpr int kForbidden = 403;
constexpr int kBadRequest = 400;
constexpr std::string_view kEllipsis = "…";

// As Operation.
constexpr std::string_view kOperations[] = {"CREATE", "UPDATE", "DELETE", "CONNECT"};

std::unexpected<Answer> unreadable(std::string uid, std::string why) {
  return std::unexpected(
      Answer{.uid = std::move(uid),
             .allowed = false,
             .code = kBadRequest,
             .message = fmt::format("railbed cannot read this AdmissionReview: {}", std::move(why))});
}

Value value_of(const Value& request, std::string_view key) {
  const Value* found = request.find(key);
  return found == nullptr ? Value() : *found;
}

// Whether the objects that the operation must have are there.
std::string missing_object(const Review& review) {
  const bool has_new = review.operation == Operation::kCreate || review.operation == Operation::kUpdate;
  if (has_new && !review.object.is_object())
    return fmt::format("request.object must be an object, found {}", doc::described(review.object));
  if (review.operation == Operation::kUpdate && !review.old_object.is_object())
    return fmt::format("request.oldObject must be an object, found {}", doc::described(review.old_object));
  return {};
}

Value status_of(const Answer& answer) {
  Value status = Value::object();
  status.set("code", answer.code);
  status.set("message", answer.message);
  if (answer.code == kForbidden) status.set("reason", "Forbidden");
  if (answer.code == kBadRequest) status.set("reason", "BadRequest");
  return status;
}

Value patch_list(const std::vector<Patch>& patches) {
  Value list = Value::array();
  for (const Patch& patch : patches) {
    Value one = Value::object();
    one.set("op", patch.op == Patch::Op::kAdd ? "add" : "replace");
    one.set("path", patch.path);
    one.set("value", patch.value);
    list.push(std::move(one));
  }
  return list;
}

// The bytes of the first `count` characters.
size_t bytes_of(std::string_view text, size_t count) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (doc::is_utf8_continuation(text[at])) continue;
    if (count == 0) break;
    --count;
  }
  return at;
}

}  // namespace

Answer refusal(std::string uid, std::string message) {
  return {.uid = std::move(uid), .allowed = false, .code = kForbidden, .message = std::move(message)};
}

std::expected<Review, Answer> read_review(std::string_view text) {
  if (text.size() > kMaxReviewBytes)
    return unreadable("", fmt::format("it has {} bytes, and {} are the limit", text.size(), kMaxReviewBytes));
  const Result<Value> review = doc::read_object("", text);
  if (!review.has_value()) return unreadable("", review.error().story());
  if (doc::text_in(*review, "apiVersion") != kVersion || doc::text_in(*review, "kind") != kReviewKind)
    return unreadable("", fmt::format("it is no {} of {}", kReviewKind, kVersion));
  const Value* request = doc::object_in(*review, "request");
  if (request == nullptr) return unreadable("", "it has no request");

  Review out{.uid = doc::text_in(*request, "uid")};
  if (out.uid.empty() || out.uid.size() > kMaxUidBytes)
    return unreadable("", fmt::format("request.uid must have 1 to {} bytes", kMaxUidBytes));
  const auto* const operation = std::ranges::find(kOperations, doc::text_in(*request, "operation"));
  if (operation == std::end(kOperations))
    return unreadable(out.uid,
                      fmt::format("request.operation must be one of {}, found {}", fmt::join(kOperations, ", "),
                                  doc::described(value_of(*request, "operation"))));
  out.operation = static_cast<Operation>(operation - std::begin(kOperations));
  out.group = doc::text_at(*request, "kind.group");
  out.kind = doc::text_at(*request, "kind.kind");
  if (out.kind.empty()) return unreadable(out.uid, "request.kind has no kind");
  out.subresource = doc::text_in(*request, "subResource");
  out.ns = doc::text_in(*request, "namespace");
  out.name = doc::text_in(*request, "name");
  out.user = doc::text_at(*request, "userInfo.username");
  out.dry_run = doc::flag_in(*request, "dryRun");
  out.object = value_of(*request, "object");
  out.old_object = value_of(*request, "oldObject");
  out.options = value_of(*request, "options");
  if (std::string missing = missing_object(out); !missing.empty()) return unreadable(out.uid, std::move(missing));
  return out;
}

std::string to_json(const Answer& answer) {
  Value response = Value::object();
  response.set("uid", answer.uid);
  response.set("allowed", answer.allowed);
  if (!answer.allowed) response.set("status", status_of(answer));
  if (!answer.warnings.empty()) response.set("warnings", doc::texts(answer.warnings));
  if (answer.allowed && !answer.patches.empty()) {
    response.set("patchType", "JSONPatch");
    response.set("patch", base64(doc::to_json(patch_list(answer.patches))));
  }
  Value review = Value::object();
  review.set("apiVersion", kVersion);
  review.set("kind", kReviewKind);
  review.set("response", std::move(response));
  return doc::to_json(review);
}

std::string warning_text(std::string_view id, std::string_view message) {
  std::string text = id.empty() ? std::string(message) : fmt::format("{} {}", id, message);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  if (bytes_of(text, kMaxWarningCharacters) == text.size()) return text;
  const size_t most = bytes_of(text, kMaxWarningCharacters - 1);
  // A word longer than all the rest of the line is cut in the middle.
  const size_t blank = std::string_view(text).substr(0, most + 1).rfind(' ');
  const size_t end = blank == std::string::npos || blank <= id.size() ? most : blank;
  return std::string(trimmed(std::string_view(text).substr(0, end))).append(kEllipsis);
}

std::string pointer_part(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

}  // namespace railbed::admission
