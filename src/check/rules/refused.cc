// SPDX-License-Identifier: Apache-2.0
#include "check/rules/refused.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>

#include "base/object_names.h"
#include "check/read/served_versions.h"
#include "check/rules/lookups.h"

namespace railbed::check {

using doc::Value;

bool is_whole_object(const Document& document) {
  return !document.patch && !document.elided && !document.rebuilt;
}

bool makes_pods_verbatim(const PodTemplate& pod) {
  static constexpr std::string_view kKinds[] = {
      "Pod",    "PodTemplate", "Deployment", "StatefulSet",           "ReplicaSet",     "DaemonSet", "Job", "CronJob",
      "JobSet", "MPIJob",      "PyTorchJob", "ReplicationController", "LeaderWorkerSet"};
  return std::ranges::find(kKinds, pod.document->kind) != std::end(kKinds) && is_whole_object(*pod.document);
}

std::string_view refused_for(const PodTemplate& pod) {
  const std::string_view group = pod.document->group();
  const bool own = is_of_kubernetes(group) || group == "extensions";
  return own ? "it" : "the pods made from it";
}

namespace {

// Texts that must be unique, each with its first place.
using FirstPlaces = std::map<std::string, const Value*, std::less<>>;

// Calls `visit` with each text at `key` that an item before it has, and with the first one.
template <typename Visit>
void each_repeated(const Value* list, std::string_view key, FirstPlaces& first_places, Visit visit) {
  if (list == nullptr || !list->is_array()) return;
  for (const Value& item : *list->as_array()) {
    const Value* value = item.is_object() ? item.find(key) : nullptr;
    const std::string* text = value == nullptr ? nullptr : value->as_string();
    if (text == nullptr || text->empty() || is_filled_in_later(*text)) continue;
    const auto [first, fresh] = first_places.emplace(*text, value);
    if (!fresh) visit(*value, *first->second);
  }
}

// `what`: "Pod train/worker has two volumes named {}".
template <typename Say>
void report_repeated(const Value* list, std::string_view key, FirstPlaces& first_places, Findings& out, Say say) {
  each_repeated(list, key, first_places, [&](const Value& again, const Value& first) {
    out.error(again.span, say(*again.as_string()) + ": the API server refuses it")
        .note(first.span, "the first one")
        .with_fix(fmt::format("another {}, or only one of them", key == "name" ? "name" : "path"));
  });
}

// Lists of containers in a pod's spec; their names are of one space.
constexpr std::string_view kContainerLists[] = {"initContainers", "containers", "ephemeralContainers"};

template <typename Visit>
void each_listed_container(const PodTemplate& pod, Visit visit) {
  for (const std::string_view list : kContainerLists) {
    const Value* containers = pod.spec->find(list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (const Value& container : *containers->as_array())
      if (container.is_object()) visit(container, text_at(container, "name"));
  }
}

void given_twice_in(const PodTemplate& pod, Findings& out) {
  const std::string label = pod.label();
  FirstPlaces volumes;
  report_repeated(pod.spec->find("volumes"), "name", volumes, out,
                  [&](const std::string& name) { return fmt::format("{} has two volumes named {}", label, name); });
  FirstPlaces containers;
  for (const std::string_view list : kContainerLists)
    report_repeated(pod.spec->find(list), "name", containers, out, [&](const std::string& name) {
      return fmt::format("{} has two containers named {}", label, name);
    });
  each_listed_container(pod, [&](const Value& container, std::string_view name) {
    FirstPlaces mounts;
    report_repeated(container.find("volumeMounts"), "mountPath", mounts, out, [&](const std::string& path) {
      return fmt::format("container {} of {} has two mounts at {}", name, label, path);
    });
    FirstPlaces ports;
    report_repeated(container.find("ports"), "name", ports, out, [&](const std::string& port) {
      return fmt::format("container {} of {} has two ports named {}", name, label, port);
    });
  });
}

bool is_core_service(const Document& document) {
  return document.kind == "Service" && document.api_version == "v1" && is_whole_object(document);
}

// "C:\data" and "c:/data": the drive of a path of Windows.
std::string_view without_drive(std::string_view path) {
  const bool drive = path.size() > 1 && path[1] == ':' && std::isalpha(static_cast<unsigned char>(path[0])) != 0;
  return drive ? path.substr(2) : path;
}

}  // namespace

void given_twice_in_a_pod(const Input& in, Findings& out) {
  for (const PodTemplate& pod : in.pods)
    if (makes_pods_verbatim(pod)) given_twice_in(pod, out);
  for (const Document& document : in.bundle.documents) {
    if (!is_core_service(document)) continue;
    FirstPlaces ports;
    report_repeated(at(document.value, "spec.ports"), "name", ports, out, [&](const std::string& name) {
      return fmt::format("{} has two ports named {}", document.label(), name);
    });
  }
}

void colon_in_a_mount_path(const Input& in, Findings& out) {
  constexpr std::string_view kReadOnly = ":ro";
  for (const PodTemplate& pod : in.pods) {
    if (!makes_pods_verbatim(pod)) continue;
    each_listed_container(pod, [&](const Value& container, std::string_view name) {
      const Value* mounts = container.find("volumeMounts");
      if (mounts == nullptr || !mounts->is_array()) return;
      for (const Value& mount : *mounts->as_array()) {
        const Value* path = mount.is_object() ? mount.find("mountPath") : nullptr;
        const std::string* text = path == nullptr ? nullptr : path->as_string();
        if (text == nullptr || is_filled_in_later(*text)) continue;
        if (without_drive(*text).find(':') == std::string_view::npos) continue;
        const bool read_only = text->ends_with(kReadOnly);
        out.warning(path->span, fmt::format("container {} of {} has a mount at {}: a mountPath may have no ':'", name,
                                            pod.label(), *text))
            .with_fix(read_only ? fmt::format("mountPath: {} and readOnly: true",
                                              text->substr(0, text->size() - kReadOnly.size()))
                                : std::string("a path without ':'"));
      }
    });
  }
}

}  // namespace railbed::check
