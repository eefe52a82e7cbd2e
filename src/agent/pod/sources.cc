// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/sources.h"

#include "base/well_known.h"
#include "doc/json.h"
#include "doc/members.h"

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
    return fail(Code::kInvalid, "network configuration: expected a JSON object, found {}", kind_name(value->kind()));
  return *std::move(value);
}

std::map<std::string, std::string> annotations_of(const doc::Value& object) {
  return doc::text_map_at(object, "metadata.annotations");
}

Result<NetworkInfo> read_network(const std::string& ns, const std::string& name, const doc::Value& definition) {
  const std::string config(doc::text_at(definition, "spec.config"));
  return NetworkInfo{ns, name, TRY(parse_network_config(config).context("network {}/{}", ns, name)),
                     annotations_of(definition)[kResourceAnnotation]};
}

}  // namespace railbed::agent
