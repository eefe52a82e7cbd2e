// SPDX-License-Identifier: Apache-2.0
#include "preflight/operator_settings.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "api/cluster_labels.h"
#include "base/format.h"
#include "base/well_known.h"
#include "doc/members.h"
#include "kube/object.h"

namespace railbed::preflight {

using doc::Value;

namespace {

constexpr std::string_view kUsualPrefix = "openshift.io";

std::vector<Value> main_containers(const Value& workload) {
  const Value* all = doc::at(workload, "spec.template.spec.containers");
  return all != nullptr && all->is_array() ? std::vector<Value>(all->as_array()->begin(), all->as_array()->end())
                                           : std::vector<Value>();
}

// The value of `--name value` or `--name=value`.
std::optional<std::string> option_in(const std::vector<std::string>& args, const std::string& name) {
  std::optional<std::string> out;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].starts_with(name + "=")) out = args[i].substr(name.size() + 1);
    if (args[i] == name && i + 1 < args.size()) out = args[i + 1];
  }
  return out;
}

// Of a container of railbed with this verb.
std::optional<std::vector<std::string>> arguments_of(const ClusterLook& look, std::string_view verb) {
  for (const Value& workload : look.workloads)
    for (const Value& container : main_containers(workload)) {
      std::vector<std::string> args = doc::texts_in(container, "args");
      if (doc::text_in(container, "image").find("railbed-") != std::string::npos && !args.empty() &&
          args.front() == verb)
        return args;
    }
  return std::nullopt;
}

bool is_sriov_operator(const Value& workload) {
  const size_t equals = api::kUpstreamOperatorPods.find('=');
  return doc::text_in(doc::at(workload, "spec.template.metadata.labels"),
                      api::kUpstreamOperatorPods.substr(0, equals)) == api::kUpstreamOperatorPods.substr(equals + 1);
}

class Prefixes {
 public:
  explicit Prefixes(const ClusterLook& look) : look_(look) {
    for (const Value& policy : look.policies)
      if (const std::string_view name = doc::text_at(policy, "spec.resourceName"); !name.empty()) names_.emplace(name);
  }

  PrefixPlaces run() {
    for (const Value& one : look_.attachments) add(kube::annotation_of(one, kResourceAnnotation), kube::describe(one));
    for (const Value& node : look_.nodes)
      if (const Value* offered = doc::at(node, "status.allocatable"); offered != nullptr && offered->is_object())
        for (const Value::Member& resource : *offered->as_object()) add(resource.key, kube::describe(node));
    for (const Value& workload : look_.workloads)
      if (is_sriov_operator(workload)) read_environment(workload);
    return std::move(out_);
  }

 private:
  // Those of other device plugins are none of a policy's.
  void add(std::string_view resource, const std::string& place) {
    const size_t slash = resource.find('/');
    if (slash == std::string_view::npos || !names_.contains(std::string(resource.substr(slash + 1)))) return;
    out_[std::string(resource.substr(0, slash))].insert(place);
  }
  void read_environment(const Value& workload) {
    for (const Value& container : main_containers(workload))
      if (const Value::Array* all = doc::list_in(container, "env"))
        for (const Value& one : *all)
          if (const std::string prefix = doc::text_in(one, "value");
              doc::text_in(one, "name") == "RESOURCE_PREFIX" && !prefix.empty())
            out_[prefix].insert(kube::describe(workload));
  }

  const ClusterLook& look_;
  std::set<std::string> names_;
  PrefixPlaces out_;
};

}  // namespace

PrefixPlaces prefixes_in_use(const ClusterLook& look) {
  return Prefixes(look).run();
}

OperatorSettings operator_settings(const ClusterLook& look) {
  const auto args = arguments_of(look, "operator");
  OperatorSettings out{.is_installed = args.has_value(),
                       .resource_prefix = std::string(kUsualPrefix),
                       .namespaces = {std::begin(api::kPolicyNamespaces), std::end(api::kPolicyNamespaces)},
                       .agents_prefix = ""};
  if (args) {
    if (auto prefix = option_in(*args, "--resource-prefix")) out.resource_prefix = *std::move(prefix);
    if (const auto listed = option_in(*args, "--policy-namespaces")) {
      out.namespaces.clear();
      for (std::string_view rest = *listed; !rest.empty();) {
        const std::string_view one = rest.substr(0, rest.find(','));
        out.namespaces.emplace(one);
        rest.remove_prefix(std::min(rest.size(), one.size() + 1));
      }
    }
    if (auto own = option_in(*args, "--namespace")) out.namespaces.insert(*std::move(own));
  }
  out.namespaces.insert(look.ns);
  if (const auto agents = arguments_of(look, "agent"))
    out.agents_prefix = option_in(*agents, "--resource-prefix").value_or("");
  return out;
}

std::map<std::string, bool> uncounted_namespaces(const ClusterLook& look, const OperatorSettings& settings) {
  std::map<std::string, bool> out;
  const auto add = [&](const Value& object) {
    if (const std::string ns = kube::key_of(object).ns; !settings.namespaces.contains(ns)) out.emplace(ns, false);
  };
  for (const Value& policy : look.policies)
    if (kube::key_of(policy).name != "default") add(policy);
  // A network that stays in its namespace is served wherever it is.
  for (const Value& network : look.networks)
    if (const std::string_view target = doc::text_at(network, "spec.networkNamespace");
        !target.empty() && target != kube::key_of(network).ns)
      add(network);
  for (const Value& workload : look.workloads)
    if (const auto found = out.find(kube::key_of(workload).ns); found != out.end() && is_sriov_operator(workload))
      found->second = true;
  return out;
}

}  // namespace railbed::preflight
