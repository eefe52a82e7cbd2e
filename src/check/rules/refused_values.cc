// SPDX-License-Identifier: Apache-2.0
// What the API server refuses in ports, resources, mounts and volumes.
#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <utility>

#include "base/object_names.h"
#include "check/rules/lookups.h"
#include "check/rules/refused.h"
#include "schema/quantity.h"

namespace railbed::check {
namespace {

using doc::Value;

// The objects of a list; none where it is no list.
std::vector<const Value*> objects_in(const Value* list) {
  std::vector<const Value*> objects;
  if (list == nullptr || !list->is_array()) return objects;
  for (const Value& item : *list->as_array())
    if (item.is_object()) objects.push_back(&item);
  return objects;
}

// "TCP 80": what a Service may have once.
std::string port_identity(const Value& port, std::string_view key) {
  const auto number = integer_at(port, key);
  if (!number) return "";
  const std::string_view protocol = text_at(port, "protocol");
  if (is_filled_in_later(protocol)) return "";
  return fmt::format("{} {}", protocol.empty() ? "TCP" : protocol, *number);
}

void ports_of_service(const Document& document, Findings& out) {
  const std::vector<const Value*> ports = objects_in(at(document.value, "spec.ports"));
  for (const Value* port : ports) {
    const Value* name = port->find("name");
    if (ports.size() < 2 || (name != nullptr && !name->is_null() && !text_at(*port, "name").empty())) continue;
    if (name != nullptr && !name->is_null() && !name->is_string()) continue;  // RB-API-004
    out.error(name == nullptr ? port->span : name->span,
              fmt::format("{} has {} ports, and this one has no name: the API server refuses it", document.label(),
                          ports.size()))
        .with_fix("a name for each port");
  }
  for (const std::string_view key : {"port", "nodePort"}) {
    std::map<std::string, const Value*, std::less<>> first_places;
    for (const Value* port : ports) {
      const std::string identity = port_identity(*port, key);
      if (identity.empty() || (key == "nodePort" && identity.ends_with(" 0"))) continue;
      const Value* value = port->find(key);
      const auto [first, fresh] = first_places.emplace(identity, value);
      if (!fresh)
        out.error(value->span,
                  fmt::format("{} has the {} {} twice: the API server refuses it", document.label(), key, identity))
            .note(first->second->span, "the first one")
            .with_fix("one of them, or another number");
    }
  }
}

// The form of a service's name of IANA: lower-case letters, digits and '-', at most 15, one letter at least.
bool is_port_name(std::string_view name) {
  constexpr size_t kLongest = 15;
  const bool characters = std::ranges::all_of(
      name, [](unsigned char c) { return (std::isalnum(c) != 0 && std::isupper(c) == 0) || c == '-'; });
  const bool letter = std::ranges::any_of(name, [](unsigned char c) { return std::isalpha(c) != 0; });
  return characters && letter && name.size() <= kLongest && !name.starts_with('-') && !name.ends_with('-') &&
         name.find("--") == std::string_view::npos;
}

// Calls `visit` with each container of the pod, as written.
template <typename Visit>
void each_written_container(const PodTemplate& pod, Visit visit) {
  for (const std::string_view list : {"initContainers", "containers", "ephemeralContainers"})
    for (const Value* container : objects_in(pod.spec->find(list))) visit(*container, text_at(*container, "name"));
}

void names_of_ports(const PodTemplate& pod, Findings& out) {
  each_written_container(pod, [&](const Value& container, std::string_view owner) {
    for (const Value* port : objects_in(container.find("ports"))) {
      const std::string_view name = text_at(*port, "name");
      if (name.empty() || is_port_name(name) || is_filled_in_later(name)) continue;
      out.error(
             port->find("name")->span,
             fmt::format("container {} of {} has a port named {}: the API server refuses it", owner, pod.label(), name))
          .with_fix("at most 15 lower-case letters, digits and '-', with a letter");
    }
  });
}

constexpr std::string_view kVolumeKinds[] = {"emptyDir",    "hostPath", "configMap", "secret", "persistentVolumeClaim",
                                             "downwardAPI", "nfs",      "projected", "csi",    "ephemeral",
                                             "image",       "iscsi",    "cephfs",    "rbd",    "fc"};

// The sources of a volume: what it is, of which it may have one.
std::vector<const Value::Member*> kinds_of_volume(const Value& volume) {
  std::vector<const Value::Member*> sources;
  for (const Value::Member& member : *volume.as_object())
    if (member.value.is_object() && std::ranges::find(kVolumeKinds, member.key) != std::end(kVolumeKinds))
      sources.push_back(&member);
  return sources;
}

void volumes_of_two_kinds(const PodTemplate& pod, Findings& out) {
  for (const Value* volume : objects_in(pod.spec->find("volumes"))) {
    const std::vector<const Value::Member*> sources = kinds_of_volume(*volume);
    if (sources.size() < 2) continue;
    out.error(sources[1]->key_span,
              fmt::format("the volume {} of {} is both {} and {}: the API server refuses it", text_at(*volume, "name"),
                          pod.label(), sources[0]->key, sources[1]->key))
        .note(sources[0]->key_span, "the first one")
        .with_fix("one of them, or a volume for each");
  }
}

void mounts_without_path(const PodTemplate& pod, Findings& out) {
  each_written_container(pod, [&](const Value& container, std::string_view owner) {
    for (const Value* mount : objects_in(container.find("volumeMounts"))) {
      const Value* path = mount->find("mountPath");
      const std::string* text = path == nullptr ? nullptr : path->as_string();
      if (text == nullptr || !text->empty()) continue;  // without one it is RB-API-006
      out.error(path->span, fmt::format("container {} of {} mounts {} at an empty path: the API server refuses it",
                                        owner, pod.label(), text_at(*mount, "name")))
          .with_fix("mountPath: /data, or what the program reads");
    }
  });
}

void request_above_limit(const PodTemplate& pod, const Container& container, std::string_view name, Findings& out) {
  const Value* requests = at(*container.value, "resources.requests");
  const Value* limits = at(*container.value, "resources.limits");
  if (requests == nullptr || limits == nullptr || !requests->is_object() || !limits->is_object()) return;
  const Value* request = requests->find(name);
  const Value* limit = limits->find(name);
  if (request == nullptr || limit == nullptr) return;
  const auto asked = schema::milli_quantity(*request);
  const auto allowed = schema::milli_quantity(*limit);
  if (!asked || !allowed || *asked <= *allowed) return;
  out.error(request->span, fmt::format("container {} of {} requests more {} than its limit: the API server refuses {}",
                                       container.name, pod.label(), name, refused_for(pod)))
      .note(limit->span, "the limit")
      .with_fix("a limit that is at least the request");
}

// What a node has once: a port of the host, for one protocol and address.
void host_ports_of(const PodTemplate& pod, Findings& out) {
  std::map<std::string, const Value*, std::less<>> first_places;
  for (const Value* container : objects_in(pod.spec->find("containers")))
    for (const Value* port : objects_in(container->find("ports"))) {
      const std::string identity = port_identity(*port, "hostPort");
      if (identity.empty() || identity.ends_with(" 0")) continue;
      const Value* value = port->find("hostPort");
      const auto [first, fresh] = first_places.emplace(fmt::format("{} {}", identity, text_at(*port, "hostIP")), value);
      if (!fresh)
        out.error(value->span, fmt::format("{} has the hostPort {} twice: the API server refuses {}", pod.label(),
                                           identity, refused_for(pod)))
            .note(first->second->span, "the first one")
            .with_fix("one of them, or another number");
    }
}

// Reports two fields of one object of which the API server takes one.
void only_one_of(const PodTemplate& pod, std::string_view owner, const Value::Member& first,
                 const Value::Member& second, Findings& out) {
  out.error(second.key_span, fmt::format("{} of {} has {} and {}: the API server refuses {}", owner, pod.label(),
                                         first.key, second.key, refused_for(pod)))
      .note(first.key_span, "the first one")
      .with_fix("only one of them");
}

const Value::Member* member_of(const Value& object, std::string_view key) {
  const auto found = std::ranges::find(*object.as_object(), key, &Value::Member::key);
  return found == object.as_object()->end() ? nullptr : &*found;
}

void handlers_of(const PodTemplate& pod, std::string_view owner, const Value* holder, Findings& out) {
  if (holder == nullptr || !holder->is_object()) return;
  static constexpr std::string_view kHandlers[] = {"exec", "httpGet", "tcpSocket", "grpc"};
  const Value::Member* first = nullptr;
  for (const Value::Member& member : *holder->as_object()) {
    if (!member.value.is_object() || std::ranges::find(kHandlers, member.key) == std::end(kHandlers)) continue;
    if (first != nullptr) only_one_of(pod, owner, *first, member, out);
    if (first == nullptr) first = &member;
  }
}

void variables_given_twice(const PodTemplate& pod, const Value& container, std::string_view owner, Findings& out) {
  for (const Value* variable : objects_in(container.find("env"))) {
    const Value::Member* value = member_of(*variable, "value");
    const Value::Member* from = member_of(*variable, "valueFrom");
    if (value == nullptr || from == nullptr || !from->value.is_object() || text_at(*variable, "value").empty())
      continue;
    only_one_of(pod, fmt::format("variable {} in {}", text_at(*variable, "name"), owner), *value, *from, out);
  }
}

void privileged_without_escalation(const PodTemplate& pod, const Value& container, std::string_view owner,
                                   Findings& out) {
  if (!flag_at(container, "securityContext.privileged").value_or(false)) return;
  if (flag_at(container, "securityContext.allowPrivilegeEscalation").value_or(true)) return;
  const Value& context = *container.find("securityContext");
  only_one_of(pod, owner, *member_of(context, "privileged"), *member_of(context, "allowPrivilegeEscalation"), out);
}

void tolerations_of_any_value(const PodTemplate& pod, Findings& out) {
  for (const Value* toleration : objects_in(pod.spec->find("tolerations"))) {
    const Value::Member* operation = member_of(*toleration, "operator");
    const Value::Member* value = member_of(*toleration, "value");
    if (operation == nullptr || value == nullptr || text_at(*toleration, "operator") != "Exists") continue;
    if (text_at(*toleration, "value").empty()) continue;
    out.error(value->key_span,
              fmt::format("a toleration of {} has operator Exists and a value: the API server refuses {}", pod.label(),
                          refused_for(pod)))
        .with_fix("operator: Equal, or no value");
  }
}

}  // namespace

void ports_that_cannot_be(const Input& in, Findings& out) {
  for (const Document& document : in.bundle.documents)
    if (document.kind == "Service" && document.api_version == "v1" && is_whole_object(document))
      ports_of_service(document, out);
  for (const PodTemplate& pod : in.pods)
    if (makes_pods_verbatim(pod)) {
      names_of_ports(pod, out);
      host_ports_of(pod, out);
    }
}

void requests_above_limits(const Input& in, Findings& out) {
  for (const PodTemplate& pod : in.pods) {
    if (!is_whole_object(*pod.document)) continue;
    for (const Container& container : pod.containers) {
      if (container.made) continue;
      for (const std::string_view name : {"cpu", "memory", "ephemeral-storage"})
        request_above_limit(pod, container, name, out);
    }
  }
}

void mounts_that_cannot_be(const Input& in, Findings& out) {
  for (const PodTemplate& pod : in.pods) {
    if (!makes_pods_verbatim(pod)) continue;
    volumes_of_two_kinds(pod, out);
    mounts_without_path(pod, out);
  }
}

void fields_that_exclude_each_other(const Input& in, Findings& out) {
  for (const PodTemplate& pod : in.pods) {
    if (!makes_pods_verbatim(pod)) continue;
    tolerations_of_any_value(pod, out);
    each_written_container(pod, [&](const Value& container, std::string_view name) {
      const std::string owner = fmt::format("container {}", name);
      variables_given_twice(pod, container, owner, out);
      privileged_without_escalation(pod, container, owner, out);
      for (const std::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"})
        handlers_of(pod, fmt::format("{} in {}", probe, owner), container.find(probe), out);
      for (const std::string_view hook : {"postStart", "preStop"})
        handlers_of(pod, fmt::format("{} in {}", hook, owner), at(container, fmt::format("lifecycle.{}", hook)), out);
    });
  }
}

}  // namespace railbed::check
