// SPDX-License-Identifier: Apache-2.0
#include "api/pod.h"

#include <algorithm>

#include "api/compare.h"
#include "api/load.h"
#include "api/metadata.h"
#include "api/names.h"
#include "api/placement.h"
#include "doc/members.h"
#include "schema/quantity.h"

namespace railbed::api {

using doc::Value;

namespace {

constexpr int64_t kMostDevices = 1'000'000'000;  // of one container; more is as good as this, and sums stay numbers

class PodReader {
 public:
  PodReader(const Value& object, doc::Diagnostics& out) : object_(object), out_(out) {}

  Pod read() {
    pod_.meta = read_metadata(object_, out_);
    if (const Value* spec = doc::object_in(object_, "spec")) read_spec(*spec);
    const auto networks = pod_.meta.annotations.find(std::string(kNetworksAnnotation));
    if (networks != pod_.meta.annotations.end() && networks->second->is_string())
      pod_.networks = parse_networks_annotation(*networks->second, *pod_.meta.ns, out_);
    return std::move(pod_);
  }

 private:
  void read_spec(const Value& spec) {
    pod_.node_name = doc::text_field(spec, "nodeName");
    pod_.node_selector = doc::text_map_at(spec, "nodeSelector");
    pod_.placement = read_placement(spec);
    if (const Value::Array* containers = doc::list_in(spec, "containers"))
      for (size_t i = 0; i < containers->size(); ++i)
        read_container((*containers)[i], fmt::format("spec.containers[{}]", i));
  }

  void read_container(const Value& container, const std::string& path) {
    const auto image = doc::text_field(container, "image");
    if (image.present && has_placeholder(image.value))
      out_.warning("RB-API-008", image.span, fmt::format("{}.image: \"{}\" holds a placeholder", path, image.value))
          .of(doc::Layer::kObject)
          .with_fix("write the real name")
          .that_says(doc::Says::kPlaceholder);
    const Value* resources = doc::object_in(container, "resources");
    if (resources == nullptr) return;
    const Value* limits = doc::object_in(*resources, "limits");
    const Value* requests = doc::object_in(*resources, "requests");
    if (limits) add(*limits, path + ".resources.limits", nullptr);
    if (requests) add(*requests, path + ".resources.requests", limits);
  }

  // Those that are counted in whole devices; Kubernetes' own (kubernetes.io/batch-cpu) may be fractions.
  static bool is_extended_resource(std::string_view name) {
    return name.find('/') != std::string_view::npos && name.find("kubernetes.io/") == std::string_view::npos;
  }

  // Adds the extended resources of one map, except those that `counted` has, which are counted there.
  void add(const Value& map, const std::string& path, const Value* counted) {
    for (const Value::Member& member : *map.as_object()) {
      if (!is_extended_resource(member.key) || (counted != nullptr && counted->find(member.key) != nullptr)) continue;
      if (const auto number = schema::whole_quantity(member.value))
        pod_.resources[member.key] += std::min(*number, kMostDevices);
      else if (schema::is_quantity(member.value))
        wrong_value(member.value.span, fmt::format("{}[{}] must be a whole number of devices", path, member.key), out_);
    }
  }

  const Value& object_;
  doc::Diagnostics& out_;
  Pod pod_;
};

}  // namespace

Pod read_pod(const Value& object, doc::Diagnostics& out) {
  return PodReader(object, out).read();
}

}  // namespace railbed::api
