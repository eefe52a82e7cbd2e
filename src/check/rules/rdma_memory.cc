// SPDX-License-Identifier: Apache-2.0
// The part of the family RDMA about the memory of pods.
#include <algorithm>

#include "base/well_known.h"
#include "check/rules/lookups.h"
#include "check/rules/privileges.h"
#include "check/rules/rdma_rules.h"
#include "check/rules/versions.h"
#include "schema/quantity.h"

namespace railbed::check {

using doc::Value;

namespace {

// Whether KServe merges the template with presets, or an operator makes the container: they may have what is absent
// here.
bool is_merged(const PodTemplate& pod) {
  return pod.document->kind == "LLMInferenceService" || std::ranges::any_of(pod.containers, &Container::made);
}

bool uses_rdma(const Input& in, const PodView& pod) {
  for (const Producer& producer : in.views.producers)
    if (producer.by == Producer::By::kSharedPlugin && pod.pod->resource_count(producer.resource) > 0) return true;
  return std::ranges::any_of(
      pod.networks, [&](const PodView::Net& net) { return net.network != nullptr && in.views.rdma(*net.network); });
}

// The container that uses RDMA: the one that requests a VF of such a network, otherwise the first that keeps running.
const Container* rdma_container(const Input& in, const PodView& pod) {
  if (!uses_rdma(in, pod)) return nullptr;
  const Container* first = nullptr;
  for (const Container& container : pod.pod->containers) {
    if (container.init) continue;
    if (first == nullptr) first = &container;
    for (const std::string& resource : pod.resources)
      if (container.resource(resource) != nullptr) return &container;
  }
  return first;
}

// Resources that shared device plugins make for RDMA: by their prefix, as every guide has them.
bool asks_for_rdma(const Container& container) {
  for (const Value* list : container.resource_maps())
    for (const Value::Member& member : *list->as_object())
      if (member.key.starts_with("rdma/")) return true;
  return false;
}

// Whether variables say which RDMA devices a library takes, and do not turn RDMA off.
bool sets_rdma_devices(const Container& container) {
  const Value* off = container.env("NCCL_IB_DISABLE");
  if (off != nullptr && (off->as_string() == nullptr || *off->as_string() != "0")) return false;
  const Value* devices = container.env("UCX_NET_DEVICES");
  const std::string* names = devices == nullptr ? nullptr : devices->as_string();
  return container.env("NCCL_IB_HCA") != nullptr || (names != nullptr && names->find("mlx5") != std::string::npos);
}

// The container that plainly uses RDMA although nothing here makes the devices: it asks for them, or it has networks
// and names devices. Null where none does.
const Container* plain_rdma_container(const PodView& pod) {
  for (const Container& container : pod.pod->containers)
    if (!container.init && !container.made &&
        (asks_for_rdma(container) || (!pod.networks.empty() && sets_rdma_devices(container))))
      return &container;
  return nullptr;
}

bool may_lock(const Container& container) {
  if (flag_at(*container.value, "securityContext.privileged").value_or(false)) return true;
  for (const Word& word : texts_at(*container.value, "securityContext.capabilities.add"))
    if (word.text == "IPC_LOCK" || word.text == "CAP_IPC_LOCK" || word.text == "ALL" || word.text == "SYS_RESOURCE")
      return true;
  return false;
}

// How to let a container lock memory: a capability has no effect for a user other than root.
std::string how_to_lock(const Input& in, const PodView& pod, const Container& container) {
  std::string fix = "securityContext: {capabilities: {add: [\"IPC_LOCK\"]}}";
  if (runs_as_non_root(*pod.pod, container))
    fix =
        "LimitMEMLOCK=infinity for the container runtime, a root user with IPC_LOCK, or setcap cap_ipc_lock+ep on the "
        "program in the image: without root the capability alone has no effect";
  if (is_openshift(in.bundle))
    fix += "; on OpenShift also a SecurityContextConstraints that allows IPC_LOCK (of its own only privileged does)";
  return fix;
}

doc::Span container_span(const Container& container) {
  const Value* name = container.value->find("name");
  return name == nullptr ? container.value->span : name->span;
}

bool has_shm(const PodTemplate& pod, const Container& container) {
  if (flag_at(*pod.spec, "hostIPC").value_or(false)) return true;
  const Value* mounts = container.value->find("volumeMounts");
  if (mounts == nullptr || !mounts->is_array()) return false;
  return std::ranges::any_of(*mounts->as_array(), [](const Value& mount) {
    const std::string_view path = text_at(mount, "mountPath");
    return path == "/dev/shm" || path == "/dev/shm/" || path == "/dev";
  });
}

bool is_memory_volume(const PodTemplate& pod, std::string_view name) {
  const Value* volumes = pod.spec->find("volumes");
  return volumes != nullptr && volumes->is_array() && std::ranges::any_of(*volumes->as_array(), [&](const Value& one) {
           return text_at(one, "name") == name && text_at(one, "emptyDir.medium") == "Memory";
         });
}

}  // namespace

void cannot_lock_memory(const Input& in, Findings& out) {
  for (const PodView& pod : in.views.pods) {
    const Container* container = rdma_container(in, pod);
    if (container == nullptr) container = plain_rdma_container(pod);
    if (container == nullptr || may_lock(*container) || is_merged(*pod.pod)) continue;
    const doc::Span context = key_span(*container->value, "securityContext");
    out.warning(context.known() ? context : container_span(*container),
                fmt::format("container {} of {} may not lock memory: where the runtime limits memlock, registering "
                            "RDMA memory fails with ENOMEM",
                            container->name, pod.pod->label()))
        .with_fix(how_to_lock(in, pod, *container));
  }
}

void memory_too_small(const Input& in, Findings& out) {
  constexpr double kGi = 0x1p30;
  constexpr double kPerGpu = 4 * kGi;  // staging buffers and the framework's own pinned memory
  constexpr double kWithout = 2 * kGi;
  for (const PodView& pod : in.views.pods) {
    const Container* container = rdma_container(in, pod);
    if (container == nullptr) continue;
    const Value* limit = at(*container->value, "resources.limits.memory");
    const auto bytes = limit == nullptr ? std::nullopt : schema::approximate_quantity(*limit);
    const int64_t gpus = gpus_of(*pod.pod);
    const double needed = gpus > 0 ? kPerGpu * static_cast<double>(gpus) : kWithout;
    if (!bytes || *bytes >= needed) continue;
    const std::string text = fmt::format(
        "pinned memory counts against this limit{}: RDMA buffers of a real job take gigabytes, and the pod is killed "
        "if they do not fit",
        gpus > 0 ? fmt::format(" ({} GPUs)", gpus) : "");
    (gpus > 0 ? out.warning(limit->span, text) : out.note(limit->span, text))
        .with_fix(fmt::format("memory: {}Gi or more", static_cast<int>(needed / kGi)));
  }
}

void small_shared_memory(const Input& in, Findings& out) {
  for (const PodTemplate& pod : in.pods)
    for (const Container& container : pod.containers) {
      const Value* gpus = container.resource(kNvidiaGpuResource);
      if (gpus == nullptr || container.resource_count(kNvidiaGpuResource) < 2 || is_merged(pod)) continue;
      if (has_shm(pod, container)) continue;
      out.warning(gpus->span,
                  fmt::format("{} GPUs and a /dev/shm of 64 MiB, the runtime's default: NCCL's and the data loaders' "
                              "shared memory does not fit, and they die with SIGBUS or fall back",
                              container.resource_count(kNvidiaGpuResource)))
          .with_fix("a volume \"emptyDir: {medium: Memory}\" mounted at /dev/shm");
    }
}

// A volume in memory that is meant for /dev/shm, by its name or its path, and is mounted beside it.
void shared_memory_elsewhere(const Input& in, Findings& out) {
  for (const PodTemplate& pod : in.pods)
    for (const Container& container : pod.containers) {
      const Value* mounts = container.value->find("volumeMounts");
      if (mounts == nullptr || !mounts->is_array() || has_shm(pod, container)) continue;
      if (container.resource_count(kNvidiaGpuResource) > 1) continue;  // RB-RDMA-003 reports it
      for (const Value& mount : *mounts->as_array()) {
        const std::string_view name = text_at(mount, "name");
        const std::string_view path = text_at(mount, "mountPath");
        const bool meant = lower(name).find("shm") != std::string::npos || path.starts_with("/dev/shm") ||
                           path.starts_with("/dev/") || path.find("shm") != std::string_view::npos;
        if (path.empty() || !meant || !is_memory_volume(pod, name)) continue;
        out.warning(mount.find("mountPath")->span,
                    fmt::format(
                        "{} is not /dev/shm: NCCL's and the data loaders' shared memory of {} stays the runtime's 64 "
                        "MiB",
                        path, pod.label()))
            .with_fix("mountPath: /dev/shm");
      }
    }
}

}  // namespace railbed::check
