// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/sources.h"

#include "doc/json.h"

namespace railbed::agent {

Result<doc::Value> parse_network_config(const std::string& text) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return doc::Value();
  doc::Diagnostics found;
  auto value = doc::parse_json(std::make_shared<const doc::Source>(doc::Source{"network configuration", text}), found);
  if (!value) {
    const doc::Diagnostic& first = found.all().front();
    return fail(Error{.code = Code::kInvalid,
                      .message = fmt::format("{}: {}", first.span.to_string(), first.message),
                      .hint = first.fix});
  }
  if (!value->is_object())
    return fail(Code::kInvalid, "network configuration: a JSON object should stand here, not {}",
                kind_name(value->kind()));
  return *std::move(value);
}

}  // namespace railbed::agent
