// SPDX-License-Identifier: Apache-2.0
#include "admission/match.h"

#include <algorithm>

#include "base/format.h"
#include "base/object_names.h"
#include "base/well_known.h"
#include "doc/members.h"

namespace railbed::admission {
namespace {

constexpr std::string_view kAsking[] = {kNetworksAnnotation, kDefaultNetworkAnnotation};

std::vector<std::string> possible(const std::vector<std::string>& labels) {
  std::vector<std::string> out;
  std::ranges::copy_if(labels, std::back_inserter(out), [](const std::string& key) { return is_label_key(key); });
  return out;
}

// "(has(object.metadata.M) && ('a' in object.metadata.M || 'b' in object.metadata.M))"
template <typename Keys>
std::string has_one_of(std::string_view map, const Keys& keys) {
  std::string any;
  for (const auto& key : keys) {
    if (!any.empty()) any += " || ";
    any += fmt::format("'{}' in object.metadata.{}", key, map);
  }
  return fmt::format("(has(object.metadata.{}) && ({}))", map, any);
}

template <typename Keys>
bool has_any(const doc::Value& pod, std::string_view map, const Keys& keys) {
  const doc::Value* metadata = doc::object_in(pod, "metadata");
  const doc::Value* found = metadata == nullptr ? nullptr : doc::object_in(*metadata, map);
  return found != nullptr && std::ranges::any_of(keys, [&](const auto& key) { return found->find(key) != nullptr; });
}

}  // namespace

std::vector<MatchCondition> match_conditions(const std::vector<std::string>& labels) {
  std::string asks = has_one_of("annotations", kAsking);
  if (const std::vector<std::string> keys = possible(labels); !keys.empty())
    asks += " || " + has_one_of("labels", keys);
  return {{"asks-for-networks", std::move(asks)},
          {"has-its-own-network", "!(has(object.spec.hostNetwork) && object.spec.hostNetwork)"}};
}

bool must_call(const doc::Value& pod, const std::vector<std::string>& labels) {
  if (doc::flag_at(pod, "spec.hostNetwork").value_or(false)) return false;
  return has_any(pod, "annotations", kAsking) || has_any(pod, "labels", possible(labels));
}

}  // namespace railbed::admission
