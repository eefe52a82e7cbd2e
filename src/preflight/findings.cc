// SPDX-License-Identifier: Apache-2.0
#include "preflight/findings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>
#include <set>

#include "api/cluster_labels.h"
#include "base/command.h"
#include "base/format.h"
#include "base/well_known.h"
#include "controller/crds.h"
#include "doc/members.h"
#include "kube/object.h"
#include "preflight/operator_settings.h"
#include "preflight/writers.h"

namespace railbed::preflight {

using doc::Severity;
using doc::Value;
using findings::Finding;
using findings::Subject;
using Kind = findings::Subject::Kind;

namespace {

constexpr std::array<int, 2> kOldestKubernetes{1, 27};
// From here on policies of the API server can limit agents (deploy/rbac/agent-limits.yaml).
constexpr std::array<int, 2> kPoliciesSince{1, 30};
// What versions before the oldest one lack, by the first version that has it.
struct NewIn {
  std::array<int, 2> version;
  std::string_view what;
};
constexpr NewIn kRequired[] = {
    {{1, 19}, "the API events.k8s.io/v1"},
    {{1, 22}, "server-side apply"},
    {{1, 25}, "rules in definitions of kinds (CEL), and updates of a DaemonSet that start the next pod first"},
    {kOldestKubernetes, "tests with an API server of that version"},
};
// Older ones lack ways to know a namespace and an interface's device, which railbed then finds in other ways.
constexpr std::array<int, 2> kOldestKernel{5, 14};
constexpr size_t kMostNames = 5;  // of nodes or pools in one finding
constexpr std::string_view kSwitching = "docs/switching.md describes how to switch nodes over, one by one";

const Value* at(const Value& object, std::initializer_list<std::string_view> path) {
  const Value* found = &object;
  for (std::string_view key : path)
    if (found = doc::object_in(*found, key); found == nullptr) return nullptr;
  return found;
}
std::string text_at(const Value& object, std::initializer_list<std::string_view> path, std::string_view key) {
  const Value* found = at(object, path);
  return found != nullptr ? doc::text_in(*found, key) : "";
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i) out += (i > 0 ? ", " : "") + names[i];
  return names.size() > kMostNames ? fmt::format("{} and {} more", out, names.size() - kMostNames) : out;
}

// {1, 36} of "v1.36.2-something"; zeros where it is no such text.
std::array<int, 2> version_of(std::string_view text) {
  std::array<int, 2> out{};
  if (text.starts_with('v')) text.remove_prefix(1);
  for (int& number : out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return {};
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.starts_with('.')) text.remove_prefix(1);
  }
  return out;
}

// What an API server before kOldestKubernetes lacks: "a; b".
std::string missing_in(const std::array<int, 2>& version) {
  std::string out;
  for (const NewIn& one : kRequired)
    if (version < one.version) out += fmt::format("{}{}", out.empty() ? "" : "; ", one.what);
  return out;
}

std::vector<const Value*> containers_of(const Value& workload) {
  std::vector<const Value*> out;
  const Value* pod = at(workload, {"spec", "template", "spec"});
  for (const char* list : {"initContainers", "containers"})
    if (const Value::Array* all = pod != nullptr ? doc::list_in(*pod, list) : nullptr)
      for (const Value& one : *all) out.push_back(&one);
  return out;
}
bool has_image(const Value& workload, std::string_view part) {
  return std::ranges::any_of(containers_of(workload), [&](const Value* one) {
    return doc::text_in(*one, "image").find(part) != std::string::npos;
  });
}
// "name=sriov-network-operator", as in api/cluster_labels.h.
bool has_pod_label(const Value& workload, std::string_view selector) {
  const size_t equals = selector.find('=');
  return text_at(workload, {"spec", "template", "metadata", "labels"}, selector.substr(0, equals)) ==
         selector.substr(equals + 1);
}

// By the words of its image and command line: programs of opensm, infiniband-diags and ibutils, and UFM.
bool sends_management_datagrams(const Value& workload) {
  static constexpr std::string_view kPrograms[] = {
      "opensm",   "ufm",       "ibping",  "ibdiagnet", "ibnetdiscover",    "iblinkinfo", "ibswitches", "ibhosts",
      "smpquery", "perfquery", "saquery", "sminfo",    "infiniband-diags", "ibutils",    "ibutils2"};
  const auto names_one = [](std::string_view text) {
    constexpr std::string_view kOfWords = "abcdefghijklmnopqrstuvwxyz0123456789-";
    while (!text.empty()) {
      const std::string_view word = text.substr(0, text.find_first_not_of(kOfWords));
      if (std::ranges::find(kPrograms, word) != std::end(kPrograms)) return true;
      text.remove_prefix(std::min(word.size() + 1, text.size()));
    }
    return false;
  };
  return std::ranges::any_of(containers_of(workload), [&](const Value* container) {
    if (names_one(doc::text_in(*container, "image"))) return true;
    return std::ranges::any_of(std::array{"command", "args"}, [&](const char* list) {
      return std::ranges::any_of(doc::texts_in(*container, list), names_one);
    });
  });
}

class Look {
 public:
  Look(const ClusterLook& look, std::string_view architecture) : look_(look), architecture_(architecture) {}

  std::vector<Finding> run() {
    unknown();
    server();
    nodes();
    others();
    management_datagrams();
    multus();
    cilium();
    definitions();
    pools();
    definition_writers();
    own_namespace();
    rights();
    names();
    return std::move(out_);
  }

 private:
  void add(std::string_view id, Severity severity, std::string message, Subject subject, std::string fix) {
    out_.push_back({.id = std::string(id),
                    .severity = severity,
                    .subject = std::move(subject),
                    .message = std::move(message),
                    .fix = std::move(fix)});
  }

  void unknown() {
    for (const std::string& one : look_.unknown)
      add("RB-CLUSTER-001", kBlocks, "this could not be checked and may block railbed", {Kind::kRequest, one},
          "grant the rights in deploy/preflight, and check again");
  }

  void server() {
    const auto version = version_of(look_.version);
    if (version[0] == 0)
      add("RB-CLUSTER-002", kBlocks,
          fmt::format("Kubernetes is of no known version, railbed requires {}.{} or later", kOldestKubernetes[0],
                      kOldestKubernetes[1]),
          {Kind::kApiServer, look_.server}, "upgrade the cluster first");
    else if (version < kOldestKubernetes)
      add("RB-CLUSTER-002", kBlocks,
          fmt::format("Kubernetes is {}, railbed requires {}.{} or later; missing: {}", look_.version,
                      kOldestKubernetes[0], kOldestKubernetes[1], missing_in(version)),
          {Kind::kApiServer, look_.server}, "upgrade the cluster first");
    if (is_known("API groups") &&
        std::ranges::find(look_.groups, "admissionregistration.k8s.io/v1") == look_.groups.end())
      add("RB-CLUSTER-003", kBlocks, "there are no ValidatingAdmissionPolicies, which limit what agents may write",
          {Kind::kApiServer, look_.server}, "turn on the API admissionregistration.k8s.io/v1");
    else if (version >= kOldestKubernetes && version < kPoliciesSince)
      add("RB-CLUSTER-003", kToKnow,
          fmt::format("before Kubernetes {}.{} there are no ValidatingAdmissionPolicies, and agents are limited by "
                      "their role only: root on one node can change node states, address leases and the network-status "
                      "of pods of all nodes",
                      kPoliciesSince[0], kPoliciesSince[1]),
          {Kind::kApiServer, look_.server},
          "install with the component deploy/kubernetes-1.27, where that limit is enough (docs/security.md, Before "
          "Kubernetes 1.30)");
    if (std::ranges::any_of(look_.groups,
                            [](const std::string& one) { return one.starts_with("security.openshift.io/"); }))
      add("RB-CLUSTER-004", kToKnow, "this is OpenShift, where railbed is not tested",
          {Kind::kObject, "API group security.openshift.io"},
          "agents require a SecurityContextConstraints like `privileged`; report what else is missing");
  }

  void nodes() {
    std::vector<std::string> others, crio, incapable, old;
    size_t on_linux = 0;
    bool labelled = false;
    for (const Value& node : look_.nodes) {
      const std::string name = kube::key_of(node).name;
      const auto info = [&](std::string_view key) { return text_at(node, {"status", "nodeInfo"}, key); };
      if (info("operatingSystem") != "linux") continue;
      ++on_linux;
      if (info("architecture") != architecture_) others.push_back(fmt::format("{} ({})", name, info("architecture")));
      if (info("containerRuntimeVersion").starts_with("cri-o://")) crio.push_back(name);
      if (version_of(info("kernelVersion")) < kOldestKernel)
        old.push_back(fmt::format("{} ({})", name, info("kernelVersion")));
      const auto labels = kube::labels_of(node);
      const auto capable = labels.find(kSriovCapableLabel);
      labelled = labelled || capable != labels.end();
      if (capable == labels.end() || capable->second != "true") incapable.push_back(name);
    }
    if (on_linux == 0 && is_known("Node"))
      add("RB-CLUSTER-005", kBlocks, "no node runs Linux, so no agent can run", {Kind::kNodes, ""}, "add nodes");
    if (!others.empty())
      add("RB-CLUSTER-006", kBlocks, fmt::format("this image is for {}, these nodes are not", architecture_),
          {Kind::kNodes, listed(others)},
          "build the image on such a machine, too, or give the DaemonSet a nodeSelector");
    if (!crio.empty())
      add("RB-CLUSTER-007", kToKnow, "these nodes run CRI-O, with which railbed is not tested",
          {Kind::kNodes, listed(crio)}, "test one node first");
    if (!old.empty())
      add("RB-CLUSTER-008", kToKnow,
          fmt::format("these nodes run Linux before {}.{}, with which railbed is not tested", kOldestKernel[0],
                      kOldestKernel[1]),
          {Kind::kNodes, listed(old)}, "test one node first");
    // Only where Node Feature Discovery labels nodes, it says something about those without.
    if (labelled && !incapable.empty())
      add("RB-CLUSTER-009", kToKnow, "Node Feature Discovery found no NIC that can make VFs",
          {Kind::kNodes, listed(incapable)},
          "pods get no VFs there; check that SR-IOV is enabled in the firmware of NIC and machine");
  }

  // A list that could not be had is in `unknown` already.
  bool is_known(std::string_view kind) const {
    return std::ranges::none_of(look_.unknown,
                                [&](const std::string& one) { return one.starts_with(fmt::format("{}: ", kind)); });
  }

  void each_workload(const std::function<bool(const Value&)>& is_one,
                     const std::function<void(const Subject&)>& report) {
    for (const Value& one : look_.workloads)
      if (is_one(one)) report({Kind::kObject, kube::describe(one)});
  }

  void others() {
    each_workload([](const Value& one) { return has_pod_label(one, api::kUpstreamOperatorPods); },
                  [&](const Subject& where) {
                    add("RB-CLUSTER-010", kBlocks,
                        "the SR-IOV operator runs: railbed writes only for nodes that were taken over", where,
                        std::string(kSwitching));
                  });
    each_workload([](const Value& one) { return has_pod_label(one, api::kUpstreamDaemonPods); },
                  [&](const Subject& where) {
                    add("RB-CLUSTER-011", kBlocks,
                        "the SR-IOV operator's config daemon runs: railbed changes no VF on its nodes", where,
                        "remove nodes from configDaemonNodeSelector of the SriovOperatorConfig, one by one");
                  });
    each_workload([](const Value& one) { return has_image(one, "sriov-network-device-plugin"); },
                  [&](const Subject& where) {
                    add("RB-CLUSTER-012", kBlocks,
                        "the SR-IOV network device plugin runs: two plugins would offer VFs of one resource name",
                        where, "remove it from the nodes that railbed takes over");
                  });
    each_workload([](const Value& one) { return has_image(one, "whereabouts"); },
                  [&](const Subject& where) {
                    add("RB-CLUSTER-013", kToKnow, "whereabouts allocates addresses in this cluster", where,
                        std::string(kSwitching));
                  });
  }

  void management_datagrams() {
    each_workload(&sends_management_datagrams, [&](const Subject& where) {
      add("RB-CLUSTER-014", kToKnow,
          "this runs a program that sends management datagrams; with railbed, pods get umad only where the policy says "
          "so, and never issm",
          where,
          fmt::format(
              "annotate the policy of its resource with {}: \"true\" where its pods may reconfigure the fabric; "
              "run a subnet manager on a host",
              api::kMadAnnotation));
    });
  }

  void multus() {
    each_workload([](const Value& one) { return has_image(one, "multus"); },
                  [&](const Subject& where) {
                    add("RB-CLUSTER-015", kToKnow,
                        "Multus runs; once railbed's agent answers on a node, pods get their networks from railbed",
                        where, fmt::format("{}; finally no node needs both", kSwitching));
                  });
    for (const Value& map : look_.config_maps) {
      const Value* data = at(map, {"data"});
      if (data == nullptr) continue;
      for (const Value::Member& one : *data->as_object()) {
        const std::string* text = one.value.as_string();
        if (text == nullptr || text->find("\"multusConfigFile\"") == std::string::npos) continue;
        const Value config = kube::parse_object(*text).value_or(Value());
        if (doc::text_in(config, "multusConfigFile") == "auto") report_auto(kube::describe(map));
      }
    }
    for (const Value& one : look_.workloads)
      for (const Value* container : containers_of(one))
        for (const char* list : {"command", "args"})
          for (const std::string& word : doc::texts_in(*container, list))
            if (word == "--multus-conf-file=auto") report_auto(kube::describe(one));
  }
  void report_auto(const std::string& object) {
    add("RB-CLUSTER-016", kToKnow,
        fmt::format("Multus generates its configuration: 00-multus.conf, which sorts after railbed's {}",
                    agent::kNodeConfigName),
        {Kind::kObject, object},
        "nothing: Multus reads *.conf and *.conflist, so it never delegates to railbed's file");
  }

  void cilium() {
    for (const Value& map : look_.config_maps)
      if (text_at(map, {"data"}, "cni-exclusive") == "true")
        add("RB-CLUSTER-017", kBlocks,
            "Cilium renames the CNI configurations of others, railbed's too (cni-exclusive: \"true\")",
            {Kind::kObject, kube::describe(map)},
            "set cni.exclusive=false in Cilium's Helm values, and restart its agents");
  }

  void definitions() {
    std::set<std::string> ours;
    for (const controller::CustomResource& kind : controller::custom_resources()) ours.insert(kind.name());
    for (const Value& one : look_.definitions) {
      const std::string name = kube::key_of(one).name;
      if (!ours.contains(name)) continue;
      const std::string owner = owner_of(one);
      if (!owner.empty())
        add("RB-CLUSTER-018", kBlocks,
            fmt::format("this definition is managed by {}, which would conflict with railbed", owner),
            {Kind::kObject, "CustomResourceDefinition " + name},
            fmt::format("remove crds/{}.yaml from your kustomization; fields that the definition lacks are reported by "
                        "Events instead",
                        name));
    }
  }
  static std::string owner_of(const Value& definition) {
    for (const auto& [key, value] : kube::labels_of(definition))
      if (key == "olm.managed" || key.starts_with("operators.coreos.com/")) return "the Operator Lifecycle Manager";
    const std::string release = text_at(definition, {"metadata", "annotations"}, "meta.helm.sh/release-name");
    return release.empty() ? "" : fmt::format("the Helm release {}", release);
  }

  void pools() {
    std::vector<std::string> used, sliced;
    for (const Value& one : look_.pools) {
      const std::string name = kube::key_of(one).to_string();
      if (doc::text_in(one, "kind") == "NodeSlicePool") {
        sliced.push_back(name);
        continue;
      }
      const Value* allocations = at(one, {"spec", "allocations"});
      const size_t count = allocations != nullptr ? allocations->as_object()->size() : 0;
      if (count > 0) used.push_back(fmt::format("{} ({})", name, count));
    }
    if (!used.empty())
      add("RB-CLUSTER-019", kBlocks,
          "whereabouts has allocated addresses to pods: railbed allocates none of these ranges until they are taken "
          "over",
          {Kind::kObject, "IPPool " + listed(used)}, std::string(kSwitching));
    if (!sliced.empty())
      add("RB-CLUSTER-020", kBlocks,
          "whereabouts gives each node a slice of a range (node_slice_size), which railbed refuses",
          {Kind::kObject, "NodeSlicePool " + listed(sliced)},
          "remove node_slice_size from the networks that railbed will serve");
  }

  // Where agents restrict definitions already, it matters no more.
  void definition_writers() {
    for (const Value& one : look_.workloads)
      for (const Value* container : containers_of(one)) {
        const std::vector<std::string> args = doc::texts_in(*container, "args");
        const auto option = std::ranges::find(args, "--tenant-definitions");
        if (std::ranges::find(args, "--tenant-definitions=restrict") != args.end() ||
            (option != args.end() && option + 1 != args.end() && *(option + 1) == "restrict"))
          return;
      }
    std::vector<std::string> who;
    Severity severity = kToKnow;
    for (const DefinitionWriter& one : preflight::definition_writers(look_.roles, look_.bindings, look_.ns)) {
      if (one.is_everybody()) severity = kBlocks;
      who.push_back(one.to_string());
    }
    if (!who.empty())
      add("RB-CLUSTER-021", severity,
          "users other than administrators may write network definitions, which can use any interface of a node and "
          "execute its plugins as root",
          {Kind::kObject, listed(who)},
          "remove the right, or run agents with --tenant-definitions restrict (docs/meta.md)");
  }

  void own_namespace() {
    if (!look_.own_namespace) return;
    const std::string level =
        text_at(*look_.own_namespace, {"metadata", "labels"}, "pod-security.kubernetes.io/enforce");
    if (!level.empty() && level != "privileged")
      add("RB-CLUSTER-022", kBlocks, fmt::format("Pod Security admits {} pods only, and agents are privileged", level),
          {Kind::kObject, "Namespace " + look_.ns},
          Command{"kubectl", "label", "--overwrite", "namespace"}
              .operand(look_.ns)
              .words({"pod-security.kubernetes.io/enforce=privileged"})
              .to_string());
  }

  void rights() {
    std::map<std::string, std::vector<std::string>> by_account;
    for (const MissingRight& one : look_.missing_rights) by_account[one.account].push_back(one.right);
    for (const auto& [account, rights] : by_account)
      add("RB-CLUSTER-023", kBlocks, fmt::format("{} may not {}", account, listed(rights)),
          {Kind::kObject, fmt::format("ServiceAccount {}/{}", look_.ns, account)},
          "apply deploy/rbac of this version; where the namespace is another one, its bindings must name it");
  }

  // What the manifests in the cluster want of the operator.
  void names() {
    const OperatorSettings settings = operator_settings(look_);
    std::vector<std::string> reported;
    bool blocks = false;
    for (const auto& [ns, has_operator] : uncounted_namespaces(look_, settings)) {
      reported.push_back(ns);
      blocks = blocks || has_operator;
    }
    if (!reported.empty()) {
      std::set<std::string> wanted = settings.namespaces;
      wanted.erase(look_.ns);
      wanted.insert(reported.begin(), reported.end());
      add("RB-CLUSTER-024", blocks ? kBlocks : kToKnow,
          "policies and networks of these namespaces do not count: they get the condition Ignored",
          {Kind::kObject, "Namespace " + listed(reported)},
          fmt::format("where they are to count, set --policy-namespaces={} of the operator", fmt::join(wanted, ",")));
    }
    prefixes(settings);
  }

  void prefixes(const OperatorSettings& settings) {
    const PrefixPlaces used = prefixes_in_use(look_);
    std::vector<std::string> places;
    for (const auto& [prefix, where] : used)
      places.push_back(fmt::format("{} ({})", prefix, listed({where.begin(), where.end()})));
    if (used.size() > 1)
      add("RB-CLUSTER-025", kBlocks,
          "resources of policies are named with several prefixes; railbed gives all of them one, and pods that request "
          "another one stay Pending",
          {Kind::kObject, listed(places)},
          "choose one, set it as --resource-prefix of the operator, and change the pods that request the others");
    else if (used.size() == 1 && !used.contains(settings.resource_prefix))
      add("RB-CLUSTER-025", kBlocks,
          fmt::format(
              "resources of policies are named {}/… here, and railbed's operator {} {}/…: pods that request the "
              "former would stay Pending",
              used.begin()->first, settings.is_installed ? "names them" : "would name them", settings.resource_prefix),
          {Kind::kObject, listed(places)},
          fmt::format("set --resource-prefix={} of the operator; agents follow it", used.begin()->first));
    if (!settings.agents_prefix.empty() && settings.agents_prefix != settings.resource_prefix)
      add("RB-CLUSTER-026", kToKnow,
          fmt::format("the agents were given --resource-prefix {}, the operator {}; the operator's counts",
                      settings.agents_prefix, settings.resource_prefix),
          {Kind::kObject, "DaemonSet of the agents"}, "remove the option of the agents");
  }

  const ClusterLook& look_;
  const std::string_view architecture_;
  std::vector<Finding> out_;
};

std::string folder_todo(std::string_view option, std::string_view container) {
  return fmt::format("set {1} of the {0} to the directory of this node's runtime", container, option);
}

}  // namespace

std::vector<Finding> cluster_findings(const ClusterLook& look, std::string_view architecture) {
  return Look(look, architecture).run();
}

std::vector<Finding> node_findings(const NodeLook& look) {
  std::vector<Finding> out;
  const auto add = [&](const char* id, Severity severity, std::string message, Subject subject, std::string fix) {
    out.push_back({.id = id,
                   .severity = severity,
                   .subject = std::move(subject),
                   .message = std::move(message),
                   .fix = std::move(fix)});
  };
  const Subject node{Kind::kNode, look.name};
  const auto path_of = [&](const std::string& path) {
    return Subject{Kind::kNodePath, fmt::format("{}: {}", look.name, path)};
  };
  const auto folder = [&](Folder found, const std::string& path, const std::string& what, const std::string& fix) {
    if (found == Folder::kReadOnly)
      add("RB-NODE-001", kBlocks, "the folder of " + what + " cannot be written", path_of(path), fix);
    if (found == Folder::kMissing) add("RB-NODE-002", kBlocks, "there is no folder of " + what, path_of(path), fix);
  };
  folder(look.bin, look.bin_dir, "CNI plugins", folder_todo("--bin-dir", "init container `shims`"));
  folder(look.conf, look.conf_dir, "CNI configurations", folder_todo("--cni-config", "agent"));
  bool has_backup = false;
  for (const agent::ConfigFile& file : look.files) {
    has_backup = has_backup || file.name.ends_with(agent::kCiliumBackup);
    if (agent::is_configuration(file.name) && file.name < agent::kNodeConfigName)
      add("RB-NODE-003", kBlocks,
          fmt::format("this file sorts before railbed's {}, so the runtime would not ask railbed",
                      agent::kNodeConfigName),
          path_of(fmt::format("{}/{}", look.conf_dir, file.name)), "rename it to begin with 00-b or later");
  }
  if (has_backup)
    add("RB-NODE-004", kBlocks, "Cilium has renamed the CNI configurations of others (*.cilium_bak)",
        path_of(look.conf_dir), "set cni.exclusive=false in Cilium's Helm values, and restart its agents");
  if (look.conf != Folder::kMissing && !agent::default_network(look.files))
    add("RB-NODE-005", kBlocks, "no configuration of a default network found; pods wait until there is one",
        path_of(look.conf_dir), "install the cluster's network first (Calico, Cilium, flannel, …)");
  if (look.pfs.empty())
    add("RB-NODE-006", kToKnow, "no NIC here can make VFs", node,
        "pods get no VFs here; check that SR-IOV is enabled in the firmware of NIC and machine");
  if (look.topology_policy && (look.topology_policy->empty() || *look.topology_policy == "none"))
    add("RB-NODE-007", kToKnow,
        "the kubelet's Topology Manager is off: VFs, GPUs and CPUs of a pod may be of different NUMA nodes", node,
        "set topologyManagerPolicy: best-effort (or stricter) and cpuManagerPolicy: static in the kubelet's configuration");
  return out;
}

}  // namespace railbed::preflight
