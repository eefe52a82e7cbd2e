// SPDX-License-Identifier: Apache-2.0
//
// Where pods stand is one table with a row per place. "*" in a path is every key of a map, "[]" every item of
// a list; a row's counts are multiplied, and their wildcards stand for what those of the template stand for. An object
// for which no row finds a pod is searched for the shapes of pods: a template, a PodSpec, a virtual machine of
// KubeVirt, a service from whose fields an operator makes pods.
#include "check/read/pods.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "api/load.h"
#include "api/pod.h"
#include "base/number.h"
#include "base/well_known.h"
#include "schema/quantity.h"

namespace railbed::check {

using doc::Value;

namespace {

std::optional<int64_t> integer_of(const Value* value) {
  if (value == nullptr) return std::nullopt;
  if (const int64_t* number = value->as_int()) return *number;
  const std::string* text = value->as_string();
  return text == nullptr ? std::nullopt : whole_number<int64_t>(*text);
}

// A field of an object; null where either is absent.
const Value* field(const Value* object, std::string_view key) {
  return object == nullptr ? nullptr : object->find(key);
}

int64_t count_of(const Value* value) {
  return std::clamp<int64_t>(integer_of(value).value_or(1), 0, INT32_MAX);
}

// The pods of a Job that run at a time.
int64_t job_pods(const Value* spec) {
  const int64_t parallelism = count_of(field(spec, "parallelism"));
  const auto completions = integer_of(field(spec, "completions"));
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
  const auto data = integer_of(field(parallelism, "data"));
  const auto local = integer_of(field(parallelism, "dataLocal"));
  const auto pipeline = integer_of(field(parallelism, "pipeline"));
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

// What is at a path.
enum class PodPlace : uint8_t {
  kTemplate,  // metadata and spec
  kSpec,      // a PodSpec; the annotations are those of the object
  kService,   // fields of which an operator makes a pod with one main container
};

struct PodKind {
  std::string_view kind;
  std::string_view group;
  std::string_view path;
  std::array<Count, 2> counts = {};
  PodPlace place = PodPlace::kTemplate;
};

constexpr std::string_view kReplicas = "spec.replicas";
constexpr std::string_view kApps = "apps";
constexpr std::string_view kKubeflow = "kubeflow.org";
constexpr std::string_view kLws = "leaderworkerset.x-k8s.io";
constexpr std::string_view kRay = "ray.io";
constexpr std::string_view kServing = "serving.kserve.io";
constexpr std::string_view kSpark = "sparkoperator.k8s.io";
constexpr std::string_view kTrainer = "trainer.kubeflow.org";

constexpr PodKind kPodKinds[] = {
    {"Pod", "", ""},
    {"PodTemplate", "", "template"},
    {"Deployment", kApps, "spec.template", {{{kReplicas}}}},
    {"StatefulSet", kApps, "spec.template", {{{kReplicas}}}},
    {"ReplicaSet", kApps, "spec.template", {{{kReplicas}}}},
    {"ReplicationController", "", "spec.template", {{{kReplicas}}}},
    {"DaemonSet", kApps, "spec.template"},
    {"Job", "batch", "spec.template", {{{"spec", job_pods}}}},
    {"CronJob", "batch", "spec.jobTemplate.spec.template", {{{"spec.jobTemplate.spec", job_pods}}}},
    {"Job", "batch.volcano.sh", "spec.tasks[].template", {{{"spec.tasks[].replicas"}}}},
    {"JobSet",
     "jobset.x-k8s.io",
     "spec.replicatedJobs[].template.spec.template",
     {{{"spec.replicatedJobs[].replicas"}, {"spec.replicatedJobs[].template.spec", job_pods}}}},
    {"LeaderWorkerSet", kLws, "spec.leaderWorkerTemplate.leaderTemplate", {{{kReplicas}}}},
    {"LeaderWorkerSet",
     kLws,
     "spec.leaderWorkerTemplate.workerTemplate",
     {{{kReplicas}, {"spec.leaderWorkerTemplate", group_workers}}}},
    {"MPIJob", kKubeflow, "spec.mpiReplicaSpecs.*.template", {{{"spec.mpiReplicaSpecs.*.replicas"}}}},
    {"PyTorchJob", kKubeflow, "spec.pytorchReplicaSpecs.*.template", {{{"spec.pytorchReplicaSpecs.*.replicas"}}}},
    {"SparkApplication", kSpark, "spec.driver", {}, PodPlace::kService},
    {"SparkApplication", kSpark, "spec.executor", {{{"spec.executor.instances"}}}, PodPlace::kService},
    {"ScheduledSparkApplication", kSpark, "spec.template.driver", {}, PodPlace::kService},
    {"ScheduledSparkApplication",
     kSpark,
     "spec.template.executor",
     {{{"spec.template.executor.instances"}}},
     PodPlace::kService},
    {"TrainJob", kTrainer, "spec.trainer", {{{"spec.trainer.numNodes"}}}, PodPlace::kService},
    {"RayCluster", kRay, "spec.headGroupSpec.template"},
    {"RayCluster",
     kRay,
     "spec.workerGroupSpecs[].template",
     {{{"spec.workerGroupSpecs[].replicas"}, {"spec.workerGroupSpecs[].numOfHosts"}}}},
    {"RayJob", kRay, "spec.rayClusterSpec.headGroupSpec.template"},
    {"RayJob",
     kRay,
     "spec.rayClusterSpec.workerGroupSpecs[].template",
     {{{"spec.rayClusterSpec.workerGroupSpecs[].replicas"}, {"spec.rayClusterSpec.workerGroupSpecs[].numOfHosts"}}}},
    {"RayService", kRay, "spec.rayClusterConfig.headGroupSpec.template"},
    {"RayService",
     kRay,
     "spec.rayClusterConfig.workerGroupSpecs[].template",
     {{{"spec.rayClusterConfig.workerGroupSpecs[].replicas"},
       {"spec.rayClusterConfig.workerGroupSpecs[].numOfHosts"}}}},
    {"InferenceService", kServing, "spec.predictor", {{{"spec.predictor.minReplicas"}}}, PodPlace::kService},
    {"InferenceService", kServing, "spec.predictor.workerSpec", {}, PodPlace::kSpec},
    {"NIMService", "apps.nvidia.com", "spec", {{{kReplicas}}}, PodPlace::kService},
    {"LLMInferenceService", kServing, "spec.template", {{{kReplicas}}}, PodPlace::kSpec},
    {"LLMInferenceService", kServing, "spec.worker", {{{kReplicas}, {"spec", serve_workers}}}, PodPlace::kSpec},
    {"LLMInferenceService", kServing, "spec.prefill.template", {{{"spec.prefill.replicas"}}}, PodPlace::kSpec},
    {"LLMInferenceService",
     kServing,
     "spec.prefill.worker",
     {{{"spec.prefill.replicas"}, {"spec.prefill", serve_workers}}},
     PodPlace::kSpec},
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

const Value* list_of(const Value* object, std::string_view key) {
  const Value* list = field(object, key);
  return list != nullptr && list->is_array() ? list : nullptr;
}

bool is_map(const Value* value) {
  return value != nullptr && value->is_object();
}

std::string field_text(const Value* object, std::string_view key) {
  const Value* text = field(object, key);
  return text != nullptr && text->as_string() != nullptr ? *text->as_string() : "";
}

// Whether it is the spec of a virtual machine of KubeVirt.
bool is_machine_spec(const Value* spec) {
  const Value* domain = field(spec, "domain");
  return domain != nullptr && domain->is_object();
}

void read_networks(const Document& document, PodTemplate& pod) {
  doc::Diagnostics reported_elsewhere;  // by the parser of pods, or by the rules about annotations
  if (const Value* networks = field(pod.annotations, api::kNetworksAnnotation))
    pod.networks = api::parse_networks_annotation(*networks, document.ns, reported_elsewhere);
  const Value* list = is_machine_spec(pod.spec) ? list_of(pod.spec, "networks") : nullptr;
  for (size_t i = 0; list != nullptr && i < list->as_array()->size(); ++i) {
    const Value& one = (*list->as_array())[i];
    const Value* name = field(one.find("multus"), "networkName");
    if (name == nullptr || name->as_string() == nullptr) continue;
    const std::string& text = *name->as_string();
    const size_t slash = text.find('/');
    api::NetworkSelection selection{.span = name->span};
    selection.name = {
        .value = slash == std::string::npos ? text : text.substr(slash + 1), .present = true, .span = name->span};
    selection.ns = {.value = slash == std::string::npos ? document.ns : text.substr(0, slash),
                    .present = slash != std::string::npos,
                    .span = name->span};
    selection.interface = {.value = field_text(&one, "name"), .present = true, .span = one.span};
    pod.networks.push_back(std::move(selection));
  }
  std::erase_if(pod.networks, [](const api::NetworkSelection& one) { return one.name.value.empty(); });
}

// The container that an operator makes: of an object that the service has for it, of the service itself, or of both.
void read_made_container(const Value& service, PodTemplate& pod) {
  static constexpr std::string_view kMain[] = {"mainContainer", "model"};
  const Value* main = nullptr;
  for (const std::string_view key : kMain)
    for (const Value* around : {pod.spec, &service})
      if (const Value* found = field(around, key); main == nullptr && found != nullptr && found->is_object())
        main = found;
  if (main != nullptr) pod.containers.push_back({.value = main, .name = "main", .made = true});
  if (main == nullptr || service.find("resources") != nullptr)
    pod.containers.push_back({.value = &service, .name = "main", .made = true});
}

PodTemplate read_pod(const Document& document, const Value& value, PodPlace place, std::string path) {
  const Value* object_meta = document.value.find("metadata");
  PodTemplate pod{.document = &document, .path = std::move(path), .span = document.value.span};
  if (const Value* name = field(object_meta, "name")) pod.span = name->span;
  const Value* meta = place == PodPlace::kSpec ? object_meta : value.find("metadata");
  switch (place) {
    case PodPlace::kTemplate:
      pod.spec = value.find("spec");
      pod.virtual_machine = is_machine_spec(pod.spec);
      break;
    case PodPlace::kSpec:
      pod.spec = &value;
      break;
    case PodPlace::kService:
      pod.spec = field(&value, "extraPodSpec");
      if (pod.spec == nullptr || !pod.spec->is_object()) pod.spec = &value;
      if (const Value* extra = value.find("extraPodMetadata")) meta = extra;
      // Spark has a template of the pod beside the fields.
      if (const Value* own = value.find("template"); is_map(own) && is_map(own->find("spec"))) {
        pod.spec = own->find("spec");
        if (const Value* its_meta = own->find("metadata")) meta = its_meta;
      }
      break;
  }
  pod.annotations = field(meta, "annotations");
  pod.labels = field(meta, "labels");
  if (place == PodPlace::kService && pod.annotations == nullptr) pod.annotations = field(&value, "annotations");
  if (place == PodPlace::kService && pod.annotations == nullptr)  // those of a TrainJob's pods; KServe copies its own
    pod.annotations =
        field(document.kind == "InferenceService" ? object_meta : document.value.find("spec"), "annotations");
  if (pod.spec == nullptr || !pod.spec->is_object()) return pod;
  read_containers(*pod.spec, "initContainers", true, pod.containers);
  read_containers(*pod.spec, "containers", false, pod.containers);
  if (place == PodPlace::kService && pod.containers.empty()) read_made_container(value, pod);
  read_networks(document, pod);
  return pod;
}

// Whether it has a list of containers, one of them with an image.
bool has_containers(const Value* spec) {
  const Value* list = is_map(spec) ? list_of(spec, "containers") : nullptr;
  return list != nullptr && std::ranges::any_of(*list->as_array(), [](const Value& one) {
           return one.is_object() && one.find("image") != nullptr;
         });
}

// Groups whose objects hold pods only as patterns to compare others with, or as schemas.
bool only_describes_pods(std::string_view api_version) {
  static constexpr std::string_view kGroups[] = {"kyverno.io/",
                                                 "policies.kyverno.io/",
                                                 "constraints.gatekeeper.sh/",
                                                 "templates.gatekeeper.sh/",
                                                 "mutations.gatekeeper.sh/",
                                                 "policies.kubewarden.io/",
                                                 "admissionregistration.k8s.io/",
                                                 "apiextensions.k8s.io/"};
  return std::ranges::any_of(kGroups, [&](std::string_view group) { return api_version.starts_with(group); });
}

// Finds pods by their shape.
class ShapeSearch {
 public:
  ShapeSearch(const Document& document, std::vector<PodTemplate>& out) : document_(document), out_(out) {}

  void search(const Value& value, const std::string& path, int64_t replicas, int depth) {
    constexpr int kDeepest = 64;
    if (depth > kDeepest) return;
    if (const Value::Array* items = value.as_array())
      for (size_t i = 0; i < items->size(); ++i)
        search((*items)[i], fmt::format("{}[{}]", path, i), replicas, depth + 1);
    const Value::Object* members = value.as_object();
    if (members == nullptr) return;
    // An object inside an object is a document of its own, or none that is made.
    if (depth > 0 && is_text(value.find("apiVersion")) && is_text(value.find("kind"))) return;
    if (const Value* own = value.find("replicas")) replicas = count_of(own);
    if (const auto place = place_of(value)) return keep(value, *place, path, replicas);
    for (const Value::Member& member : *members)
      if (member.key != "status")
        search(member.value, path.empty() ? member.key : path + "." + member.key, replicas, depth + 1);
  }

 private:
  static bool is_text(const Value* value) { return value != nullptr && value->is_string(); }

  static std::optional<PodPlace> place_of(const Value& value) {
    const Value* spec = value.find("spec");
    if (has_containers(spec) || is_machine_spec(spec)) return PodPlace::kTemplate;
    if (is_map(value.find("extraPodMetadata")) || is_map(value.find("extraPodSpec"))) return PodPlace::kService;
    if (has_containers(&value)) return PodPlace::kSpec;
    return std::nullopt;
  }

  void keep(const Value& value, PodPlace place, const std::string& path, int64_t replicas) {
    PodTemplate pod = read_pod(document_, value, place, path);
    pod.replicas = replicas;
    out_.push_back(std::move(pod));
  }

  const Document& document_;
  std::vector<PodTemplate>& out_;
};

bool is_row_of(const PodKind& row, const Document& document) {
  if (row.kind != document.kind) return false;
  if (document.api_version.empty()) return true;
  const size_t slash = document.api_version.find('/');
  return document.api_version.substr(0, slash == std::string::npos ? 0 : slash) == row.group;
}

}  // namespace

const Value* Container::variables() const {
  const Value* list = list_of(value, "env");
  return list != nullptr || !made ? list : list_of(value, "envs");
}

const Value* Container::env(std::string_view variable) const {
  const Value* list = variables();
  if (list == nullptr) return nullptr;
  const Value* found = nullptr;  // of two with the same name the last one counts
  for (const Value& item : *list->as_array()) {
    const Value* its_name = item.find("name");
    if (its_name != nullptr && its_name->as_string() != nullptr && *its_name->as_string() == variable)
      found = item.find("value");
  }
  return found;
}

std::vector<const Value*> Container::resource_maps() const {
  std::vector<const Value*> maps;
  const auto add = [&](const Value* resources) {
    for (const std::string_view key : {"limits", "requests"}) {
      const Value* map = field(resources, key);
      if (!is_map(map)) continue;
      maps.push_back(map);
      // Dynamo has resources that it does not know by name in a map of their own.
      if (const Value* custom = made ? map->find("custom") : nullptr; is_map(custom)) maps.push_back(custom);
    }
  };
  add(field(value, "resources"));
  if (made) add(field(value, "resourcesPerNode"));  // of a TrainJob
  return maps;
}

const Value* Container::resource(std::string_view key) const {
  for (const Value* map : resource_maps()) {
    if (const Value* found = map->find(key)) return found;
    if (const Value* gpus = made && key == kNvidiaGpuResource ? map->find("gpu") : nullptr) return gpus;
  }
  return nullptr;
}

int64_t Container::resource_count(std::string_view key) const {
  const Value* asked = resource(key);
  return asked == nullptr ? 0 : schema::whole_quantity(*asked).value_or(0);
}

std::string PodTemplate::label() const {
  return document->name.empty()
             ? document->kind
             : fmt::format("{} {}/{}", document->kind, document->ns.empty() ? "default" : document->ns, document->name);
}

bool PodTemplate::host_network() const {
  const Value* flag = field(spec, "hostNetwork");
  return flag != nullptr && flag->as_bool() != nullptr && *flag->as_bool();
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

bool has_pods(std::string_view kind) {
  return std::ranges::find(kPodKinds, kind, &PodKind::kind) != std::end(kPodKinds);
}

std::vector<PodTemplate> find_pods(const Bundle& bundle) {
  std::vector<PodTemplate> pods;
  for (const Document& document : bundle.documents) {
    const size_t before = pods.size();
    for (const PodKind& row : kPodKinds) {
      if (!is_row_of(row, document)) continue;
      std::vector<Place> places;
      find_places(document.value, row.path, {}, places);
      for (const Place& place : places) {
        PodTemplate pod = read_pod(document, *place.value, row.place, place.path);
        pod.replicas = replicas_of(document.value, row, place);
        pod.per_node = row.kind == "DaemonSet";
        if (pod.spec != nullptr && pod.spec->is_object()) pods.push_back(std::move(pod));
      }
    }
    if (pods.size() == before && !document.carries && !only_describes_pods(document.api_version))
      ShapeSearch(document, pods).search(document.value, "", 1, 0);
  }
  return pods;
}

}  // namespace railbed::check
