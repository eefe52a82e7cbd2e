// SPDX-License-Identifier: Apache-2.0
#include "api/ip_pool.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/format.h"
#include "base/number.h"
#include "doc/members.h"

namespace railbed::api {
namespace {

using doc::Value;

// As whereabouts reads it: an int64 that is no distance backwards.
std::optional<uint64_t> distance_of(std::string_view key) {
  const std::optional<int64_t> number = whole_number<int64_t>(key);
  if (number.value_or(-1) < 0) return std::nullopt;
  return static_cast<uint64_t>(*number);
}

}  // namespace

Result<IpPool> read_ip_pool(const Value& object) {
  IpPool pool;
  const Value* metadata = doc::object_in(object, "metadata");
  if (metadata == nullptr) return fail(Code::kInvalid, "an IPPool without metadata");
  pool.ns = doc::text_in(*metadata, "namespace");
  pool.name = doc::text_in(*metadata, "name");
  const Value* spec = doc::object_in(object, "spec");
  if (spec == nullptr) return fail(Code::kInvalid, "IPPool {}/{}: no spec", pool.ns, pool.name);
  pool.range =
      TRY(IpPrefix::parse(doc::text_in(*spec, "range")).context("IPPool {}/{}: spec.range", pool.ns, pool.name));
  const Value* allocations = doc::object_in(*spec, "allocations");
  if (allocations == nullptr) return pool;
  for (const Value::Member& member : *allocations->as_object()) {
    const std::optional<uint64_t> distance = distance_of(member.key);
    if (!distance) continue;
    // Whatever else it says, the address is taken.
    pool.allocations[*distance] = {doc::text_in(member.value, "id"), doc::text_in(member.value, "podref")};
  }
  return pool;
}

std::string ip_pool_name(std::string_view network_name, const IpPrefix& range) {
  std::string text = IpPrefix{range.network(), range.length}.to_string();
  std::ranges::replace_if(text, [](char c) { return c == ':' || c == '/'; }, '-');
  return network_name.empty() ? text : fmt::format("{}-{}", network_name, text);
}

std::optional<std::string> network_name_of(const IpPool& pool) {
  const std::string plain = ip_pool_name("", pool.range);
  if (pool.name == plain) return "";
  if (!pool.name.ends_with("-" + plain)) return std::nullopt;
  return pool.name.substr(0, pool.name.size() - plain.size() - 1);
}

void apply_change(Value& object, const IpPoolChange& change) {
  Value* spec = object.find("spec");
  if (spec == nullptr || !spec->is_object()) spec = &object.set("spec", Value::object());
  Value* allocations = spec->find("allocations");
  if (allocations == nullptr || !allocations->is_object()) allocations = &spec->set("allocations", Value::object());
  std::erase_if(*allocations->as_object(), [&](const Value::Member& member) {
    const std::optional<uint64_t> distance = distance_of(member.key);
    return distance && (change.drop.contains(*distance) || change.put.contains(*distance));
  });
  for (const auto& [distance, allocation] : change.put) {
    Value& entry = allocations->set(std::to_string(distance), Value::object());
    entry.set("id", allocation.id);
    entry.set("podref", allocation.pod_ref);
  }
}

Value new_ip_pool(const std::string& ns, const std::string& network_name, const IpPrefix& range) {
  Value out = Value::object();
  out.set("apiVersion", "whereabouts.cni.cncf.io/v1alpha1");
  out.set("kind", "IPPool");
  Value& metadata = out.set("metadata", Value::object());
  metadata.set("name", ip_pool_name(network_name, range));
  metadata.set("namespace", ns);
  Value& spec = out.set("spec", Value::object());
  spec.set("range", IpPrefix{range.network(), range.length}.to_string());
  spec.set("allocations", Value::object());
  return out;
}

}  // namespace railbed::api
