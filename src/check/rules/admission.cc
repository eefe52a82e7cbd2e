// SPDX-License-Identifier: Apache-2.0
// What the API server refuses in workloads, and networks that are asked for in a place or under a key that nothing
// reads.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "api/pod.h"
#include "base/kinds.h"
#include "base/object_names.h"
#include "base/well_known.h"
#include "check/read/pinned_release.h"
#include "check/read/served_versions.h"
#include "check/rules/families.h"
#include "check/rules/lookups.h"
#include "check/rules/refusals.h"
#include "check/rules/refused.h"
#include "schema/schema.h"

namespace railbed::check {
namespace {

using doc::Value;

// Calls `visit` with each container of a pod that is made of its template, and its limits and requests, null where
// absent.
template <typename Visit>
void each_plain_container(const Input& in, Visit visit) {
  for (const PodTemplate& pod : in.pods) {
    if (!is_whole_object(*pod.document)) continue;
    for (const Container& container : pod.containers) {
      if (container.made) continue;
      const Value* limits = at(*container.value, "resources.limits");
      const Value* requests = at(*container.value, "resources.requests");
      visit(pod, container, limits != nullptr && limits->is_object() ? limits : nullptr,
            requests != nullptr && requests->is_object() ? requests : nullptr);
    }
  }
}

// "4", "4.0" and 4 are one quantity; other forms are compared as they are written.
bool same_quantity(const Value& a, const Value& b) {
  const auto text = [](const Value& value) {
    return value.as_string() != nullptr ? *value.as_string() : std::string(value.written());
  };
  return text(a) == text(b);
}

// An extended resource, or hugepages: nothing that a container may use more of than it requests.
bool is_never_overcommitted(std::string_view name) {
  const bool extended = name.find('/') != std::string_view::npos &&
                        name.find("kubernetes.io/") == std::string_view::npos &&
                        name.find_first_of("<{$") == std::string_view::npos;
  return extended || name.starts_with("hugepages-");
}

// Whether the requests and the limits name one resource differently: nothing makes the requested one, and the limits
// have one that is made and not requested; or they have its name without a prefix. Rules about resources report it.
bool is_other_name(const Input& in, std::string_view requested, const Value& requests, const Value* limits) {
  if (limits == nullptr) return false;
  if (const size_t slash = requested.rfind('/');
      slash != std::string_view::npos && limits->find(requested.substr(slash + 1)) != nullptr)
    return true;
  if (in.views.producer(requested) != nullptr) return false;
  return std::ranges::any_of(*limits->as_object(), [&](const Value::Member& limit) {
    return requests.find(limit.key) == nullptr && in.views.producer(limit.key) != nullptr;
  });
}

// Whether the key is anywhere in the value, at any depth: something of a wrong depth is not missing.
bool has_member_below(const Value& value, std::string_view key) {
  if (value.is_array())
    return std::ranges::any_of(*value.as_array(), [&](const Value& one) { return has_member_below(one, key); });
  if (!value.is_object()) return false;
  return std::ranges::any_of(*value.as_object(), [&](const Value::Member& member) {
    return member.key == key || has_member_below(member.value, key);
  });
}

// Whether limits of the container are at a wrong depth; other rules report that.
bool has_misplaced_limit(const Container& container, const Value& requests, std::string_view name) {
  if (has_member_below(requests, "limits")) return true;
  return std::ranges::any_of(*container.value->as_object(), [&](const Value::Member& member) {
    if (member.key != "resources") return member.key == name || has_member_below(member.value, name);
    return member.value.is_object() && member.value.find(name) != nullptr;
  });
}

void requests_and_limits_differ(const Input& in, Findings& out) {
  each_plain_container(in, [&](const PodTemplate& pod, const Container& container, const Value* limits,
                               const Value* requests) {
    if (requests == nullptr) return;
    for (const Value::Member& request : *requests->as_object()) {
      if (!is_never_overcommitted(request.key)) continue;
      const Value* limit = limits == nullptr ? nullptr : limits->find(request.key);
      if (limit != nullptr && same_quantity(*limit, request.value)) continue;
      if (limit == nullptr &&
          (is_other_name(in, request.key, *requests, limits) || has_misplaced_limit(container, *requests, request.key)))
        continue;
      const std::string asked(request.value.as_string() ? *request.value.as_string() : request.value.written());
      if (limit == nullptr)
        out.error(
               request.key_span,
               fmt::format("container {} of {} requests {} without a limit, and the API server refuses {}: a resource "
                           "that cannot be overcommitted needs a limit",
                           container.name, pod.label(), request.key, refused_for(pod)))
            .with_fix(fmt::format("limits: {}: {}", request.key, asked));
      else
        out.error(request.value.span,
                  fmt::format(
                      "container {} of {} requests {} of {} and has another limit: the API server refuses {}, they "
                      "must be equal",
                      container.name, pod.label(), asked, request.key, refused_for(pod)))
            .note(limit->span, "the limit")
            .with_fix("the same number in both");
    }
  });
}

// Sizes of pages that processors have (x86-64, arm64, POWER, s390).
bool is_page_size(std::string_view size) {
  static constexpr std::string_view kSizes[] = {"64Ki", "1Mi", "2Mi", "16Mi", "32Mi", "512Mi", "1Gi", "2Gi", "16Gi"};
  return std::ranges::find(kSizes, size) != std::end(kSizes);
}

void hugepages(const Input& in, Findings& out) {
  constexpr std::string_view kHugepages = "hugepages-";
  each_plain_container(in, [&](const PodTemplate& pod, const Container& container, const Value* limits,
                               const Value* requests) {
    const auto has = [&](std::string_view name) {
      return (limits != nullptr && limits->find(name) != nullptr) ||
             (requests != nullptr && requests->find(name) != nullptr);
    };
    for (const Value* map : {limits, requests}) {
      if (map == nullptr) continue;
      for (const Value::Member& member : *map->as_object()) {
        if (!member.key.starts_with(kHugepages)) continue;
        const std::string size = member.key.substr(kHugepages.size());
        if (!has("cpu") && !has("memory")) {
          out.error(member.key_span, fmt::format("container {} of {} has hugepages and neither cpu nor memory: the API "
                                                 "server refuses it",
                                                 container.name, pod.label()))
              .with_fix("limits: memory: 1Gi, or what it needs");
          return;
        }
        if (is_page_size(size) || size.find_first_of("<{$") != std::string::npos) continue;
        out.warning(member.key_span, fmt::format("no machine has pages of {}: {} waits forever", size, pod.label()))
            .with_fix(is_page_size(size + "i")
                          ? fmt::format("{}{}i", kHugepages, size)
                          : std::string("hugepages-2Mi or hugepages-1Gi (1Gi is for most machines)"));
        return;
      }
    }
  });
}

using LabelMap = std::map<std::string, std::string>;

LabelMap labels_of(const Value* map) {
  LabelMap labels;
  if (map == nullptr || !map->is_object()) return labels;
  for (const Value::Member& member : *map->as_object())
    labels[member.key] = member.value.as_string() ? *member.value.as_string() : std::string(member.value.written());
  return labels;
}

// The first label of a selector that the template's labels do not have; null where they fit.
const Value::Member* unmatched(const Value& selector, const LabelMap& labels) {
  if (!selector.is_object()) return nullptr;
  for (const Value::Member& wanted : *selector.as_object()) {
    const auto found = labels.find(wanted.key);
    const std::string value =
        wanted.value.as_string() ? *wanted.value.as_string() : std::string(wanted.value.written());
    if (found == labels.end() || found->second != value) return &wanted;
  }
  return nullptr;
}

// Whether a text can be no part of a label; the schema reports it. What is filled in later is nothing yet.
bool is_wrong_key(std::string_view key) {
  return !is_label_key(key) && !is_filled_in_later(key);
}
bool is_wrong_label(std::string_view value) {
  return !is_label_value(value) && !is_filled_in_later(value);
}

// Whether the template lacks the wanted label only because one of the two is no label.
bool follows_from_wrong_label(const Value::Member& wanted, const LabelMap& labels) {
  const std::string* value = wanted.value.as_string();
  if (is_wrong_key(wanted.key) || (value != nullptr && is_wrong_label(*value))) return true;
  if (const auto found = labels.find(wanted.key); found != labels.end()) return is_wrong_label(found->second);
  return std::ranges::any_of(labels, [](const auto& label) { return is_wrong_key(label.first); });
}

void selector_misses_template(const Input& in, Findings& out) {
  static constexpr std::string_view kKinds[] = {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet",
                                                "ReplicationController"};
  for (const PodTemplate& pod : in.pods) {
    const Document& document = *pod.document;
    if (std::ranges::find(kKinds, document.kind) == std::end(kKinds) || pod.path != "spec.template") continue;
    const bool plain = document.kind == "ReplicationController";
    const Value* selector = at(document.value, plain ? "spec.selector" : "spec.selector.matchLabels");
    if (selector == nullptr || !is_whole_object(document)) continue;
    const LabelMap labels = labels_of(pod.labels);
    const Value::Member* wanted = unmatched(*selector, labels);
    if (wanted == nullptr || follows_from_wrong_label(*wanted, labels)) continue;
    auto& reported =
        out.error(wanted->key_span, fmt::format("the selector of {} wants the label {}, which its template does "
                                                "not have: the API server refuses it",
                                                pod.label(), wanted->key));
    if (const Value* label = pod.labels == nullptr ? nullptr : pod.labels->find(wanted->key))
      reported.note(label->span, "the template has another value");
    reported.with_fix("the same labels in spec.selector.matchLabels and in spec.template.metadata.labels");
  }
}

// The names of the pod's volumes, and of the claims that its controller makes for it.
std::vector<std::string_view> volumes_of(const PodTemplate& pod) {
  std::vector<std::string_view> names;
  const auto add = [&](const Value* list, std::string_view path) {
    if (list == nullptr || !list->is_array()) return;
    for (const Value& item : *list->as_array()) names.push_back(text_at(item, path));
  };
  add(pod.spec->find("volumes"), "name");
  for (const std::string_view path : {"spec.volumeClaimTemplates", "spec.leaderWorkerTemplate.volumeClaimTemplates"})
    add(at(pod.document->value, path), "metadata.name");
  if (const Value* policies = at(pod.document->value, "spec.volumeClaimPolicies");
      policies != nullptr && policies->is_array())
    for (const Value& policy : *policies->as_array()) add(policy.find("templates"), "metadata.name");
  return names;
}

// Of Kubernetes itself: nothing adds to the pods of these kinds.
bool is_built_in(std::string_view api_version) {
  return api_version == "v1" || api_version.starts_with("apps/") || api_version.starts_with("batch/");
}

// Volumes that the MPI operator adds to each pod of a job: its configuration and the keys of ssh.
bool is_added_by_operator(const PodTemplate& pod, std::string_view volume) {
  return pod.document->kind == "MPIJob" &&
         (volume == "mpi-job-config" || volume == "ssh-auth" || volume == "mpi-job-kubectl" || volume == "ssh-home");
}

void mount_without_volume(const Input& in, Findings& out) {
  for (const PodTemplate& pod : in.pods) {
    if (!makes_pods_verbatim(pod)) continue;
    const auto names = volumes_of(pod);
    for (const Container& container : pod.containers) {
      if (has_member_below(*container.value, "volumes")) continue;  // at a wrong depth, which other rules report
      for (const std::string_view key : {"volumeMounts", "volumeDevices"}) {
        const Value* mounts = container.value->find(key);
        if (mounts == nullptr || !mounts->is_array()) continue;
        for (const Value& mount : *mounts->as_array()) {
          const Value* name = mount.find("name");
          const std::string_view text = text_at(mount, "name");
          if (text.empty() || text.find_first_of("<{$") != std::string_view::npos) continue;
          if (std::ranges::find(names, text) != names.end() || is_added_by_operator(pod, text)) continue;
          // An operator may add volumes to the pods that it makes.
          const bool sure = is_built_in(pod.document->api_version);
          const std::string reported_text = fmt::format(
              "container {} of {} mounts the volume {}, which the pod does not have: {}", container.name, pod.label(),
              text, sure ? "the API server refuses it" : "the API server refuses it unless the operator adds it");
          auto& reported = sure ? out.error(name->span, reported_text) : out.warning(name->span, reported_text);
          const std::string near = doc::nearest(text, names);
          reported.with_fix(near.empty() ? fmt::format("a volume named {} in the pod's volumes", text)
                                         : "did you mean " + near + "?");
        }
      }
    }
  }
}

std::string_view group_part(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

// Groups that an API server has without any operator.
bool is_builtin_group(std::string_view group) {
  static constexpr std::string_view kGroups[] = {"", "apps", "batch", "extensions", "policy", "autoscaling"};
  return std::ranges::find(kGroups, group) != std::end(kGroups) || group.ends_with(".k8s.io");
}

// The versions of a kind of Kubernetes' own that schemas or the table of kinds have; empty for others.
std::vector<std::string> versions_of_kind(std::string_view kind) {
  static constexpr std::string_view kVersions[] = {"v1",
                                                   "apps/v1",
                                                   "batch/v1",
                                                   "policy/v1",
                                                   "autoscaling/v2",
                                                   "networking.k8s.io/v1",
                                                   "resource.k8s.io/v1",
                                                   "resource.k8s.io/v1beta1",
                                                   "resource.k8s.io/v1beta2"};
  std::vector<std::string> found;
  for (const std::string_view version : kVersions)
    if (schema::find_schema(version, kind) != nullptr) found.emplace_back(version);
  const Kind* known = find_kind(kind);
  // These have several versions, or two groups, at a time.
  if (kind == "Event" || kind.starts_with("ValidatingAdmission")) return found;
  if (found.empty() && known != nullptr && known->owner == KindOwner::kKubernetes && !known->plural.empty())
    found.push_back(known->api_version());
  return found;
}

// The versions in which a document's kind is, if its apiVersion is none of them; empty where it is right or unknown.
std::vector<std::string> right_versions(const Document& document) {
  if (document.value.find("apiVersion") == nullptr || document.api_version.empty()) return {};
  // RB-API-011 reports it for the kinds that railbed itself reads.
  if (document.kind == "Pod" || document.kind == "Node") return {};
  if (!is_builtin_group(group_part(document.api_version))) return {};
  if (document.api_version.find_first_of("<{$") != std::string::npos) return {};
  std::vector<std::string> right = versions_of_kind(document.kind);
  if (std::ranges::find(right, document.api_version) != right.end()) right.clear();
  return right;
}

// The release of Kubernetes that the repository pins, if it still serves the apiVersion.
std::optional<int> pinned_release_with(const Input& in, std::string_view api_version) {
  const std::optional<int> gone = gone_since_minor(api_version);
  if (!gone) return std::nullopt;
  const std::optional<int> pinned = pinned_minor(in.bundle.sources);
  return pinned && *pinned < *gone ? pinned : std::nullopt;
}

void wrong_api_version(const Input& in, Findings& out) {
  for (const Document& document : in.bundle.documents) {
    const std::vector<std::string> right = right_versions(document);
    if (right.empty() || !is_whole_object(document)) continue;
    if (const std::optional<int> pinned = pinned_release_with(in, document.api_version)) {
      out.warning(document.value.find("apiVersion")->span,
                  fmt::format("Kubernetes 1.{}, which is pinned here, still has {} in {}; no API server of today does",
                              *pinned, document.kind, document.api_version))
          .with_fix("apiVersion: " + right.front());
      continue;
    }
    out.error(document.value.find("apiVersion")->span,
              fmt::format("no API server of today has {} in {}: it refuses the object", document.kind,
                          document.api_version))
        .with_fix("apiVersion: " + right.front());
  }
  for (const Document& document : in.bundle.aside) {
    const std::vector<std::string> right = right_versions(document);
    if (right.empty() || !document.patch || document.elided || document.rebuilt) continue;
    out.warning(document.value.find("apiVersion")->span,
                fmt::format("a patch of {} in {}, which no API server of today has: it finds no object, unless what "
                            "lists it has a target",
                            document.kind, document.api_version))
        .with_fix("apiVersion: " + right.front());
  }
}

// The member of an object's own annotations that asks for networks; null where it has none.
const Value::Member* networks_annotation(const Value* annotations) {
  if (annotations == nullptr || !annotations->is_object()) return nullptr;
  const auto found = std::ranges::find(*annotations->as_object(), api::kNetworksAnnotation, &Value::Member::key);
  return found == annotations->as_object()->end() ? nullptr : &*found;
}

bool is_made(const PodTemplate& pod) {
  return std::ranges::any_of(pod.containers, &Container::made);
}

void annotation_above_the_template(const Input& in, Findings& out) {
  std::set<const Document*> reported;
  std::set<const Document*> right;
  for (const PodTemplate& pod : in.pods)
    if (networks_annotation(pod.annotations) != nullptr) right.insert(pod.document);
  for (const PodTemplate& pod : in.pods) {
    const Document& document = *pod.document;
    const Value* own = at(document.value, "metadata.annotations");
    const Value::Member* asked = networks_annotation(own);
    if (asked == nullptr || own == pod.annotations || right.contains(&document) || !reported.insert(&document).second)
      continue;
    out.warning(asked->key_span, fmt::format("the networks annotation is on the {} and not on its pods: they get no "
                                             "network from it",
                                             document.kind))
        .with_fix(is_made(pod)
                      ? std::string("move it to the annotations that the operator gives its pods")
                      : fmt::format("move it to {}{}metadata.annotations", pod.path, pod.path.empty() ? "" : "."))
        .fails_where_applied = is_built_in(document.api_version);
  }
}

// Annotations of networks that programs read.
constexpr std::string_view kNetworkKeys[] = {
    kNetworksAnnotation, kNetworkStatusAnnotation,          "k8s.v1.cni.cncf.io/networks-status",
    kResourceAnnotation, "k8s.v1.cni.cncf.io/nodeSelector", kDefaultNetworkAnnotation,
};

void unknown_network_annotation(const Input& in, Findings& out) {
  std::set<const Value*> seen;
  const auto look = [&](const Value* annotations) {
    if (annotations == nullptr || !annotations->is_object() || !seen.insert(annotations).second) return;
    for (const Value::Member& member : *annotations->as_object()) {
      const bool group = member.key.starts_with("k8s.v1.cni.cncf.io/");
      if (std::ranges::find(kNetworkKeys, member.key) != std::end(kNetworkKeys)) continue;
      const std::string near = doc::nearest(member.key, {std::begin(kNetworkKeys), std::end(kNetworkKeys)});
      if (!group && near.empty()) continue;
      auto& reported = out.warning(member.key_span,
                                   fmt::format("nothing reads the annotation {}: no network comes of it", member.key));
      if (near.empty())
        reported.with_fix(std::string(kNetworkKeys[0]) + ", or leave it out");
      else
        reported.with_fix("did you mean " + near + "?").that_fails_where_applied();
      if (!near.empty() && member.key_span.length == static_cast<int>(member.key.size()))
        reported.with_edit(member.key_span, near);
    }
  };
  for (const PodTemplate& pod : in.pods) {
    look(pod.annotations);
    look(at(pod.document->value, "metadata.annotations"));
  }
  for (const Document& document : in.bundle.documents)
    if (document.kind == "NetworkAttachmentDefinition") look(at(document.value, "metadata.annotations"));
}

constexpr Rule kAdmissionRules[] = {
    {"RB-ADM-001", "a request without its limit, or with another one", Needs::kNothing, requests_and_limits_differ},
    {"RB-ADM-002", "hugepages that no pod gets", Needs::kNothing, hugepages},
    {"RB-ADM-003", "a selector that misses the template's labels", Needs::kNothing, selector_misses_template},
    {"RB-ADM-004", "a mount of a volume that is not there", Needs::kNothing, mount_without_volume},
    {"RB-ADM-005", "an apiVersion that does not have the kind", Needs::kNothing, wrong_api_version},
    {"RB-ADM-006", "two of one name, or two mounts at one path", Needs::kNothing, given_twice_in_a_pod},
    {"RB-ADM-007", "a mount path with a colon", Needs::kNothing, colon_in_a_mount_path},
    {"RB-ADM-008", "a pool of addresses that contradicts itself", Needs::kNothing, pool_contradicts_itself},
    {"RB-ADM-009", "ports that a Service or a container cannot have", Needs::kNothing, ports_that_cannot_be},
    {"RB-ADM-010", "a request above its limit", Needs::kNothing, requests_above_limits},
    {"RB-ADM-011", "a mount without a path, or a volume of two kinds", Needs::kNothing, mounts_that_cannot_be},
    {"RB-ADM-012", "two fields of which only one may be", Needs::kNothing, fields_that_exclude_each_other},
    {"RB-ADM-013", "a value of a form that is refused", Needs::kNothing, value_of_a_wrong_form},
    {"RB-ADM-014", "fields that do not go together", Needs::kNothing, fields_that_do_not_go_together},
    {"RB-ANN-007", "the networks annotation beside the template", Needs::kNothing, annotation_above_the_template},
    {"RB-ANN-008", "an annotation of networks that nothing reads", Needs::kNothing, unknown_network_annotation},
};

}  // namespace

std::span<const Rule> admission_rules() {
  return kAdmissionRules;
}

}  // namespace railbed::check
