// SPDX-License-Identifier: Apache-2.0
//
// Where pods stand is one table with a row per place. "*" in a path is every key of a map, "[]" every item of
// a list; a row's counts are multiplied, and their wildcards stand for what those of the template stand for.
#include "check/read/pods.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "api/load.h"
#include "api/pod.h"
#include "api/quantity.h"

namespace railbed::check {

using doc::Value;

namespace {

std::optional<int64_t> whole_number(const Value* value) {
  if (value == nullptr) return std::nullopt;
  if (const int64_t* number = value->as_int()) return *number;
  const std::string* text = value->as_string();
  int64_t number = 0;
  if (text == nullptr || text->empty()) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc{} || end != text->data() + text->size()) return std::nullopt;
  return number;
}

// A field of an object; null where either is absent.
const Value* field(const Value* object, std::string_view key) {
  return object == nullptr ? nullptr : object->find(key);
}

int64_t count_of(const Value* value) {
  return std::clamp<int64_t>(whole_number(value).value_or(1), 0, INT32_MAX);
}

// The pods of a Job that run at a time.
int64_t job_pods(const Value* spec) {
  const int64_t parallelism = count_of(field(spec, "parallelism"));
  const auto completions = whole_number(field(spec, "completions"));
  return completions ? std::min(parallelism, std::max<int64_t>(*completions, 0)) : parallelism;
}

// The pods of a LeaderWorkerSet's group that use its workerTemplate: all, unless the leader has its own template.
int64_t group_workers(const Value* group) {
  const bool has_leader = field(group, "leaderTemplate") != nullptr;
  return std::max<int64_t>(count_of(field(group, "size")) - (has_leader ? 1 : 0), 0);
}

// The workers for one leader of an LLMInferenceService: its nodes are data / dataLocal or pipeline.
int64_t serve_workers(const Value* spec) {
  const Value* parallelism = field(spec, "parallelism");
  const auto data = whole_number(field(parallelism, "data"));
  const auto local = whole_number(field(parallelism, "dataLocal"));
  const auto pipeline = whole_number(field(parallelism, "pipeline"));
  int64_t nodes = 1;
  if (data || local)
    nodes = data.value_or(1) / std::max<int64_t>(local.value_or(1), 1);
  else if (pipeline)
    nodes = *pipeline;
  return std::clamp<int64_t>(nodes - 1, 1, INT32_MAX);
}

struct Count {
  std::string_view path = {};
  int64_t (*of)(const Value*) = count_of;
};

struct PodKind {
  std::string_view kind;
  std::string_view path;  // of an object with metadata and spec, or of a PodSpec itself
  bool is_spec = false;   // a PodSpec; the annotations are those of the object
  std::array<Count, 2> counts = {};
};

constexpr std::string_view kReplicas = "spec.replicas";
constexpr PodKind kPodKinds[] = {
    {"Pod", ""},
    {"PodTemplate", "template"},
    {"Deployment", "spec.template", false, {{{kReplicas}}}},
    {"StatefulSet", "spec.template", false, {{{kReplicas}}}},
    {"ReplicaSet", "spec.template", false, {{{kReplicas}}}},
    {"ReplicationController", "spec.template", false, {{{kReplicas}}}},
    {"DaemonSet", "spec.template"},
    {"Job", "spec.template", false, {{{"spec", job_pods}}}},
    {"CronJob", "spec.jobTemplate.spec.template", false, {{{"spec.jobTemplate.spec", job_pods}}}},
    {"JobSet",
     "spec.replicatedJobs[].template.spec.template",
     false,
     {{{"spec.replicatedJobs[].replicas"}, {"spec.replicatedJobs[].template.spec", job_pods}}}},
    {"LeaderWorkerSet", "spec.leaderWorkerTemplate.leaderTemplate", false, {{{kReplicas}}}},
    {"LeaderWorkerSet",
     "spec.leaderWorkerTemplate.workerTemplate",
     false,
     {{{kReplicas}, {"spec.leaderWorkerTemplate", group_workers}}}},
    {"MPIJob", "spec.mpiReplicaSpecs.*.template", false, {{{"spec.mpiReplicaSpecs.*.replicas"}}}},
    {"PyTorchJob", "spec.pytorchReplicaSpecs.*.template", false, {{{"spec.pytorchReplicaSpecs.*.replicas"}}}},
    {"RayCluster", "spec.headGroupSpec.template"},
    {"RayCluster",
     "spec.workerGroupSpecs[].template",
     false,
     {{{"spec.workerGroupSpecs[].replicas"}, {"spec.workerGroupSpecs[].numOfHosts"}}}},
    {"LLMInferenceService", "spec.template", true, {{{kReplicas}}}},
    {"LLMInferenceService", "spec.worker", true, {{{kReplicas}, {"spec", serve_workers}}}},
    {"LLMInferenceService", "spec.prefill.template", true, {{{"spec.prefill.replicas"}}}},
    {"LLMInferenceService",
     "spec.prefill.worker",
     true,
     {{{"spec.prefill.replicas"}, {"spec.prefill", serve_workers}}}},
};

// One place that matches the path of a row.
struct Place {
  const Value* value = nullptr;
  std::string path;                  // "spec.replicatedJobs[2].template"
  std::vector<std::string> choices;  // the match of each wildcard: "[2]", ".Worker"
};

// The first step of a path ("spec", "[]", "*") and the rest.
std::pair<std::string_view, std::string_view> split_step(std::string_view path) {
  if (path.starts_with("[]")) return {"[]", path.substr(path.substr(2).starts_with(".") ? 3 : 2)};
  const size_t end = std::min(path.find_first_of(".["), path.size());
  const bool dot = end < path.size() && path[end] == '.';
  return {path.substr(0, end), path.substr(end + (dot ? 1 : 0))};
}

void find_places(const Value& value, std::string_view path, Place at, std::vector<Place>& out) {
  if (path.empty()) {
    at.value = &value;
    out.push_back(std::move(at));
    return;
  }
  const auto [step, rest] = split_step(path);
  const auto go = [&](const Value& next, std::string name, bool chosen) {
    Place place = at;
    place.path += place.path.empty() && name.starts_with('.') ? name.substr(1) : name;
    if (chosen) place.choices.push_back(std::move(name));
    find_places(next, rest, std::move(place), out);
  };
  if (step == "[]") {
    if (const Value::Array* items = value.as_array())
      for (size_t i = 0; i < items->size(); ++i) go((*items)[i], fmt::format("[{}]", i), true);
  } else if (step == "*") {
    if (const Value::Object* members = value.as_object())
      for (const Value::Member& member : *members) go(member.value, "." + member.key, true);
  } else if (const Value* next = value.find(step)) {
    go(*next, fmt::format(".{}", step), false);
  }
}

// The value at `path` with the same wildcard matches as `place`; null when absent.
const Value* value_beside(const Value& object, std::string_view path, const Place& place) {
  const Value* value = &object;
  size_t wildcard = 0;
  while (value != nullptr && !path.empty()) {
    const auto [step, rest] = split_step(path);
    path = rest;
    if (step == "[]") {
      size_t index = 0;
      const std::string& choice = place.choices[wildcard++];
      std::from_chars(choice.data() + 1, choice.data() + choice.size(), index);
      const Value::Array* items = value->as_array();
      value = items != nullptr && index < items->size() ? &(*items)[index] : nullptr;
    } else if (step == "*") {
      value = value->find(std::string_view(place.choices[wildcard++]).substr(1));
    } else {
      value = value->find(step);
    }
  }
  return value;
}

int64_t replicas_of(const Value& object, const PodKind& row, const Place& place) {
  int64_t replicas = 1;
  for (const Count& count : row.counts) {
    if (count.path.empty()) continue;
    replicas = std::min<int64_t>(replicas * count.of(value_beside(object, count.path, place)), INT32_MAX);
  }
  return replicas;
}

bool keeps_running(const Value& container) {
  const Value* policy = container.find("restartPolicy");
  return policy != nullptr && policy->as_string() != nullptr && *policy->as_string() == "Always";
}

void read_containers(const Value& spec, std::string_view key, bool init, std::vector<Container>& out) {
  const Value* list = spec.find(key);
  if (list == nullptr || !list->is_array()) return;
  for (const Value& item : *list->as_array()) {
    if (!item.is_object()) continue;
    const Value* name = item.find("name");
    // An init container with restartPolicy: Always is a sidecar: it runs together with the others.
    out.push_back({.value = &item,
                   .name = name && name->as_string() ? *name->as_string() : "",
                   .init = init && !keeps_running(item)});
  }
}

PodTemplate read_template(const Document& document, const PodKind& row, const Place& place) {
  PodTemplate pod{.document = &document,
                  .path = place.path,
                  .spec = row.is_spec ? place.value : place.value->find("spec"),
                  .span = document.value.span,
                  .replicas = replicas_of(document.value, row, place),
                  .per_node = row.kind == "DaemonSet"};
  const Value* object_meta = document.value.find("metadata");
  if (const Value* name = field(object_meta, "name")) pod.span = name->span;
  pod.annotations = field(row.is_spec ? object_meta : place.value->find("metadata"), "annotations");
  if (pod.spec == nullptr || !pod.spec->is_object()) return pod;
  read_containers(*pod.spec, "initContainers", true, pod.containers);
  read_containers(*pod.spec, "containers", false, pod.containers);
  if (const Value* networks = field(pod.annotations, api::kNetworksAnnotation)) {
    doc::Diagnostics told_elsewhere;  // by the parser of pods, or by the rules about annotations
    pod.networks = api::parse_networks_annotation(*networks, document.ns, told_elsewhere);
    std::erase_if(pod.networks, [](const api::NetworkSelection& one) { return one.name.value.empty(); });
  }
  return pod;
}

}  // namespace

const Value* Container::env(std::string_view variable) const {
  const Value* list = field(value, "env");
  if (list == nullptr || !list->is_array()) return nullptr;
  const Value* found = nullptr;  // of two with the same name the last one counts
  for (const Value& item : *list->as_array()) {
    const Value* its_name = item.find("name");
    if (its_name != nullptr && its_name->as_string() != nullptr && *its_name->as_string() == variable)
      found = item.find("value");
  }
  return found;
}

const Value* Container::resource(std::string_view key) const {
  const Value* resources = field(value, "resources");
  if (const Value* limit = field(field(resources, "limits"), key)) return limit;
  return field(field(resources, "requests"), key);
}

int64_t Container::resource_count(std::string_view key) const {
  const Value* asked = resource(key);
  return asked == nullptr ? 0 : api::whole_quantity(*asked).value_or(0);
}

std::string PodTemplate::label() const {
  return document->name.empty()
             ? document->kind
             : fmt::format("{} {}/{}", document->kind, document->ns.empty() ? "default" : document->ns, document->name);
}

int64_t PodTemplate::resource_count(std::string_view key) const {
  int64_t running = 0;
  int64_t before = 0;
  for (const Container& container : containers) {
    const int64_t count = std::min<int64_t>(container.resource_count(key), INT32_MAX);
    if (container.init)
      before = std::max(before, count);
    else
      running += count;
  }
  return std::max(running, before);
}

std::vector<PodTemplate> find_pods(const Bundle& bundle) {
  std::vector<PodTemplate> pods;
  for (const Document& document : bundle.documents)
    for (const PodKind& row : kPodKinds) {
      if (row.kind != document.kind || !is_known(document)) continue;
      std::vector<Place> places;
      find_places(document.value, row.path, {}, places);
      for (const Place& place : places) {
        PodTemplate pod = read_template(document, row, place);
        if (pod.spec != nullptr && pod.spec->is_object()) pods.push_back(std::move(pod));
      }
    }
  return pods;
}

}  // namespace railbed::check
