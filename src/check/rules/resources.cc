// SPDX-License-Identifier: Apache-2.0
// Extended resources: which policies and plugins provide them, which pods need them, and whether there are enough.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "api/policy.h"
#include "check/data_files.h"
#include "check/rules/device_lists.h"
#include "check/rules/dynamic_allocation.h"
#include "check/rules/families.h"
#include "check/rules/lookups.h"
#include "check/rules/versions.h"
#include "graph/vf_range.h"

namespace railbed::check {
namespace {

using doc::Value;

const Value& producers_data() {
  static const Value kData = data_document("producers.yaml");
  return kData;
}

bool matches(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return pattern == name;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

bool made_by_others(std::string_view resource) {
  for (const Value& row : *producers_data().find("resources")->as_array())
    if (matches(text_at(row, "name"), resource)) return true;
  return false;
}

bool is_placeholder_resource(std::string_view resource) {
  const std::string_view prefix = resource.substr(0, resource.find('/'));
  for (const Word& word : texts_at(producers_data(), "placeholder_prefixes"))
    if (prefix == word.text || prefix.ends_with("." + word.text)) return true;
  return prefix.find('<') != std::string_view::npos || prefix.find('{') != std::string_view::npos;
}

struct Request {
  std::string resource;
  doc::Span span;
  const PodView* pod = nullptr;
};

// Every extended resource that a container of the pod requests, once.
std::vector<Request> requests_of(const PodView& pod) {
  std::vector<Request> all;
  std::set<std::string> seen;
  for (const Container& container : pod.pod->containers)
    for (const Value* list : container.resource_maps())
      for (const Value::Member& member : *list->as_object())
        if (member.key.find('/') != std::string::npos && seen.insert(member.key).second)
          all.push_back({member.key, member.key_span, &pod});
  return all;
}

std::vector<Request> requests(const Input& in) {
  std::vector<Request> all;
  for (const PodView& pod : in.views.pods)
    for (Request& request : requests_of(pod)) all.push_back(std::move(request));
  return all;
}

// A producer with the same base name and another prefix.
const Producer* same_base(const Input& in, std::string_view resource) {
  const auto found = in.views.by_base_name.find(base_name(resource));
  if (found == in.views.by_base_name.end()) return nullptr;
  for (const size_t index : found->second)
    if (in.views.producers[index].resource != resource) return &in.views.producers[index];
  return nullptr;
}

// How certain it is that nothing makes what a pod asks for. Where nothing says what else there may be, the objects are
// all of a machine or an API server.
Absence absence_of_resource(const Input& in, const Request& request, bool near) {
  if (in.settings.world == nullptr) return {};
  std::vector<const Document*> makers;
  for (const Producer& producer : in.views.producers) makers.push_back(producer.document);
  return absence_of(*in.settings.world, *request.pod->pod->document, makers, near);
}

bool is_made_elsewhere(const Input& in, std::string_view resource) {
  const World* world = in.settings.world;
  return world != nullptr && (world->resources.contains(resource) || world->resources.contains(base_name(resource)));
}

void nothing_produces(const Input& in, Findings& out) {
  if (in.views.producers.empty()) return;  // a bundle of pods only: its producers are elsewhere
  for (const Request& request : requests(in)) {
    if (made_by_others(request.resource) || is_placeholder_resource(request.resource)) continue;
    if (in.views.producer(request.resource) != nullptr || same_base(in, request.resource) != nullptr) continue;
    if (is_made_elsewhere(in, request.resource)) continue;
    std::vector<std::string_view> made;
    for (const Producer& producer : in.views.producers) made.push_back(producer.resource);
    const std::string near = doc::nearest(request.resource, made);
    const Absence absence =
        absence_of_resource(in, request, !near.empty() && !differ_in_numbers(near, request.resource));
    const std::string pod = request.pod->pod->label();
    auto& reported = out.error(
        request.span,
        absence.why.empty()
            ? fmt::format("no policy or device plugin here creates {}: {} waits for it forever", request.resource, pod)
            : fmt::format("no policy or device plugin here creates {} for {}: {}", request.resource, pod, absence.why));
    reported.severity = absence.severity;
    reported.looks_for(request.resource).rests_on_itself();  // absence_of() has judged what else there is
    const auto& networks = request.pod->resources;
    if (!near.empty())
      reported.note(in.views.producer(near)->span, "this is near").with_fix("did you mean " + near + "?");
    else if (networks.size() == 1 && in.views.producer(networks[0]) != nullptr)
      reported.note(in.views.producer(networks[0])->span, "the pod's network takes its VFs from this one")
          .with_fix(networks[0] + ": 1");
    else
      reported.note(in.views.producers.front().span, fmt::format("made here: {}", fmt::join(made, ", ")))
          .with_fix("ask for one of these, or add the policy or device plugin that makes it");
  }
}

void placeholder_prefix(const Input& in, Findings& out) {
  for (const Request& request : requests(in))
    if (is_placeholder_resource(request.resource) && in.views.producer(request.resource) == nullptr)
      out.error(request.span,
                fmt::format("{} has the prefix of an example; no device plugin makes it", request.resource))
          .with_fix(in.settings.graph.resource_prefix + "/<resourceName of the policy>");
}

std::string_view made_by(const Producer& producer) {
  switch (producer.by) {
    case Producer::By::kPolicy:
      return "SriovNetworkNodePolicy";
    case Producer::By::kSriovPlugin:
      return "sriovDevicePlugin";
    case Producer::By::kSharedPlugin:
      return "rdmaSharedDevicePlugin";
    case Producer::By::kDeviceClass:
      return "DeviceClass";
  }
  return "";
}

// Another producer of the same resource, or a policy with the same base name and another prefix; null: none. Of two
// entries in one list the later one gets the finding.
const Producer* rival(const Views& views, size_t index) {
  const Producer& producer = views.producers[index];
  for (const size_t other : views.by_resource.find(producer.resource)->second) {
    const Producer& one = views.producers[other];
    if (one.by != producer.by || (other < index && one.document == producer.document)) return &one;
  }
  for (const size_t other : views.by_base_name.find(base_name(producer.resource))->second)
    if (views.producers[other].by == Producer::By::kPolicy) return &views.producers[other];
  return nullptr;
}

void produced_twice(const Input& in, Findings& out) {
  for (size_t i = 0; i < in.views.producers.size(); ++i) {
    const Producer& producer = in.views.producers[i];
    const Producer* other = producer.by == Producer::By::kPolicy ? nullptr : rival(in.views, i);
    // A DeviceClass gives the devices of policies a name; RB-RES-013 reports where a device plugin has it, too.
    if (other == nullptr || producer.by == Producer::By::kDeviceClass || other->by == Producer::By::kDeviceClass)
      continue;
    const std::string text =
        producer.resource == other->resource
            ? fmt::format(
                  "{} is made here and by another {}: two plugins register one name with the kubelet, the later one "
                  "wins and the other's pods fail",
                  producer.resource, made_by(*other))
            : fmt::format(
                  "{} is made here and {} by a {}: the operator runs a device plugin of its own, so both count the "
                  "same VFs and allocate them twice",
                  producer.resource, other->resource, made_by(*other));
    out.error(producer.span, text)
        .note(other->span, "the other one")
        .with_fix("keep the policy and leave the resource out of the plugin's list, or the reverse");
  }
}

// Resources of containers whose name has no prefix.
bool is_standard(std::string_view name) {
  static constexpr std::string_view kNames[] = {"cpu", "memory", "ephemeral-storage", "storage"};
  return std::ranges::find(kNames, name) != std::end(kNames) || name.starts_with("hugepages-");
}

void without_prefix(const Input& in, Findings& out) {
  for (const PodView& pod : in.views.pods)
    for (const Container& container : pod.pod->containers) {
      std::set<std::string_view> seen;
      if (container.made) continue;  // an operator reads these names
      for (const std::string_view where : {"resources.limits", "resources.requests"}) {
        const Value* list = at(*container.value, where);
        if (list == nullptr || !list->is_object()) continue;
        for (const Value::Member& member : *list->as_object()) {
          if (!seen.insert(member.key).second) continue;
          const bool placeholder = member.key.find_first_of("<{$") != std::string::npos;
          if (member.key.find('/') != std::string::npos || is_standard(member.key) || placeholder) continue;
          const Producer* meant = same_base(in, member.key);
          auto& reported = out.error(
              member.key_span, fmt::format("{} is not a container resource: an extended resource has a prefix, and "
                                           "the API server rejects {} with this one",
                                           member.key, pod.pod->label()));
          reported.rests_on_itself();
          if (meant != nullptr) reported.note(meant->span, fmt::format("this one is {}", meant->resource));
          reported.with_fix(meant != nullptr
                                ? meant->resource
                                : fmt::format("{}/{}", resource_prefix(in.bundle, in.settings), member.key));
        }
      }
    }
}

// A policy that makes the resource under another prefix, for this pod: of several the one of its environment.
const Producer* policy_with_other_prefix(const Input& in, const Request& request) {
  std::vector<const Producer*> all;
  const auto found = in.views.by_base_name.find(base_name(request.resource));
  if (found == in.views.by_base_name.end()) return nullptr;
  for (const size_t index : found->second) all.push_back(&in.views.producers[index]);
  all = nearest_to(in.settings, *request.pod->pod->document, std::move(all),
                   [](const Producer* one) { return one->document; });
  std::erase_if(all, [&](const Producer* one) { return one->resource == request.resource; });
  return all.empty() || all.front()->by != Producer::By::kPolicy ? nullptr : all.front();
}

// Whether a device plugin beside the pod's file has this prefix: its resources may be made by a file that is checked
// apart.
bool may_be_of_a_plugin(const Input& in, const Request& request) {
  const World* world = in.settings.world;
  const doc::SourcePtr& source = request.pod->pod->document->value.span.source;
  if (world == nullptr || source == nullptr || in.views.producer(request.resource) != nullptr) return false;
  return std::ranges::any_of(world->prefixes, [&](const PrefixSign& sign) {
    return sign.by == PrefixSign::By::kPlugin && request.resource.starts_with(sign.prefix + "/") &&
           sign_holds_for(sign, source->name, world->kustomizations) &&
           world->resources.contains(base_name(request.resource));
  });
}

// Whether some pod asks for what a policy makes by its full name: then the prefix is that of the files' author.
bool is_prefix_used(const Input& in) {
  return std::ranges::any_of(requests(in), [&](const Request& request) {
    const Producer* made = in.views.producer(request.resource);
    return made != nullptr && made->by == Producer::By::kPolicy;
  });
}

void other_prefix(const Input& in, Findings& out) {
  std::optional<bool> used;
  for (const Request& request : requests(in)) {
    if (made_by_others(request.resource) || is_placeholder_resource(request.resource)) continue;
    const Producer* other = policy_with_other_prefix(in, request);
    const Producer* same = in.views.producer(request.resource);
    if (other == nullptr || (same != nullptr && same->by == Producer::By::kPolicy)) continue;
    // "openshift.io/openshift.io/rail0": the policy's name contains a prefix, which RB-API-007 reports.
    if (std::ranges::count(other->resource, '/') > 1 || may_be_of_a_plugin(in, request)) continue;
    const bool plugin = same != nullptr;
    const std::string text =
        fmt::format("{} requests {}, but the policy creates {}{}", request.pod->pod->label(), request.resource,
                    other->resource, plugin ? "; only the device plugin alongside it has the other name" : "");
    auto& reported = plugin ? out.warning(request.span, text) : out.error(request.span, text);
    reported
        .note(other->span, fmt::format("becomes {}: the operator's RESOURCE_PREFIX goes before it", other->resource))
        .with_fix(fmt::format("{}, or the prefix of your operator (--resource-prefix)", other->resource));
    if (is_prefix_known(*other->document, in.settings)) continue;
    if (!used) used = is_prefix_used(in);
    if (!*used)
      reported.at_most(doc::Confidence::kMedium, "nothing says the operator's prefix, and its default is assumed");
  }
}

// Whether the network resources injector runs for a pod: as its own environment says, else wherever one may run;
// nullopt where nothing shows it. That it is off elsewhere proves nothing.
std::optional<bool> injector(const Input& in, const std::vector<const Document*>& configs, const PodView& pod) {
  for (const Document* config : configs)
    if (belong_together(in.settings, *pod.pod->document, *config))
      return flag_at(config->value, "spec.enableInjector").value_or(true);
  const bool may_run = std::ranges::any_of(
      configs, [](const Document* config) { return flag_at(config->value, "spec.enableInjector").value_or(true); });
  return may_run ? std::optional(true) : std::nullopt;
}

// The resources of the pod's networks that none of its containers requests. A request that nothing here fulfils was
// meant for one of them, and RB-RES-001 reports it; one under another name has RB-RES-004 or -011.
std::vector<std::string> not_asked_for(const Input& in, const PodView& pod) {
  std::vector<std::string> missing;
  for (const std::string& resource : pod.resources)
    if (pod.pod->resource_count(resource) == 0 && pod.pod->resource_count(base_name(resource)) == 0)
      missing.push_back(resource);
  for (const Request& request : requests_of(pod)) {
    const bool of_a_network = std::ranges::find(pod.resources, request.resource) != pod.resources.end();
    if (of_a_network || made_by_others(request.resource) || in.views.producer(request.resource) != nullptr) continue;
    const auto meant = std::ranges::find_if(
        missing, [&](const std::string& one) { return base_name(one) == base_name(request.resource); });
    if (meant != missing.end())
      missing.erase(meant);
    else if (!missing.empty())
      missing.erase(missing.begin());
  }
  return missing;
}

void not_requested(const Input& in, Findings& out) {
  const DynamicAllocation dynamic(in);
  std::vector<const Document*> configs;
  for (const Document& document : in.bundle.documents)
    if (document.kind == "SriovOperatorConfig") configs.push_back(&document);
  for (const PodView& pod : in.views.pods) {
    const auto injected = injector(in, configs, pod);
    if (injected.value_or(false) && !dynamic.ends_device_plugin()) continue;
    // KubeVirt adds the requests of a virtual machine's networks itself.
    if (pod.pod->virtual_machine || dynamic.may_give_networks(*pod.pod)) continue;
    for (const std::string& resource : not_asked_for(in, pod)) {
      const auto net = std::ranges::find_if(pod.networks, [&](const PodView::Net& one) {
        return one.network != nullptr && one.network->resource == resource;
      });
      const bool claim = dynamic.ends_device_plugin();
      const std::string text = fmt::format(
          "{} uses network {}, but no container requests {}: {}", pod.pod->label(), net->network->key, resource,
          claim      ? "the operator's device plugin is off, and it has no ResourceClaim for a VF"
          : injected ? "the injector is off, so the pod gets no VF and its network fails"
                     : "it gets a VF only where the network resources injector runs and sees its namespace");
      const doc::Span span = net->selection->name.span;
      auto& reported = injected && !claim ? out.error(span, text) : out.warning(span, text);
      reported.note(net->network->resource_span, "the network takes its VFs from here")
          .with_fix(claim ? std::string("resourceClaims with a ResourceClaimTemplate for a VF of this network")
                          : fmt::format("resources.limits: {}: {}", resource, pod.networks_with(resource)));
    }
  }
}

// With the gate the operator deploys no device plugin: the resources of its policies are not offered.
void plugin_is_off(const Input& in, Findings& out) {
  const DynamicAllocation dynamic(in);
  if (!dynamic.ends_device_plugin()) return;
  for (const Request& request : requests(in)) {
    const auto made = in.views.by_resource.find(request.resource);
    if (made == in.views.by_resource.end()) continue;
    const auto by = [&](Producer::By wanted) {
      return std::ranges::any_of(made->second, [&](size_t one) { return in.views.producers[one].by == wanted; });
    };
    if (!by(Producer::By::kPolicy) || by(Producer::By::kDeviceClass) || by(Producer::By::kSriovPlugin)) continue;
    out.warning(
           request.span,
           fmt::format("{} is a resource of the operator's device plugin, which the gate dynamicResourceAllocation "
                       "turns off: {} waits forever",
                       request.resource, request.pod->pod->label()))
        .note(dynamic.gate()->span, "the gate is on here")
        .with_fix(fmt::format("a ResourceClaim for a VF, or a DeviceClass with extendedResourceName: {} (feature gate "
                              "DRAExtendedResource)",
                              request.resource));
  }
}

struct Use {
  int64_t vfs = 0;
  const PodView* first = nullptr;
  const PodView* rolling = nullptr;  // a Deployment: during an update it has more pods
};

// How much of each resource on the nodes all pods together need.
std::map<std::string_view, Use> uses_of(const Input& in) {
  std::map<std::string_view, Use> uses;
  for (const PodView& pod : in.views.pods) {
    std::set<std::string_view> resources(pod.resources.begin(), pod.resources.end());
    const auto asked = requests_of(pod);
    for (const Request& request : asked) resources.insert(request.resource);
    const bool rolling = pod.pod->document->kind == "Deployment" && pod.pod->replicas > 1 &&
                         text_at(pod.pod->document->value, "spec.strategy.type") != "Recreate";
    for (const std::string_view resource : resources) {
      const auto made = in.views.pools.find(resource);
      if (made == in.views.pools.end()) continue;
      std::set<const graph::Graph*> nodes;
      if (pod.pod->per_node)
        for (const PoolPart& part : made->second) nodes.insert(part.graph);
      const int64_t each = std::max(pod.pod->resource_count(resource), pod.networks_with(resource));
      Use& use = uses[made->first];
      use.vfs += each * (pod.pod->per_node ? static_cast<int64_t>(nodes.size()) : pod.pod->replicas);
      use.vfs = std::min(use.vfs, int64_t{1} << 50);  // far below an overflow
      if (each > 0 && use.first == nullptr) use.first = &pod;
      if (each > 0 && rolling) use.rolling = &pod;
    }
  }
  return uses;
}

void too_few_vfs(const Input& in, Findings& out) {
  const auto uses = uses_of(in);
  for (const auto& [resource, parts] : in.views.pools) {
    int64_t vfs = 0;
    std::set<std::string> nodes;
    for (const PoolPart& part : parts) {
      vfs += part.vfs;
      nodes.insert(part.graph->facts->node);
    }
    const auto used = uses.find(resource);
    if (used == uses.end() || used->second.first == nullptr) continue;
    const Use& use = used->second;
    const std::string sums = fmt::format("{} VFs of {} for pods, {} on {} node{}", use.vfs, resource, vfs, nodes.size(),
                                         nodes.size() == 1 ? "" : "s");
    const auto policies = in.views.policies_of(resource);
    const Value* count = policies.empty() ? nullptr : policies[0]->spec->find("numVfs");
    const doc::Span where = count == nullptr ? use.first->pod->span : count->span;
    if (use.vfs > vfs)
      out.error(where, fmt::format("{}: pods beyond them wait", sums))
          .note(use.first->pod->span, "the first that asks for them")
          .with_fix("more VFs, more nodes, or fewer pods")
          .at_most(doc::Confidence::kMedium, std::string(kOtherNodes));
    else if (use.rolling != nullptr && use.vfs * 10 > vfs * 9)
      out.note(where, fmt::format("{}: an update of {} makes new pods before old ones go, and they find none", sums,
                                  use.rolling->pod->label()))
          .note(use.rolling->pod->span, "updated by rolling")
          .with_fix("10 to 20 % more VFs than pods need, or strategy type Recreate");
  }
}

bool is_nvidia(const PolicyView& policy) {
  return lower(text_at(*policy.spec, "nicSelector.vendor")) == "15b3";
}

void above_webhook_limit(const Input& in, Findings& out) {
  constexpr int64_t kMost = 128;
  for (const PolicyView& policy : in.views.policies) {
    const auto vfs = integer_at(*policy.spec, "numVfs");
    if (!vfs || *vfs <= kMost || !is_nvidia(policy)) continue;
    out.error(policy.spec->find("numVfs")->span,
              fmt::format("{} VFs: the operator's webhook refuses more than {} per PF of an NVIDIA NIC", *vfs, kMost))
        .with_fix(fmt::format("numVfs: {} at most, and not above sriov_totalvfs of the NIC", kMost))
        .that_says(doc::Says::kAboveWebhookLimit);
  }
}

// The VFs of a PF that one entry of pfNames selects.
struct VfRange {
  std::string pf;
  graph::VfRange vfs;
  Word word;
};

std::vector<VfRange> vf_ranges_of(const PolicyView& policy) {
  std::vector<VfRange> parts;
  for (const Word& word : texts_at(*policy.spec, "nicSelector.pfNames")) {
    const auto name = api::parse_pf_name(word.text);
    if (name && name->vfs) parts.push_back({name->name, {name->vfs->first, name->vfs->last}, word});
  }
  return parts;
}

void one_resource_in_two_parts(const Input& in, Findings& out) {
  std::map<std::pair<std::string_view, std::string>, std::pair<const PolicyView*, VfRange>> first_of;
  for (const PolicyView& policy : in.views.policies) {
    if (policy.ignored) continue;
    for (const VfRange& part : vf_ranges_of(policy)) {
      const auto [first, fresh] = first_of.try_emplace({policy.resource, part.pf}, std::pair(&policy, part));
      const auto& [owner, other] = first->second;
      if (fresh || owner == &policy || part.vfs.overlaps(other.vfs)) continue;
      out.warning(part.word.span,
                  fmt::format("two policies make {} of {}: the operator keeps only one of the ranges of a resource, "
                              "the other VFs are lost",
                              policy.resource, part.pf))
          .note(other.word.span, "the other range")
          .with_fix("one policy with one range, or two resource names");
    }
  }
}

void two_ranges_in_one_policy(const Input& in, Findings& out) {
  for (const PolicyView& policy : in.views.policies) {
    std::map<std::string, VfRange> seen;
    for (const VfRange& part : vf_ranges_of(policy)) {
      const auto [first, fresh] = seen.try_emplace(part.pf, part);
      if (!fresh)
        out.warning(part.word.span,
                    fmt::format("a second range of {} in one policy: the operator takes only the first", part.pf))
            .note(first->second.word.span, "this one counts")
            .with_fix("one range, or a policy of its own with a resource of its own")
            .that_fails_where_applied();
    }
  }
}

// Who reads the resourceName of a plugin's list, which characters it refuses, and what becomes of it.
struct NameReader {
  std::string_view refuses;
  std::string_view dash;  // the fact about '-' in data/versions.yaml
  std::string_view who;
  std::string_view then;
};

NameReader reader_of_names(const Producer& producer) {
  if (producer.by == Producer::By::kSharedPlugin)
    return {"-.", "shared-plugin-takes-dash", "the RDMA shared device plugin",
            "it exits, and all its resources are lost"};
  if (producer.document->kind == "ConfigMap")
    return {"-.", "device-plugin-takes-dash", "the SR-IOV device plugin", "it exits, and all its resources are lost"};
  return {"-", "nic-policy-takes-dash", "the Network Operator's webhook", "the NicClusterPolicy is rejected"};
}

void name_that_is_refused(const Input& in, Findings& out) {
  for (const Producer& producer : in.views.producers) {
    if (producer.by != Producer::By::kSriovPlugin && producer.by != Producer::By::kSharedPlugin) continue;
    const std::string_view name = base_name(producer.resource);
    const NameReader reader = reader_of_names(producer);
    const size_t at = name.find_first_of(reader.refuses);
    if (at == std::string_view::npos) continue;
    VersionAnswer takes_it{.holds = Holds::kNo};
    if (name.find('-') != std::string_view::npos && name.find('.') == std::string_view::npos)
      takes_it = holds(in, reader.dash);
    if (takes_it.holds == Holds::kYes) continue;
    std::string fixed(name);
    std::ranges::replace_if(fixed, [](char c) { return c == '-' || c == '.'; }, '_');
    const std::string text = fmt::format("{} does not accept '{}' in a resourceName: {} ({}){}", reader.who, name[at],
                                         reader.then, name, takes_it.versions.empty() ? "" : "; " + takes_it.versions);
    auto& reported = takes_it.holds == Holds::kNo ? out.error(producer.span, text) : out.warning(producer.span, text);
    reported.with_fix(fmt::format("{} (letters, digits and '_' pass everywhere)", fixed));
  }
}

// Drivers of RDMA and words of other fields: no PCI function is ever bound to one of them.
constexpr std::pair<std::string_view, std::string_view> kNoPciDrivers[] = {
    {"mlx5_ib", "mlx5_core"}, {"mlx4_ib", "mlx4_core"}, {"ib_core", "mlx5_core"}, {"netdevice", "mlx5_core"}};

bool is_device_id(std::string_view text) {
  return text.size() == 4 && text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

void selectors_of_nothing(const Producer& producer, const Value& selectors, Findings& out) {
  for (const Word& word : texts_at(selectors, "devices")) {
    if (is_device_id(word.text) || word.text.find_first_of("<{$") != std::string::npos) continue;
    const bool address = PciAddress::parse(word.text).has_value();
    auto& reported =
        out.error(word.span, fmt::format("\"{}\" is not a PCI device id and selects nothing: the pool of {} "
                                         "stays empty",
                                         word.text, producer.resource));
    reported.with_fix(address ? fmt::format("\"pciAddresses\": [\"{}\"]", word.text)
                              : "four hexadecimal digits, as \"101e\" (lspci -nn shows them)");
  }
  for (const Word& word : texts_at(selectors, "drivers"))
    for (const auto& [name, meant] : kNoPciDrivers)
      if (word.text == name)
        out.error(word.span,
                  fmt::format("no PCI function has the driver {}: the pool of {} stays empty", name, producer.resource))
            .with_fix(fmt::format("\"drivers\": [\"{}\"]", meant));
}

void plugin_selects_nothing(const Input& in, Findings& out) {
  for (const Producer& producer : in.views.producers) {
    if (producer.by != Producer::By::kSriovPlugin) continue;
    const Value* selectors = producer.entry.find("selectors");
    if (selectors == nullptr) continue;
    if (!selectors->is_array()) {
      selectors_of_nothing(producer, *selectors, out);
      continue;
    }
    for (const Value& one : *selectors->as_array()) selectors_of_nothing(producer, one, out);
  }
}

constexpr Rule kResourceRules[] = {
    {"RB-RES-001", "a resource that nothing creates", Needs::kNothing, nothing_produces},
    {"RB-RES-002", "a resource with the prefix of an example", Needs::kNothing, placeholder_prefix},
    {"RB-RES-003", "one resource made twice", Needs::kNothing, produced_twice},
    {"RB-RES-004", "a resource under another prefix than the operator's", Needs::kNothing, other_prefix},
    {"RB-RES-005", "a network whose resource no container requests", Needs::kNothing, not_requested},
    {"RB-RES-006", "fewer VFs than the pods need", Needs::kFacts, too_few_vfs},
    {"RB-RES-007", "more VFs than the operator's webhook allows", Needs::kNothing, above_webhook_limit},
    {"RB-RES-008", "two policies with ranges of one PF for one resource", Needs::kNothing, one_resource_in_two_parts},
    {"RB-RES-009", "two ranges of one PF in one policy", Needs::kNothing, two_ranges_in_one_policy},
    {"RB-RES-010", "a resourceName that its reader refuses", Needs::kNothing, name_that_is_refused},
    {"RB-RES-011", "a resource of a container without a prefix", Needs::kNothing, without_prefix},
    {"RB-RES-012", "a device plugin's selector that nothing fits", Needs::kNothing, plugin_selects_nothing},
    {"RB-RES-013", "a resource of the device plugin that a gate turns off", Needs::kNothing, plugin_is_off},
};

}  // namespace

std::span<const Rule> resource_rules() {
  return kResourceRules;
}

}  // namespace railbed::check
