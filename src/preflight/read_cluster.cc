// SPDX-License-Identifier: Apache-2.0
#include "preflight/read_cluster.h"

#include <map>

#include "base/format.h"
#include "doc/fields.h"
#include "doc/members.h"
#include "doc/yaml.h"
#include "kube/kinds.h"

namespace railbed::preflight {

using doc::Value;

namespace {

constexpr kube::Resource kDaemonSets = kube::resource_of(kind_named("DaemonSet"));
constexpr kube::Resource kDeployments = kube::resource_of(kind_named("Deployment"));
constexpr kube::Resource kConfigMaps = kube::resource_of(kind_named("ConfigMap"));
constexpr kube::Resource kServiceAccounts = kube::resource_of(kind_named("ServiceAccount"));
constexpr kube::Resource kClusterRoles = kube::resource_of(kind_named("ClusterRole"));
constexpr kube::Resource kRoles = kube::resource_of(kind_named("Role"));
constexpr kube::Resource kClusterRoleBindings = kube::resource_of(kind_named("ClusterRoleBinding"));
constexpr kube::Resource kRoleBindings = kube::resource_of(kind_named("RoleBinding"));
constexpr kube::Resource kAccessReviews = kube::resource_of(kind_named("SubjectAccessReview"));

// By name, so that no user has to grant the right to read all of them.
const kube::ObjectKey kKnownConfigMaps[] = {
    {"kube-system", "cilium-config"},
    {"kube-system", "multus-daemon-config"},
};

class Reader {
 public:
  Reader(kube::Client& client, kube::Transport& transport, ClusterLook& look)
      : client_(client), transport_(transport), look_(look) {}

  Result<void> server() {
    const Value version = TRY(page("/version"));
    look_.version = doc::text_in(version, "gitVersion");
    const Result<Value> groups = page("/apis");
    if (!groups) {
      unknown("API groups", groups.error());
      return {};
    }
    if (const Value::Array* all = doc::list_in(*groups, "groups"))
      for (const Value& group : *all)
        if (const Value::Array* versions = doc::list_in(group, "versions"))
          for (const Value& one : *versions) look_.groups.push_back(doc::text_in(one, "groupVersion"));
    return {};
  }

  void lists() {
    list(kube::kNodes, {"status.nodeInfo", "status.allocatable"}, look_.nodes);
    for (const kube::Resource& kind : {kDaemonSets, kDeployments})
      list(kind,
           {"spec.template.metadata.labels", "spec.template.spec.containers", "spec.template.spec.initContainers"},
           look_.workloads);
    list(kube::kCrds, {}, look_.definitions);
    for (const kube::Resource& kind : {kClusterRoles, kRoles}) list(kind, {"rules"}, look_.roles);
    for (const kube::Resource& kind : {kClusterRoleBindings, kRoleBindings})
      list(kind, {"roleRef", "subjects"}, look_.bindings);
    list(kube::kPolicies, {"spec.resourceName"}, look_.policies);
    for (const kube::Resource& kind : {kube::kSriovNetworks, kube::kSriovIbNetworks})
      list(kind, {"spec.networkNamespace"}, look_.networks);
    list(kube::kNetworkDefinitions, {}, look_.attachments);
    list(kube::kIpPools, {"spec.allocations"}, look_.pools);
    list(kube::kNodeSlicePools, {}, look_.pools);
    for (const kube::ObjectKey& key : kKnownConfigMaps)
      if (auto found = get(kConfigMaps, key)) look_.config_maps.push_back(std::move(*found));
    look_.own_namespace = get(kube::kNamespaces, {"", look_.ns});
  }

  void rights(const std::vector<GrantedRule>& granted) {
    std::map<std::string, bool> is_there;
    for (const GrantedRule& rule : granted) {
      const auto [known, is_new] = is_there.try_emplace(rule.account, false);
      if (is_new) known->second = get(kServiceAccounts, {look_.ns, rule.account}).has_value();
      if (!known->second) continue;
      for (const std::string& group : rule.groups)
        for (const std::string& resource : rule.resources)
          for (const std::string& verb : rule.verbs)
            if (!ask(rule, group, resource, verb)) return;
    }
  }

 private:
  void unknown(std::string_view kind, const Error& error) {
    look_.unknown.push_back(fmt::format("{}: {}", kind, error.message));
  }

  Result<Value> page(const std::string& target) {
    const kube::Response answer = TRY(transport_.send({.target = target}, {}).result());
    return kube::parse_object(answer.body).context("GET {}", target);
  }

  void list(const kube::Resource& kind, std::vector<std::string> fields, std::vector<Value>& into) {
    auto found = client_.list(kind, {}, kube::keep_fields(std::move(fields)));
    if (!found && found.error().code != Code::kNotFound) unknown(kind.kind, found.error());
    if (found) std::ranges::move(found->objects, std::back_inserter(into));
  }

  std::optional<Value> get(const kube::Resource& kind, const kube::ObjectKey& key) {
    auto found = client_.get(kind, key);
    if (found) return std::move(*found);
    if (found.error().code != Code::kNotFound) unknown(kind.kind, found.error());
    return std::nullopt;
  }

  // False where there is no use in asking for more.
  bool ask(const GrantedRule& rule, const std::string& group, const std::string& resource, const std::string& verb) {
    const size_t slash = resource.find('/');
    Value attributes = Value::object();
    if (!rule.everywhere) attributes.set("namespace", look_.ns);
    attributes.set("verb", verb);
    attributes.set("group", group);
    attributes.set("resource", resource.substr(0, slash));
    if (slash != std::string::npos) attributes.set("subresource", resource.substr(slash + 1));
    if (!rule.names.empty()) attributes.set("name", rule.names.front());
    Value review = Value::object();
    review.set("apiVersion", kAccessReviews.api_version());
    review.set("kind", kAccessReviews.kind);
    review.set("metadata", Value::object());
    Value& spec = review.set("spec", Value::object());
    spec.set("user", fmt::format("system:serviceaccount:{}:{}", look_.ns, rule.account));
    spec.set("resourceAttributes", std::move(attributes));
    const auto answer = client_.create(kAccessReviews, review);
    if (!answer) {
      unknown(kAccessReviews.kind, answer.error());
      return false;
    }
    const Value* status = doc::object_in(*answer, "status");
    if (status == nullptr || !doc::flag_in(*status, "allowed"))
      look_.missing_rights.push_back(
          {rule.account,
           fmt::format("{} {}{}", verb, resource, rule.everywhere ? "" : fmt::format(" in namespace {}", look_.ns))});
    return true;
  }

  kube::Client& client_;
  kube::Transport& transport_;
  ClusterLook& look_;
};

}  // namespace

std::vector<GrantedRule> rules_of(const std::string& yaml) {
  std::vector<GrantedRule> out;
  doc::Diagnostics problems;
  for (const Value& one : doc::parse_yaml(std::make_shared<doc::Source>("rbac", yaml), problems)) {
    const std::string kind = doc::text_in(one, "kind");
    const Value::Array* rules = doc::list_in(one, "rules");
    if ((kind != "ClusterRole" && kind != "Role") || rules == nullptr) continue;
    for (const Value& rule : *rules)
      out.push_back({.account = kube::key_of(one).name,
                     .everywhere = kind == "ClusterRole",
                     .groups = doc::texts_in(rule, "apiGroups"),
                     .resources = doc::texts_in(rule, "resources"),
                     .verbs = doc::texts_in(rule, "verbs"),
                     .names = doc::texts_in(rule, "resourceNames")});
  }
  return out;
}

Result<ClusterLook> look_at_cluster(kube::Client& client, kube::Transport& transport, const std::string& ns,
                                    const std::vector<GrantedRule>& granted) {
  ClusterLook look;
  look.ns = ns;
  Reader reader(client, transport, look);
  TRY(reader.server());
  reader.lists();
  reader.rights(granted);
  return look;
}

}  // namespace railbed::preflight
