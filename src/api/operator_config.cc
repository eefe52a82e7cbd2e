// SPDX-License-Identifier: Apache-2.0
#include "api/operator_config.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "api/compare.h"
#include "api/metadata.h"
#include "api/placement.h"
#include "base/format.h"
#include "doc/members.h"
#include "schema/schema.h"

namespace railbed::api {

namespace {

using doc::Value;

// Takes the fields out of the spec that the schema of the kind does not have.
std::vector<std::string> take_unknown(Value& object, std::string_view kind) {
  std::vector<std::string> out;
  Value* spec = object.find("spec");
  if (spec == nullptr || !spec->is_object()) return out;
  const schema::Schema& known = *schema::find_schema("", kind)->fields.at("spec");
  std::erase_if(*spec->as_object(), [&](const Value::Member& member) {
    if (known.fields.contains(member.key)) return false;
    out.push_back(member.key);
    return true;
  });
  return out;
}

// A spec may be absent: all of its fields may.
template <auto read>
auto parse_known(std::string_view kind, const Value& object, doc::Diagnostics& diagnostics) {
  Value known = object;
  std::vector<std::string> unknown = take_unknown(known, kind);
  if (known.find("spec") == nullptr) known.set("spec", Value::object());
  auto out = parsed<read>(kind, known, StatusPart::kSkipped, diagnostics);
  if (out) out->unknown = std::move(unknown);
  return out;
}

}  // namespace

std::string MaxUnavailable::to_string() const {
  return fmt::format("{}{}", number, percent ? "%" : "");
}

Result<MaxUnavailable> parse_max_unavailable(const Value& value) {
  if (const int64_t* number = value.as_int(); number != nullptr) {
    if (*number < 0 || *number > std::numeric_limits<int>::max())
      return fail(Code::kInvalid, "{} is no number of nodes: write 0 or more, or a percentage such as \"25%\"",
                  *number);
    return MaxUnavailable{.number = static_cast<int>(*number)};
  }
  const std::string* text = value.as_string();
  if (text == nullptr) return fail(Code::kInvalid, "it is neither a number nor a percentage such as \"25%\"");
  const char* end = text->data() + text->size();
  int number = -1;
  const auto [rest, failed] = std::from_chars(text->data(), end, number);
  const bool is_number = failed == std::errc() && number >= 0 && text->front() != '-';
  if (is_number && rest == end)
    return fail(Code::kInvalid, "\"{}\" is a text without %: write {}, or \"{}%\" for a percentage", *text, number,
                std::min(number, 100));
  if (!is_number || std::string_view(rest, static_cast<size_t>(end - rest)) != "%")
    return fail(Code::kInvalid, "\"{}\" is no percentage: write a whole number and %, such as \"25%\"", *text);
  if (number > 100) return fail(Code::kInvalid, "\"{}\" is more than all nodes: write \"100%\" at most", *text);
  return MaxUnavailable{.number = number, .percent = true};
}

SriovOperatorConfig read_operator_config(const Value& object, doc::Diagnostics& out) {
  SriovOperatorConfig config;
  config.meta = read_metadata(object, out);
  const Value* spec = doc::object_in(object, "spec");
  if (spec == nullptr) return config;
  config.daemon_variables = doc::text_map_at(*spec, "configDaemonEnvVars");
  config.daemon_selector = doc::text_map_at(*spec, "configDaemonNodeSelector");
  config.configuration_mode = doc::text_in(*spec, "configurationMode");
  config.disable_drain = doc::flag_in(*spec, "disableDrain");
  config.disabled_plugins = doc::texts_in(*spec, "disablePlugins");
  config.injector = doc::optional_flag(*spec, "enableInjector");
  config.webhook = doc::optional_flag(*spec, "enableOperatorWebhook");
  config.ovs_offload = doc::optional_flag(*spec, "enableOvsOffload");
  config.cdi = doc::optional_flag(*spec, "useCDI");
  config.log_level = doc::optional_number(*spec, "logLevel");
  if (const Value* gates = doc::object_in(*spec, "featureGates"))
    for (const Value::Member& gate : *gates->as_object())
      config.feature_gates[gate.key] = doc::flag_in(*gates, gate.key);
  return config;
}

SriovNetworkPoolConfig read_pool_config(const Value& object, doc::Diagnostics& out) {
  SriovNetworkPoolConfig pool;
  pool.meta = read_metadata(object, out);
  const Value* spec = doc::object_in(object, "spec");
  if (spec == nullptr) return pool;
  if (const Value* most = spec->find("maxUnavailable"); most != nullptr && !most->is_null()) {
    if (Result<MaxUnavailable> read = parse_max_unavailable(*most); read.has_value())
      pool.max_unavailable = *read;
    else
      wrong_value(most->span, "spec.maxUnavailable: " + read.error().message, out);
  }
  if (const Value* selector = doc::object_in(*spec, "nodeSelector"))
    pool.node_selector = read_label_selector(*selector);
  pool.rdma_mode = doc::text_in(*spec, "rdmaMode");
  if (const Value* offload = doc::object_in(*spec, "ovsHardwareOffloadConfig")) {
    pool.ovs_offload = doc::text_in(*offload, "name");
    pool.ovs_other_config = doc::text_map_at(*offload, "otherConfig");
  }
  return pool;
}

std::optional<SriovOperatorConfig> parse_operator_config(const Value& object, doc::Diagnostics& diagnostics) {
  return parse_known<read_operator_config>(kind_named("SriovOperatorConfig").name, object, diagnostics);
}

std::optional<SriovNetworkPoolConfig> parse_pool_config(const Value& object, doc::Diagnostics& diagnostics) {
  return parse_known<read_pool_config>(kind_named("SriovNetworkPoolConfig").name, object, diagnostics);
}

}  // namespace railbed::api
