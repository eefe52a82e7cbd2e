// SPDX-License-Identifier: Apache-2.0
#include "controller/identities.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/format.h"
#include "base/types.h"
#include "base/well_known.h"
#include "doc/members.h"
#include "kube/object.h"
#include "kube/pod.h"

namespace railbed::controller {
namespace {

using doc::Value;

constexpr size_t kMostNamed = 5;
// An InfiniBand interface's address: four bytes of queue pair, then the GID, whose second half is the port's GUID.
constexpr size_t kIpoibText = 20 * 3 - 1, kGuidText = 8 * 3 - 1;

std::optional<std::string> identity_of(const std::string& address) {
  if (address.size() == kIpoibText) {
    const Result<Guid> guid = Guid::parse(address.substr(kIpoibText - kGuidText));
    if (!guid.has_value() || guid->is_zero()) return std::nullopt;
    return fmt::format("GUID {}", guid->to_string());
  }
  const Result<MacAddress> mac = MacAddress::parse(address);
  if (!mac.has_value() || mac->is_zero()) return std::nullopt;
  return fmt::format("MAC {}", mac->to_string());
}

std::string status_text(const Value& pod) {
  return kube::annotation_of(pod, kNetworkStatusAnnotation);
}

bool is_vf(const Value& element) {
  return doc::text_at(element, "device-info.type") == "pci";
}

bool is_of_two_nodes(const std::vector<IdentityHolder>& holders) {
  return std::ranges::any_of(holders, [&](const IdentityHolder& one) { return one.node != holders.front().node; });
}

// Those among them that would meet in one network.
std::vector<std::vector<IdentityHolder>> groups_of(const std::string& identity,
                                                   const std::vector<IdentityHolder>& holders) {
  if (identity.starts_with("GUID")) return {holders};
  std::map<std::string, std::vector<IdentityHolder>> by_network;
  std::vector<IdentityHolder> of_vfs;
  for (const IdentityHolder& one : holders) {
    if (one.of_vf)
      of_vfs.push_back(one);
    else
      by_network[one.network].push_back(one);
  }
  std::vector<std::vector<IdentityHolder>> groups{std::move(of_vfs)};
  for (auto& [network, group] : by_network) groups.push_back(std::move(group));
  return groups;
}

}  // namespace

kube::Trim identity_trim() {
  return kube::keep_fields({"spec.nodeName", "status.phase"});
}

void Identities::add(const Value& pod) {
  const std::string text = status_text(pod);
  if (text.empty() || kube::has_ended(pod)) return;
  const Result<Value> parsed = kube::parse_object(fmt::format(R"({{"all":{}}})", text));
  const Value::Array* elements = parsed.has_value() ? doc::list_in(*parsed, "all") : nullptr;
  if (elements == nullptr) return;
  for (const Value& one : *elements) {
    if (!one.is_object() || doc::flag_in(one, "default")) continue;
    if (const std::optional<std::string> identity = identity_of(doc::text_in(one, "mac")))
      holders_[*identity].push_back({.pod = kube::key_of(pod),
                                     .node = kube::node_of_pod(pod),
                                     .network = doc::text_in(one, "name"),
                                     .interface = doc::text_in(one, "interface"),
                                     .of_vf = is_vf(one),
                                     .uid = kube::uid_of(pod)});
  }
}

std::vector<SharedIdentity> Identities::shared() const {
  std::vector<SharedIdentity> out;
  for (const auto& [identity, holders] : holders_)
    for (std::vector<IdentityHolder>& group : groups_of(identity, holders)) {
      if (group.empty() || !is_of_two_nodes(group)) continue;
      std::ranges::sort(group);
      out.push_back({identity, std::move(group)});
    }
  return out;
}

std::string to_text(const SharedIdentity& shared) {
  std::vector<std::string> named;
  for (const IdentityHolder& one : shared.holders) {
    if (named.size() == kMostNamed) break;
    named.push_back(fmt::format("{} ({} of {}, {})", one.pod.to_string(), one.interface, one.network, one.node));
  }
  if (shared.holders.size() > named.size())
    named.push_back(fmt::format("and {} more", shared.holders.size() - named.size()));
  return fmt::format("{}: {}", shared.what, fmt::join(named, ", "));
}

}  // namespace railbed::controller
