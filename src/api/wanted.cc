// SPDX-License-Identifier: Apache-2.0
#include "api/wanted.h"

#include "api/names.h"
#include "base/format.h"
#include "doc/fields.h"
#include "doc/json.h"
#include "doc/members.h"

namespace railbed::api {

namespace {

using doc::Value;

// Quotas count "requests.PREFIX/NAME", and before the slash a name has at most 253 bytes.
constexpr std::string_view kOfQuotas = "requests.";
constexpr size_t kLongestPrefix = 253 - kOfQuotas.size();

}  // namespace

std::string why_no_prefix(std::string_view prefix) {
  if (!is_dns_subdomain(prefix) || prefix.size() > kLongestPrefix)
    return fmt::format("\"{}\" is not a valid resource prefix: lower-case letters, digits, '-' and '.', at most {}",
                       prefix, kLongestPrefix);
  if (prefix == "kubernetes.io" || prefix.ends_with(".kubernetes.io") || prefix.starts_with(kOfQuotas))
    return fmt::format("\"{}\" is not a valid resource prefix: it is reserved for Kubernetes", prefix);
  return "";
}

std::string to_text(const Wanted& wanted) {
  Value out = Value::object();
  doc::put_flag(out, "leftAlone", wanted.left_alone);
  if (wanted.log_level) out.set("logLevel", *wanted.log_level);
  out.set("resourcePrefix", wanted.resource_prefix);
  out.set("version", kWantedVersion);
  return doc::to_json(out);
}

Result<Wanted> read_wanted(std::string_view text) {
  if (text.size() > kLongestWanted)
    return fail(Code::kInvalid, "it has {} bytes, at most {} are read", text.size(), kLongestWanted);
  const Value object = TRY(doc::read_object("", text));
  doc::Diagnostics found;
  doc::Fields fields(object, "", doc::kNoFamily, found);
  int version = 0;
  fields.need("version", version);
  TRY(doc::first_error(found));
  if (version != kWantedVersion)
    return fail(Code::kUnsupported, "its version is {}, this agent reads version {}: upgrade the agent", version,
                kWantedVersion);
  Wanted out;
  fields.need("resourcePrefix", out.resource_prefix);
  fields.read("leftAlone", out.left_alone);
  fields.read("logLevel", out.log_level, {.min = 0, .max = kMostLogLevel});
  TRY(doc::first_error(found));
  if (std::string why = why_no_prefix(out.resource_prefix); !why.empty())
    return fail(Code::kInvalid, "resourcePrefix: {}", why);
  return out;
}

Result<std::optional<Wanted>> wanted_in(const Metadata& meta) {
  const auto found = meta.annotations.find(std::string(kWantedAnnotation));
  if (found == meta.annotations.end()) return std::optional<Wanted>();
  const std::string* text = found->second->as_string();
  if (text == nullptr) return fail(Code::kInvalid, "annotation {}: it is not text", kWantedAnnotation);
  return std::optional(TRY(read_wanted(*text).context("annotation {}", kWantedAnnotation)));
}

}  // namespace railbed::api
