// SPDX-License-Identifier: Apache-2.0
// Shared look-ups of the rules over a bundle, computed once: which component creates which resource, which network uses
// it, which pod uses which network.
//
// Why: a rule has to report about objects that api::load skipped because of another mistake in them, and about kinds
// that the graph does not read (NicClusterPolicy, HostDeviceNetwork, pods in workloads). Where nodes are involved the
// rules use the graph; this covers the bundle alone, as written.
// Threading: immutable values that point into the Bundle and the pods, which must outlive them.
// Failure: none; what cannot be read is absent and reported elsewhere.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/ipam.h"
#include "base/text.h"
#include "check/rules/rule.h"
#include "check/rules/ties.h"
#include "doc/members.h"
#include "graph/link_type.h"

namespace railbed::check {

using doc::at;
using doc::flag_at;
using doc::integer_at;
using doc::text_at;
// The texts in a list with their places; a single text counts as a list of one.
std::vector<Word> texts_at(const doc::Value& value, std::string_view path);
// The place of the last key of `path`; unknown when it is absent.
doc::Span key_span(const doc::Value& value, std::string_view path);
// metadata.name, or the first line of the object.
doc::Span name_span(const Document& document);

// The place of a word of a multi-line text in its file; that of the whole text where the word is not found.
doc::Span inside(const doc::Value& text, std::string_view word);
bool has_kind(const Bundle& bundle, std::string_view kind);
// Whether the manifests are for OpenShift: one of its namespaces or groups is among them. The group
// sriovnetwork.openshift.io says nothing, since the operator has it everywhere.
bool is_openshift(const Bundle& bundle);

// The part after the last "/".
std::string_view base_name(std::string_view resource);

struct PolicyView {
  const Document* document = nullptr;
  const doc::Value* spec = nullptr;  // never null
  std::string resource;              // with prefix
  doc::Span resource_span;
  std::string link_type;  // "ib", "eth" or empty
  bool rdma = false;      // isRdma, even if it is in nicSelector by mistake, or linkType IB
  bool ignored = false;   // named "default", or without VFs
};

// A network that pods can name: NetworkAttachmentDefinition and all kinds that become one.
struct NetworkView {
  const Document* document = nullptr;
  std::string key;       // "namespace/name" of the attachment definition
  std::string resource;  // with prefix; empty: it needs none
  doc::Span resource_span;
  std::vector<doc::Value> plugins;  // first the one that makes the interface, then the meta plugins
  std::string type;                 // of plugins[0]; empty: unknown
  const doc::Value* ipam_text = nullptr;
  doc::Value ipam;  // an object, or null
  std::optional<api::IpamConfig> addresses;
  std::vector<size_t> users;  // indices in Views::pods, each once

  std::string label() const { return document->kind + " " + key; }
  // The plugin of that type in the chain; null where there is none.
  const doc::Value* plugin(std::string_view type) const;
  bool infiniband() const { return type == "ib-sriov" || type == "ipoib"; }
};

// A policy or device plugin that announces a resource to the kubelet, or a DeviceClass whose devices pods may ask for
// by the name of an extended resource.
struct Producer {
  enum class By : uint8_t { kPolicy, kSriovPlugin, kSharedPlugin, kDeviceClass };
  By by = By::kPolicy;
  std::string resource;
  doc::Span span;
  const Document* document = nullptr;
  doc::Value entry;  // of a plugin's list
};

struct PodView {
  const PodTemplate* pod = nullptr;
  struct Net {
    const api::NetworkSelection* selection = nullptr;
    const NetworkView* network = nullptr;  // null: not in the bundle
    std::string key;
    std::string interface;
  };
  std::vector<Net> networks;           // none of a pod in the host's network, whatever its annotation says
  std::vector<std::string> resources;  // of its networks, each once

  // The number of its networks that use `resource`.
  int64_t networks_with(std::string_view resource) const;
};

// The VFs of one resource on one PF of a node with facts.
struct PoolPart {
  const graph::Graph* graph = nullptr;
  const graph::PfWanted* pf = nullptr;
  const graph::VfGroup* group = nullptr;
  int vfs = 0;
};

struct Views {
  Ties ties;  // which of these belong together
  std::vector<PolicyView> policies;
  std::vector<NetworkView> networks;
  std::vector<Producer> producers;
  std::vector<PodView> pods;                                         // as Input::pods
  std::map<std::string, std::vector<PoolPart>, std::less<>> pools;   // by resource; empty without facts
  std::map<std::string, size_t, std::less<>> network_by_key;         // of `networks`
  std::multimap<std::string, size_t, std::less<>> networks_by_name;  // of their objects

  std::map<std::string, std::vector<size_t>, std::less<>> by_resource;   // of `producers`
  std::map<std::string, std::vector<size_t>, std::less<>> by_base_name;  // of `producers`: without prefix
  std::map<std::string, std::vector<size_t>, std::less<>> makers;        // of `policies`, by resource
  std::map<std::string, graph::ResourceLink, std::less<>> links;         // of what policies and plugins make

  const NetworkView* network(std::string_view key) const;
  // The producer of `resource`, and of a resource of that name with any prefix; null: none.
  const Producer* producer(std::string_view resource) const;
  // Policies that make `resource`.
  std::vector<const PolicyView*> policies_of(std::string_view resource) const;
  // Policies that make the network's resource: of its own environment (ties.h), where one is in it.
  std::vector<const PolicyView*> policies_of(const NetworkView& network) const;
  // The link type of the ports behind `resource`, as graph/link_type.h decides.
  graph::ResourceLink link(std::string_view resource) const;
  // Whether a network's VFs are known to be RoCE: RDMA on Ethernet.
  bool roce(const NetworkView& network) const;
  // Whether this network gives pods RDMA devices: by its type, or by a policy with isRdma.
  bool rdma(const NetworkView& network) const;
  // The VFs of `resource` on the nodes; empty without facts.
  std::span<const PoolPart> pool(std::string_view resource) const;
};

// What the operator of this bundle puts before resource names: as the settings say; where they say nothing, as the
// files of its policies' environment say (read/prefixes.h); else "nvidia.com" for policies of NVIDIA's Network Operator
// and "spidernet.io" beside objects of Spiderpool, whose charts set them.
std::string resource_prefix(const Bundle& bundle, const Settings& settings);

// The same for an object: of two environments in one bundle each has its own.
std::string resource_prefix(const Document& document, const Settings& settings);
// Whether that is more than the operator's default: it is given, or something says it.
bool is_prefix_known(const Document& policy, const Settings& settings);

Views make_views(const Bundle& bundle, std::span<const PodTemplate> pods, std::span<const graph::Graph> graphs,
                 const Settings& settings);

// The number of whole GPUs that the pod requests.
int64_t gpus_of(const PodTemplate& pod);

}  // namespace railbed::check
