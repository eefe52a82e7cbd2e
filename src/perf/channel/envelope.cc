// SPDX-License-Identifier: Apache-2.0
#include "perf/channel/envelope.h"

#include "doc/text.h"
#include "perf/channel/frame.h"
#include "perf/channel/message.h"

namespace railbed::perf {
namespace {

// The peer's text is shown to a person: no control characters, and not a whole page.
std::string shown(const std::string& text) {
  return doc::printable(std::string_view(text).substr(0, 1000));
}

std::string names_text(std::initializer_list<std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", name);
  return names.size() == 1 ? text : "one of " + text;
}

}  // namespace

Result<Envelope> open_envelope(std::string_view body) {
  if (body.size() > kMaxBodyBytes)
    return fail(Code::kInvalid, "{} bytes of JSON, at most {} are allowed", body.size(), kMaxBodyBytes);
  Envelope envelope{.type = {}, .body = TRY(doc::read_object("", body).context("this is not a message"))};
  doc::Diagnostics found;
  doc::Fields fields(envelope.body, "", doc::kNoFamily, found);
  fields.need("type", envelope.type, {.bytes = kMaxType_bytes});
  TRY(doc::first_error(found));
  return envelope;
}

Error not_due(const Envelope& got, std::initializer_list<std::string_view> due) {
  if (got.type == Refusal::kName) {
    const auto refusal = decode_as<Refusal>(got);
    if (!refusal) return refusal.error();
    return {
        .code = Code::kConflict, .message = "the peer says: " + shown(refusal->message), .hint = shown(refusal->hint)};
  }
  return {.code = Code::kInvalid,
          .message = fmt::format("the peer sent \"{}\" where {} was due", doc::printable(got.type), names_text(due))};
}

}  // namespace railbed::perf
