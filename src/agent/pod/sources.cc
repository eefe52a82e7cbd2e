// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/sources.h"

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
  std::map<std::string, std::string> out;
  const doc::Value* metadata = doc::object_in(object, "metadata");
  const doc::Value* annotations = metadata != nullptr ? doc::object_in(*metadata, "annotations") : nullptr;
  if (annotations == nullptr) return out;
  for (const doc::Value::Member& one : *annotations->as_object())
    if (one.value.is_string()) out[one.key] = *one.value.as_string();
  return out;
}

Result<NetworkInfo> read_network(const std::string& ns, const std::string& name, const doc::Value& definition) {
  const doc::Value* spec = doc::object_in(definition, "spec");
  const std::string config = spec != nullptr ? doc::text_in(*spec, "config") : "";
  return NetworkInfo{ns, name, TRY(parse_network_config(config).context("network {}/{}", ns, name)),
                     annotations_of(definition)["k8s.v1.cni.cncf.io/resourceName"]};
}

}  // namespace railbed::agent
