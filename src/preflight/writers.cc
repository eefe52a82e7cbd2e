// SPDX-License-Identifier: Apache-2.0
#include "preflight/writers.h"

#include <algorithm>
#include <map>

#include "base/format.h"
#include "doc/members.h"
#include "kube/kinds.h"
#include "kube/object.h"

namespace railbed::preflight {
namespace {

using doc::Value;

// What railbed and the SR-IOV operator make definitions of, and definitions themselves.
constexpr kube::Resource kDefinitionKinds[] = {kube::kNetworkDefinitions, kube::kSriovNetworks, kube::kSriovIbNetworks};

bool has(const Value& rule, std::string_view member, std::initializer_list<std::string_view> wanted) {
  const std::vector<std::string> texts = doc::texts_in(rule, member);
  return std::ranges::any_of(wanted,
                             [&](std::string_view one) { return std::ranges::find(texts, one) != texts.end(); });
}

bool writes_definitions(const Value& rule) {
  if (!has(rule, "verbs", {"create", "update", "patch", "*"})) return false;
  return std::ranges::any_of(kDefinitionKinds, [&](const kube::Resource& kind) {
    return has(rule, "apiGroups", {kind.group, "*"}) && has(rule, "resources", {kind.plural, "*"});
  });
}

bool allows_everything(const Value& rule) {
  return has(rule, "verbs", {"*"}) && has(rule, "apiGroups", {"*"}) && has(rule, "resources", {"*"});
}

bool any_rule(const Value& role, bool (*test)(const Value& rule)) {
  const Value::Array* rules = doc::list_in(role, "rules");
  return rules != nullptr && std::ranges::any_of(*rules, test);
}

// "ClusterRole edit", "Role ai/deployer"
std::string role_key(const std::string& kind, const std::string& ns, const std::string& name) {
  return kind == "Role" ? fmt::format("Role {}/{}", ns, name) : fmt::format("ClusterRole {}", name);
}

// Empty for those that are left out.
std::string subject_of(const Value& subject, const std::string& own_ns) {
  const std::string kind = doc::text_in(subject, "kind"), name = doc::text_in(subject, "name");
  if (kind != "ServiceAccount") {
    const bool everybody = DefinitionWriter{fmt::format("{} {}", kind, name), "", ""}.is_everybody();
    const bool of_an_account = name.starts_with("system:serviceaccount");
    if (name.starts_with("system:") && !everybody && !of_an_account) return "";
    return fmt::format("{} {}", kind, name);
  }
  const std::string ns = doc::text_in(subject, "namespace");
  if (ns == "kube-system" || ns == own_ns) return "";
  return fmt::format("ServiceAccount {}/{}", ns, name);
}

}  // namespace

bool DefinitionWriter::is_everybody() const {
  return subject == "Group system:authenticated" || subject == "Group system:unauthenticated" ||
         subject == "Group system:serviceaccounts";
}

std::string DefinitionWriter::to_string() const {
  if (subject.empty()) return fmt::format("{} (not bound yet)", role);
  return fmt::format("{} by {}{}", subject, role, ns.empty() ? "" : fmt::format(" in namespace {}", ns));
}

std::set<DefinitionWriter> definition_writers(const std::vector<Value>& roles, const std::vector<Value>& bindings,
                                              const std::string& ns) {
  struct Role {
    bool administers = false;
    bool is_bound = false;
  };
  std::map<std::string, Role> writers;
  for (const Value& role : roles)
    if (any_rule(role, writes_definitions)) {
      const kube::ObjectKey key = kube::key_of(role);
      writers[role_key(doc::text_in(role, "kind"), key.ns, key.name)].administers = any_rule(role, allows_everything);
    }
  std::set<DefinitionWriter> out;
  for (const Value& binding : bindings) {
    const Value* ref = doc::object_in(binding, "roleRef");
    const Value::Array* subjects = doc::list_in(binding, "subjects");
    if (ref == nullptr || subjects == nullptr) continue;
    const std::string bound_ns = kube::key_of(binding).ns;
    const auto role = writers.find(role_key(doc::text_in(*ref, "kind"), bound_ns, doc::text_in(*ref, "name")));
    if (role == writers.end()) continue;
    role->second.is_bound = true;
    if (role->second.administers && bound_ns.empty()) {
      const bool everybody = std::ranges::any_of(
          *subjects, [&](const Value& one) { return DefinitionWriter{subject_of(one, ns), "", ""}.is_everybody(); });
      if (!everybody) continue;
    }
    for (const Value& subject : *subjects)
      if (std::string who = subject_of(subject, ns); !who.empty()) out.insert({std::move(who), role->first, bound_ns});
  }
  // What the owner of a namespace gets with it.
  for (const char* given : {"ClusterRole admin", "ClusterRole edit"})
    if (const auto role = writers.find(given); role != writers.end() && !role->second.is_bound)
      out.insert({.subject = "", .role = given, .ns = ""});
  return out;
}

}  // namespace railbed::preflight
