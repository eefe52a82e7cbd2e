// SPDX-License-Identifier: Apache-2.0
#include "api/pod.h"

#include <algorithm>

#include "api/load.h"
#include "api/metadata.h"
#include "api/names.h"
#include "api/quantity.h"
#include "doc/fields.h"

namespace railbed::api {

using doc::Value;

namespace {

constexpr int64_t kMostDevices = 1'000'000'000;  // of one container; more is as good as this, and sums stay numbers

class PodReader {
 public:
  PodReader(const Value& object, doc::Diagnostics& out) : object_(object), out_(out) {}

  Pod read() {
    doc::Fields top(object_, "", "RB-API", out_);
    top.ignore({"apiVersion", "kind", "status"});
    pod_.meta = read_metadata(top, out_);
    top.require("spec");
    if (const Value* spec = top.object("spec")) read_spec(*spec);
    top.finish(top_level({{"containers", "is a field of spec", "indent it below 'spec:'"}}));
    const auto networks = pod_.meta.annotations.find(std::string(kNetworksAnnotation));
    if (networks != pod_.meta.annotations.end() && networks->second->is_string())
      pod_.networks = parse_networks_annotation(*networks->second, *pod_.meta.ns, out_);
    return std::move(pod_);
  }

 private:
  void read_spec(const Value& object) {
    doc::Fields spec(object, "spec", "RB-API", out_);
    spec.require("containers");
    pod_.node_name = spec.text("nodeName");
    pod_.node_selector = read_string_map(spec, "nodeSelector");
    if (const Value::Array* containers = spec.list("containers"))
      for (size_t i = 0; i < containers->size(); ++i)
        read_container((*containers)[i], fmt::format("spec.containers[{}]", i));
    spec.ignore({"activeDeadlineSeconds",
                 "affinity",
                 "automountServiceAccountToken",
                 "dnsConfig",
                 "dnsPolicy",
                 "enableServiceLinks",
                 "ephemeralContainers",
                 "hostAliases",
                 "hostIPC",
                 "hostNetwork",
                 "hostPID",
                 "hostUsers",
                 "hostname",
                 "hostnameOverride",
                 "imagePullSecrets",
                 "initContainers",
                 "os",
                 "overhead",
                 "preemptionPolicy",
                 "priority",
                 "priorityClassName",
                 "readinessGates",
                 "resourceClaims",
                 "resources",
                 "restartPolicy",
                 "runtimeClassName",
                 "schedulerName",
                 "schedulingGates",
                 "securityContext",
                 "serviceAccount",
                 "serviceAccountName",
                 "setHostnameAsFQDN",
                 "shareProcessNamespace",
                 "subdomain",
                 "terminationGracePeriodSeconds",
                 "tolerations",
                 "topologySpreadConstraints",
                 "volumes"});
    spec.finish({{"image", "is a field of a container", ""},
                 {"command", "is a field of a container", ""},
                 {"env", "is a field of a container", ""},
                 {"annotations", "is a field of metadata, not of spec", ""}});
  }

  void read_container(const Value& object, const std::string& path) {
    doc::Fields container(object, path, "RB-API", out_);
    container.require("name");
    container.text("name");
    const auto image = container.text("image");
    if (image.present && has_placeholder(image.value))
      container.warning(8, image.span, fmt::format("{}.image: \"{}\" holds a placeholder", path, image.value))
          .with_fix("write the real name")
          .that_says(doc::Says::kPlaceholder);
    if (const Value* resources = container.object("resources")) read_resources(*resources, path + ".resources");
    container.ignore({"args",
                      "command",
                      "env",
                      "envFrom",
                      "imagePullPolicy",
                      "lifecycle",
                      "livenessProbe",
                      "ports",
                      "readinessProbe",
                      "resizePolicy",
                      "restartPolicy",
                      "restartPolicyRules",
                      "securityContext",
                      "startupProbe",
                      "stdin",
                      "stdinOnce",
                      "terminationMessagePath",
                      "terminationMessagePolicy",
                      "tty",
                      "volumeDevices",
                      "volumeMounts",
                      "workingDir"});
    container.finish({{"limits", "is a field of resources", "indent it below 'resources:'"},
                      {"requests", "is a field of resources", "indent it below 'resources:'"},
                      {"nodeSelector", "is a field of spec, not of a container", ""}});
  }

  void read_resources(const Value& object, const std::string& path) {
    doc::Fields resources(object, path, "RB-API", out_);
    resources.ignore({"claims"});
    const Value* limits = resources.object("limits");
    const Value* requests = resources.object("requests");
    if (limits) add(resources, *limits, path + ".limits", nullptr);
    if (requests) add(resources, *requests, path + ".requests", limits);
    resources.finish();
  }

  // Those that are counted in whole devices; Kubernetes' own (kubernetes.io/batch-cpu) may be fractions.
  static bool is_extended_resource(std::string_view name) {
    return name.find('/') != std::string_view::npos && name.find("kubernetes.io/") == std::string_view::npos;
  }

  // Adds the extended resources of one map, except those that `counted` has, which are counted there.
  void add(doc::Fields& reader, const Value& map, const std::string& path, const Value* counted) {
    for (const Value::Member& member : *map.as_object()) {
      if (!is_extended_resource(member.key) || (counted != nullptr && counted->find(member.key) != nullptr)) continue;
      if (const auto number = whole_quantity(member.value))
        pod_.resources[member.key] += std::min(*number, kMostDevices);
      else
        reader.error(5, member.value.span, fmt::format("{}[{}] must be a whole number of devices", path, member.key));
    }
  }

  const Value& object_;
  doc::Diagnostics& out_;
  Pod pod_;
};

}  // namespace

std::optional<Pod> parse_pod(const Value& object, doc::Diagnostics& diagnostics) {
  doc::Diagnostics found;
  Pod pod = PodReader(object, found).read();
  const bool right = !found.has_errors();
  diagnostics.append(std::move(found));
  if (!right) return std::nullopt;
  return pod;
}

}  // namespace railbed::api
