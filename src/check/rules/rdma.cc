// SPDX-License-Identifier: Apache-2.0
// Requirements of RDMA and GPUDirect on pods, policies and drivers.
#include <algorithm>
#include <charconv>
#include <set>

#include "api/names.h"
#include "api/pod.h"
#include "check/data_files.h"
#include "check/rules/device_lists.h"
#include "check/rules/families.h"
#include "check/rules/lookups.h"
#include "check/rules/privileges.h"
#include "check/rules/versions.h"

namespace railbed::check {
namespace {

using doc::Value;

const Value::Array& known_cards() {
  static const Value kData = data_document("pci_ids.yaml");
  return *kData.find("cards")->as_array();
}

// The card whose PF has this id; null when it is unknown.
const Value* card_of_pf(std::string_view id) {
  for (const Value& card : known_cards())
    if (text_at(card, "pf") == id) return &card;
  return nullptr;
}

std::vector<std::string> pfs_of_vf(std::string_view id) {
  std::vector<std::string> pfs;
  for (const Value& card : known_cards())
    if (text_at(card, "vf") == id) pfs.push_back(fmt::format("{} ({})", text_at(card, "pf"), text_at(card, "name")));
  return pfs;
}

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

// Bytes of a Kubernetes quantity; nullopt for other text.
std::optional<double> bytes_of(const Value* quantity) {
  if (quantity == nullptr) return std::nullopt;
  if (const int64_t* number = quantity->as_int()) return static_cast<double>(*number);
  const std::string* text = quantity->as_string();
  if (text == nullptr) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc{}) return std::nullopt;
  static constexpr std::pair<std::string_view, double> kUnits[] = {{"", 1},        {"k", 1e3},     {"M", 1e6},
                                                                   {"G", 1e9},     {"T", 1e12},    {"Ki", 0x1p10},
                                                                   {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}};
  const std::string_view unit(end, static_cast<size_t>(text->data() + text->size() - end));
  for (const auto& [name, factor] : kUnits)
    if (name == unit) return number * factor;
  return std::nullopt;
}

void memory_too_small(const Input& in, Findings& out) {
  constexpr double kGi = 0x1p30;
  constexpr double kPerGpu = 4 * kGi;  // staging buffers and the framework's own pinned memory
  constexpr double kWithout = 2 * kGi;
  for (const PodView& pod : in.views.pods) {
    const Container* container = rdma_container(in, pod);
    if (container == nullptr) continue;
    const Value* limit = at(*container->value, "resources.limits.memory");
    const auto bytes = bytes_of(limit);
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

bool has_shm(const PodTemplate& pod, const Container& container) {
  if (flag_at(*pod.spec, "hostIPC").value_or(false)) return true;
  const Value* mounts = container.value->find("volumeMounts");
  if (mounts == nullptr || !mounts->is_array()) return false;
  return std::ranges::any_of(*mounts->as_array(), [](const Value& mount) {
    const std::string_view path = text_at(mount, "mountPath");
    return path == "/dev/shm" || path == "/dev/shm/" || path == "/dev";
  });
}

void small_shared_memory(const Input& in, Findings& out) {
  for (const PodTemplate& pod : in.pods)
    for (const Container& container : pod.containers) {
      const Value* gpus = container.resource("nvidia.com/gpu");
      if (gpus == nullptr || container.resource_count("nvidia.com/gpu") < 2 || is_merged(pod)) continue;
      if (has_shm(pod, container)) continue;
      out.warning(gpus->span,
                  fmt::format("{} GPUs and a /dev/shm of 64 MiB, the runtime's default: NCCL's and the data loaders' "
                              "shared memory does not fit, and they die with SIGBUS or fall back",
                              container.resource_count("nvidia.com/gpu")))
          .with_fix("a volume \"emptyDir: {medium: Memory}\" mounted at /dev/shm");
    }
}

// A pod that expects RDMA from a network whose definition does not mention it.
const PodView* pod_wanting_rdma(const Input& in, const NetworkView& network) {
  for (const size_t user : network.users) {
    const PodView& pod = in.views.pods[user];
    for (const Container& container : pod.pod->containers) {
      for (const Word& word : texts_at(*container.value, "securityContext.capabilities.add"))
        if (word.text == "IPC_LOCK") return &pod;
      for (const std::string_view name : {"NCCL_IB_HCA", "NCCL_IB_GID_INDEX", "NCCL_IB_TC", "UCX_NET_DEVICES"})
        if (container.env(name) != nullptr) return &pod;
      const Value* limits = at(*container.value, "resources.limits");
      if (limits != nullptr && limits->is_object())
        for (const Value::Member& one : *limits->as_object())
          if (one.key.starts_with("rdma/")) return &pod;
    }
  }
  return nullptr;
}

void device_without_rdma(const Input& in, Findings& out) {
  for (const NetworkView& network : in.views.networks) {
    if (network.type != "host-device" || network.plugin("rdma") != nullptr || !network.resource.empty()) continue;
    const Value* asks = network.plugins.front().find("isRdma");
    const PodView* pod = pod_wanting_rdma(in, network);
    if (asks == nullptr && pod == nullptr) continue;
    const Value* type = network.plugins.front().find("type");
    auto& reported =
        out.warning(type->span,
                    "host-device moves only the interface: the RDMA device stays outside, and the pod does "
                    "not get /dev/infiniband");
    if (pod != nullptr) reported.note(pod->pod->span, "this pod needs RDMA");
    reported.with_fix(
        "a resource that brings the device files (a device plugin with isRdma, named in annotation "
        "k8s.v1.cni.cncf.io/resourceName); in exclusive mode also a plugin {\"type\": \"rdma\"} behind it");
  }
}

// Whether RDMA devices are shared by all namespaces, and who says so for an object: a pool of its environment, else the
// nodes.
struct RdmaMode {
  std::string mode;  // empty: nothing says
  std::string where;
  doc::Span because;  // unknown: facts

  void explain(doc::Diagnostic& reported) const {
    if (because.known())
      reported.note(because, "the mode is set here");
    else
      reported.at_most(doc::Confidence::kMedium, std::string(kOtherNodes));
  }
};

// Pools of nodes that set a mode.
std::vector<const Document*> pools_with_mode(const Input& in) {
  std::vector<const Document*> pools;
  for (const Document& document : in.bundle.documents)
    if (document.kind == "SriovNetworkPoolConfig" && !text_at(document.value, "spec.rdmaMode").empty())
      pools.push_back(&document);
  return pools;
}

RdmaMode rdma_mode_for(const Input& in, const std::vector<const Document*>& pools, const Document& user) {
  RdmaMode mode;
  for (const facts::NodeFacts& node : in.nodes)
    if (!node.rdma_netns_mode.empty()) mode = {node.rdma_netns_mode, "node " + node.node, {}};
  for (const Document* pool : pools)
    if (belong_together(in.settings, user, *pool))
      mode = {std::string(text_at(pool->value, "spec.rdmaMode")), "the pool of nodes",
              at(pool->value, "spec.rdmaMode")->span};
  return mode;
}

// The plugin looks at the mode when it starts, and exits.
void shared_plugin_in_exclusive_mode(const Input& in, const std::vector<const Document*>& pools, Findings& out) {
  std::set<const Document*> documents;
  for (const Producer& producer : in.views.producers)
    if (producer.by == Producer::By::kSharedPlugin) documents.insert(producer.document);
  if (documents.empty() || holds(in, "shared-plugin-takes-exclusive-mode").holds != Holds::kNo) return;
  for (const Document* document : documents) {
    const RdmaMode mode = rdma_mode_for(in, pools, *document);
    if (mode.mode != "exclusive") continue;
    const doc::Span section = key_span(document->value, "spec.rdmaSharedDevicePlugin");
    auto& reported = out.error(section.known() ? section : name_span(*document),
                               fmt::format("the RDMA shared device plugin exits where RDMA devices are per namespace "
                                           "(exclusive), as on {}: its resources do not exist",
                                           mode.where));
    mode.explain(reported);
    reported.with_fix("rdmaMode: shared (rdma system set netns shared), or VFs of their own for pods");
  }
}

void namespace_mode(const Input& in, Findings& out) {
  const std::vector<const Document*> pools = pools_with_mode(in);
  shared_plugin_in_exclusive_mode(in, pools, out);
  for (const NetworkView& network : in.views.networks) {
    if (network.plugins.empty() || !in.views.rdma(network)) continue;
    const RdmaMode mode = rdma_mode_for(in, pools, *network.document);
    const Value* rdma = network.plugin("rdma");
    if (mode.mode == "exclusive" && rdma == nullptr) {
      auto& reported = out.error(name_span(*network.document),
                                 fmt::format("RDMA devices are per namespace on {} (exclusive), and {} does "
                                             "not move them: pods see none",
                                             mode.where, network.label()));
      mode.explain(reported);
      reported.with_fix("metaPlugins: '{\"type\": \"rdma\"}', or mode shared");
    } else if (mode.mode == "shared" && rdma != nullptr) {
      auto& reported =
          out.error(rdma->span, fmt::format("the rdma plugin fails on {}: its RDMA devices are shared by all "
                                            "namespaces",
                                            mode.where));
      mode.explain(reported);
      reported.with_fix("rdmaMode: exclusive (rdma system set netns exclusive), or no rdma plugin");
    }
  }
}

// "400G", "400 Gb/s", "400 Gbps", "400GbE" in a line; 0 where there is none.
int rate_in(std::string_view line) {
  int most = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] < '0' || line[i] > '9' || (i > 0 && line[i - 1] >= '0' && line[i - 1] <= '9')) continue;
    int number = 0;
    size_t end = i;
    while (end < line.size() && line[end] >= '0' && line[end] <= '9' && end - i < 5)
      number = number * 10 + (line[end++] - '0');
    const std::string_view rest = line.substr(end, 6);
    const bool gigabit = rest.starts_with("G ") || rest == "G" || rest.starts_with("G,") || rest.starts_with("G.") ||
                         rest.starts_with("GbE") || rest.starts_with("Gb") || rest.starts_with(" Gb") ||
                         rest.starts_with("G/");
    if (gigabit && number >= 10 && number <= 1600) most = std::max(most, number);
  }
  return most;
}

void slower_than_said(const Input& in, Findings& out) {
  const Prose* line = nullptr;
  int said = 0;
  for (const Prose& prose : in.bundle.prose)
    if (const int rate = rate_in(prose.text); rate > said) {
      said = rate;
      line = &prose;
    }
  if (line == nullptr) return;
  for (const PolicyView& policy : in.views.policies) {
    const Value* id = at(*policy.spec, "nicSelector.deviceID");
    const Value* card = card_of_pf(lower(text_at(*policy.spec, "nicSelector.deviceID")));
    if (card == nullptr) continue;
    const int64_t rate = integer_at(*card, "rate_gbps").value_or(0);
    if (rate == 0 || said < rate * 2) continue;
    out.note(id->span, fmt::format("{} is a {}, whose ports do {} Gb/s; the text speaks of {}",
                                   text_at(*policy.spec, "nicSelector.deviceID"), text_at(*card, "name"), rate, said))
        .note(line->span, "here")
        .with_fix("the device id of the card that is meant (railbed discover)");
  }
}

void vf_id_for_pf(const Input& in, Findings& out) {
  for (const PolicyView& policy : in.views.policies) {
    const Value* id = at(*policy.spec, "nicSelector.deviceID");
    const std::string text = lower(text_at(*policy.spec, "nicSelector.deviceID"));
    if (id == nullptr || text.empty() || card_of_pf(text) != nullptr) continue;
    const auto pfs = pfs_of_vf(text);
    if (pfs.empty()) continue;
    out.error(id->span, fmt::format("{} is the id of VFs; a policy selects PFs, so it matches nothing", text))
        .with_fix(fmt::format("the PF's id: {}", fmt::join(pfs, ", ")));
  }
}

struct DeviceEntry {
  Word id;
  const Producer* producer = nullptr;
};

std::vector<DeviceEntry> plugin_devices(const Input& in) {
  std::vector<DeviceEntry> all;
  for (const Producer& producer : in.views.producers) {
    if (producer.by != Producer::By::kSriovPlugin) continue;
    const Value* selectors = producer.entry.find("selectors");
    if (selectors == nullptr) continue;
    const auto add = [&](const Value& one) {
      for (Word& word : texts_at(one, "devices")) all.push_back({std::move(word), &producer});
    };
    if (selectors->is_array())
      std::ranges::for_each(*selectors->as_array(), add);
    else
      add(*selectors);
  }
  return all;
}

void pool_of_nothing(const Input& in, Findings& out) {
  for (const DeviceEntry& entry : plugin_devices(in)) {
    const std::string id = lower(entry.id.text);
    const Value* made = nullptr;
    std::string made_vf;
    bool fits = false;
    for (const PolicyView& policy : in.views.policies) {
      const Value* selected = at(*policy.spec, "nicSelector.deviceID");
      const std::string pf = lower(text_at(*policy.spec, "nicSelector.deviceID"));
      const Value* card = card_of_pf(pf);
      if (card == nullptr) {
        fits = true;  // a policy for any card, or for an unknown one, may fit
        continue;
      }
      fits = fits || text_at(*card, "vf") == id;
      made = selected;
      made_vf = text_at(*card, "vf");
    }
    if (fits || made == nullptr || (pfs_of_vf(id).empty() && card_of_pf(id) == nullptr)) continue;
    const bool is_pf = card_of_pf(id) != nullptr;
    out.error(entry.id.span, is_pf ? fmt::format("{} is the id of PFs; the VFs of the policy's card are {}: the "
                                                 "pool of {} stays without VFs",
                                                 id, made_vf, entry.producer->resource)
                                   : fmt::format("the policy's card makes VFs {}, not {}: the pool of {} stays at 0",
                                                 made_vf, id, entry.producer->resource))
        .note(made->span, fmt::format("VFs of this card are {}", made_vf))
        .with_fix(fmt::format("\"devices\": [\"{}\"]", made_vf));
  }
}

void peermem_without_mofed(const Input& in, Findings& out) {
  const bool mofed = std::ranges::any_of(in.bundle.documents, [](const Document& document) {
    return (document.kind == "NicClusterPolicy" || document.kind == "NicNodePolicy") &&
           at(document.value, "spec.ofedDriver") != nullptr;
  });
  const bool loaded = std::ranges::any_of(in.nodes, [](const facts::NodeFacts& node) {
    return std::ranges::find(node.modules, "nvidia_peermem") != node.modules.end();
  });
  if (mofed || loaded) return;
  for (const Document& document : in.bundle.documents) {
    if (document.kind != "ClusterPolicy" || !document.api_version.starts_with("nvidia.com/")) continue;
    if (!flag_at(document.value, "spec.driver.rdma.enabled").value_or(false)) continue;
    if (flag_at(document.value, "spec.driver.rdma.useHostMofed").value_or(false)) continue;
    out.warning(at(document.value, "spec.driver.rdma.enabled")->span,
                "nvidia_peermem needs the MOFED or DOCA driver, which nothing here installs: the driver pod waits for "
                "it, or the module is refused with \"Invalid argument\"")
        .with_fix(
            "a NicClusterPolicy with ofedDriver; or rdma.enabled: false with kernelModuleType: open, and "
            "GPUDirect goes through DMA-BUF");
  }
}

void parameters_on_one_line(const Input& in, Findings& out) {
  constexpr std::string_view kParameter = "NVreg_";
  for (const Document& document : in.bundle.documents) {
    const Value* data = document.kind == "ConfigMap" ? document.value.find("data") : nullptr;
    if (data == nullptr || !data->is_object()) continue;
    for (const Value::Member& member : *data->as_object()) {
      const std::string* text = member.value.as_string();
      if (text == nullptr) continue;
      // There is no way to know where the lines ended of a page that lost all its line breaks; RB-DOC-001 reports that.
      if (document.rebuilt && text->find('\n') == std::string::npos) continue;
      for (size_t begin = 0; begin < text->size();) {
        const size_t end = std::min(text->find('\n', begin), text->size());
        const std::string_view line = std::string_view(*text).substr(begin, end - begin);
        begin = end + 1;
        const size_t first = line.find(kParameter);
        const size_t second = first == std::string_view::npos ? first : line.find(kParameter, first + 1);
        if (second == std::string_view::npos || line.starts_with("options ")) continue;
        const std::string_view word = line.substr(second, line.find_first_of("= ", second) - second);
        out.error(inside(member.value, word),
                  fmt::format("{} is on the same line as another parameter: the driver container reads one per line, "
                              "so the module does not load or ignores it",
                              word))
            .with_fix("a line for each parameter");
      }
    }
  }
}

const Document* map_of_module_parameters(const Input& in) {
  for (const Document& map : in.bundle.documents)
    if (map.kind == "ConfigMap" && map.value.find("data") && map.value.find("data")->find("nvidia.conf")) return &map;
  return nullptr;
}

void module_config_not_used(const Input& in, Findings& out) {
  const Document* parameters = map_of_module_parameters(in);
  for (const Document& document : in.bundle.documents) {
    if (document.kind != "ClusterPolicy") continue;
    const Value* name = at(document.value, "spec.driver.kernelModuleConfig.name");
    const std::string_view wanted = text_at(document.value, "spec.driver.kernelModuleConfig.name");
    if (wanted.empty() && name != nullptr && parameters != nullptr)
      out.warning(name->span, fmt::format("no ConfigMap is referenced, so the module parameters of {} have no effect",
                                          parameters->name))
          .note(name_span(*parameters), "this one has nvidia.conf")
          .with_fix("name: " + parameters->name);
    if (wanted.empty()) continue;
    if (flag_at(document.value, "spec.driver.useNvidiaDriverCRD").value_or(false))
      out.warning(name->span,
                  "with useNvidiaDriverCRD the driver's settings are those of the NVIDIADriver objects; "
                  "kernelModuleConfig of the ClusterPolicy is not used")
          .note(at(document.value, "spec.driver.useNvidiaDriverCRD")->span, "set here")
          .with_fix("spec.kernelModuleConfig of the NVIDIADriver");
    const bool there = std::ranges::any_of(
        in.bundle.documents, [&](const Document& map) { return map.kind == "ConfigMap" && map.name == wanted; });
    if (!there && parameters != nullptr)
      out.error(name->span,
                fmt::format("ConfigMap {} not found; the one with nvidia.conf is named {}", wanted, parameters->name))
          .note(name_span(*parameters), "this one")
          .with_fix("name: " + parameters->name)
          .at_most(doc::Confidence::kMedium, "another file may make the ConfigMap");
  }
}

void placeholder_left(const Input& in, Findings& out) {
  const auto report = [&](const Value* value, std::string_view what) {
    const std::string* text = value == nullptr ? nullptr : value->as_string();
    if (text == nullptr || !api::has_placeholder(*text)) return;
    if (what == "image" && text->find("$(") != std::string::npos) return;  // the parameter of a pipeline
    out.error(value->span, fmt::format("{} \"{}\" still has a placeholder", what, *text))
        .with_fix("fill it in")
        .that_says(doc::Says::kPlaceholder);
  };
  for (const PodTemplate& pod : in.pods) {
    if (pod.document->kind != "Pod")  // RB-API-008 reports it for pods
      for (const Container& container : pod.containers) report(container.value->find("image"), "image");
    const Value* secrets = pod.spec->find("imagePullSecrets");
    if (secrets != nullptr && secrets->is_array())
      for (const Value& secret : *secrets->as_array()) report(secret.find("name"), "pull secret");
  }
  for (const NetworkView& network : in.views.networks)
    for (const Value& plugin : network.plugins)
      for (const std::string_view key : {"device", "master", "pciBusID"}) report(plugin.find(key), key);
}

void rdma_not_asked(const Input& in, Findings& out) {
  std::set<const PolicyView*> reported;
  for (const NetworkView& network : in.views.networks) {
    if (network.type != "sriov") continue;
    const PodView* pod = pod_wanting_rdma(in, network);
    if (pod == nullptr) continue;
    for (const PolicyView* policy : in.views.policies_of(network)) {
      const std::string vendor = lower(text_at(*policy->spec, "nicSelector.vendor"));
      if (policy->rdma || (!vendor.empty() && vendor != "15b3")) continue;
      if (text_at(*policy->spec, "deviceType") == "vfio-pci" || !reported.insert(policy).second) continue;
      const doc::Span flag = key_span(*policy->spec, "isRdma");
      auto& finding = out.error(
          flag.known() ? flag : name_span(*policy->document),
          fmt::format("policy {} does not set isRdma: its VFs have no /dev/infiniband, and RDMA fails in the pod",
                      policy->document->name));
      finding.note(pod->pod->span, "this pod needs RDMA")
          .with_fix("isRdma: true")
          .rests_on(name_span(*network.document));
      if (vendor.empty()) finding.at_most(doc::Confidence::kMedium, "the policy does not say whose cards it takes");
    }
  }
}

int64_t pods_on(const Input& in, const NetworkView& network) {
  int64_t pods = 0;
  for (const size_t user : network.users) pods += in.views.pods[user].pod->replicas;
  return pods;
}

bool is_called(const facts::NetInterface& netdev, const std::string& name) {
  return netdev.name == name || std::ranges::find(netdev.alt_names, name) != netdev.alt_names.end();
}

// With or without a PCI device, at home or lent to a pod.
bool has_interface(const facts::NodeFacts& node, const std::string& name, const Settings& settings) {
  const auto called = [&](const facts::NetInterface& netdev) { return is_called(netdev, name); };
  return settings.lent_interfaces.contains(name) || std::ranges::any_of(node.virtual_netdevs, called) ||
         std::ranges::any_of(node.nics, [&](const facts::Nic& nic) {
           return std::ranges::any_of(nic.netdevs, called) || std::ranges::any_of(nic.vfs, [&](const facts::Vf& vf) {
                    return vf.netdev.has_value() && called(*vf.netdev);
                  });
         });
}

void device_by_name(const Input& in, Findings& out) {
  for (const NetworkView& network : in.views.networks) {
    if (network.type != "host-device") continue;
    const Value* device = network.plugins.front().find("device");
    const std::string name(text_at(network.plugins.front(), "device"));
    if (name.empty() || api::has_placeholder(name)) continue;
    std::vector<std::string> without;
    for (const facts::NodeFacts& node : in.nodes)
      if (!has_interface(node, name, in.settings)) without.push_back(node.node);
    if (!without.empty()) {
      const size_t shown = std::min<size_t>(without.size(), 4);
      out.error(device->span, fmt::format("{} does not exist on {}{}: pods on such nodes do not start", name,
                                          fmt::join(without.begin(), without.begin() + static_cast<long>(shown), ", "),
                                          shown < without.size() ? ", …" : ""))
          .with_fix("pciBusID, a resource from a device plugin, or one name on all nodes (udev)")
          .at_most(doc::Confidence::kMedium, std::string(kOtherNodes));
    } else if (in.nodes.empty() && pods_on(in, network) > 1) {
      out.note(device->span, fmt::format("{} pods use {}, and a host's interface goes to one pod at a time: they need "
                                         "a node each, and {} must be the right port on all of them",
                                         pods_on(in, network), network.label(), name))
          .with_fix("check with facts of the nodes, or take VFs");
    }
  }
}

// The place where the pod requests a resource.
doc::Span request_span(const PodTemplate& pod, std::string_view resource) {
  for (const Container& container : pod.containers)
    for (const Value* map : container.resource_maps())
      for (const Value::Member& member : *map->as_object())
        if (member.key == resource) return member.key_span;
  return pod.span;
}

// A RoCE device needs an interface of its port in the pod: the port's GIDs are addresses of interfaces, and those of
// the host are none of the pod's.
void roce_without_network(const Input& in, Findings& out) {
  for (const PodView& pod : in.views.pods) {
    if (pod.pod->host_network() || !pod.networks.empty() || pod.pod->virtual_machine) continue;
    if (pod.pod->annotations != nullptr && pod.pod->annotations->find(api::kNetworksAnnotation) != nullptr) continue;
    for (const Producer& producer : in.views.producers) {
      if (producer.by != Producer::By::kSharedPlugin || pod.pod->resource_count(producer.resource) == 0) continue;
      const graph::ResourceLink link = in.views.link(producer.resource);
      if (!link.all_ethernet() || link.source == graph::LinkSource::kNames) continue;
      out.error(
             request_span(*pod.pod, producer.resource),
             fmt::format("{} gets a RoCE device by {} and no network of its port: the device has no GID for an address "
                         "of the pod, and connections fail (\"failed to modify QP to RTR\")",
                         pod.pod->label(), producer.resource))
          .note(producer.span, "its ports are Ethernet")
          .with_fix("a network on that port (MacvlanNetwork, ipvlan), or hostNetwork: true");
      break;
    }
  }
}

bool is_memory_volume(const PodTemplate& pod, std::string_view name) {
  const Value* volumes = pod.spec->find("volumes");
  return volumes != nullptr && volumes->is_array() && std::ranges::any_of(*volumes->as_array(), [&](const Value& one) {
           return text_at(one, "name") == name && text_at(one, "emptyDir.medium") == "Memory";
         });
}

// A volume in memory that is meant for /dev/shm, by its name or its path, and is mounted beside it.
void shared_memory_elsewhere(const Input& in, Findings& out) {
  for (const PodTemplate& pod : in.pods)
    for (const Container& container : pod.containers) {
      const Value* mounts = container.value->find("volumeMounts");
      if (mounts == nullptr || !mounts->is_array() || has_shm(pod, container)) continue;
      if (container.resource_count("nvidia.com/gpu") > 1) continue;  // RB-RDMA-003 reports it
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

// Whether the policy's cards are NVIDIA's, by its selector or on a node.
bool is_of_nvidia(const Input& in, const PolicyView& policy) {
  if (lower(text_at(*policy.spec, "nicSelector.vendor")) == "15b3") return true;
  return std::ranges::any_of(in.views.pool(policy.resource),
                             [](const PoolPart& part) { return part.pf->nic->pci.vendor == "15b3"; });
}

// mlx5 gives user space its queues through the kernel's driver (a bifurcated driver): DPDK and RDMA need no vfio-pci.
void nvidia_on_vfio(const Input& in, Findings& out) {
  for (const PolicyView& policy : in.views.policies) {
    if (policy.ignored || text_at(*policy.spec, "deviceType") != "vfio-pci" || !is_of_nvidia(in, policy)) continue;
    if (flag_at(*policy.spec, "isRdma").value_or(false)) continue;  // RB-API-005 reports both together
    const PodView* user = nullptr;
    bool machine = false;
    for (const PodView& pod : in.views.pods) {
      const bool uses = pod.pod->resource_count(policy.resource) > 0 ||
                        std::ranges::find(pod.resources, policy.resource) != pod.resources.end();
      if (!uses) continue;
      machine = machine || pod.pod->virtual_machine;
      if (!pod.pod->virtual_machine && user == nullptr) user = &pod;
    }
    if (user == nullptr || machine) continue;
    out.warning(at(*policy.spec, "deviceType")->span,
                fmt::format("VFs of NVIDIA's cards on vfio-pci are for virtual machines: mlx5 and DPDK in {} need the "
                            "kernel's driver and its RDMA device",
                            user->pod->label()))
        .note(user->pod->span, "this pod uses them")
        .with_fix("deviceType: netdevice, isRdma: true");
  }
}

constexpr Rule kRdmaRules[] = {
    {"RB-RDMA-001", "a pod that may not lock memory", Needs::kNothing, cannot_lock_memory},
    {"RB-RDMA-002", "a memory limit below what RDMA pins", Needs::kNothing, memory_too_small},
    {"RB-RDMA-003", "several GPUs and a small /dev/shm", Needs::kNothing, small_shared_memory},
    {"RB-RDMA-004", "an interface moved without its RDMA device", Needs::kNothing, device_without_rdma},
    {"RB-RDMA-005", "a network that does not fit the RDMA namespace mode", Needs::kNothing, namespace_mode},
    {"RB-RDMA-006", "a slower card than the text speaks of", Needs::kNothing, slower_than_said,
     doc::Says::kMatchesNoNic},
    {"RB-RDMA-007", "a VF's device id where the PF's is meant", Needs::kNothing, vf_id_for_pf,
     doc::Says::kMatchesNoNic},
    {"RB-RDMA-008", "a device plugin that lists other VFs than the policy makes", Needs::kNothing, pool_of_nothing},
    {"RB-RDMA-009", "nvidia_peermem without the driver that it needs", Needs::kNothing, peermem_without_mofed},
    {"RB-RDMA-010", "kernel module parameters on one line", Needs::kNothing, parameters_on_one_line},
    {"RB-RDMA-011", "kernel module parameters without effect", Needs::kNothing, module_config_not_used},
    {"RB-RDMA-012", "a placeholder in an image, secret or device", Needs::kNothing, placeholder_left},
    {"RB-RDMA-013", "RDMA pods on VFs without isRdma", Needs::kNothing, rdma_not_asked},
    {"RB-RDMA-014", "a host interface by a name that nodes do not have", Needs::kNothing, device_by_name},
    {"RB-RDMA-015", "a shared RoCE device without a network of its port", Needs::kNothing, roce_without_network},
    {"RB-RDMA-016", "shared memory that is mounted elsewhere", Needs::kNothing, shared_memory_elsewhere},
    {"RB-RDMA-017", "VFs of NVIDIA on vfio-pci for pods", Needs::kNothing, nvidia_on_vfio},
};

}  // namespace

std::span<const Rule> rdma_rules() {
  return kRdmaRules;
}

}  // namespace railbed::check
