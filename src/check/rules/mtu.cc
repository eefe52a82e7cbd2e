// SPDX-License-Identifier: Apache-2.0
// The MTU from policy to VF to RoCE, and the way of a DSCP to its lossless priority.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>

#include "base/number.h"
#include "check/rules/device_lists.h"
#include "check/rules/families.h"
#include "check/rules/lookups.h"
#include "graph/link_type.h"

namespace railbed::check {
namespace {

using doc::Value;

constexpr int kConnectXMost = 9978;   // of Ethernet, as mlx5 says
constexpr int kIpoibMost = 4092;      // 4 KiB of InfiniBand without IPoIB's header
constexpr int kIpoibDatagram = 2044;  // the same with 2 KiB

// The MTU that RoCE derives from an interface's MTU: a power of two that fits together with its headers.
int roce_mtu(int64_t mtu) {
  constexpr int kHeaders = 58;
  int active = 256;
  while (active < 4096 && active * 2 + kHeaders <= mtu) active *= 2;
  return active;
}

// A line of prose about jumbo frames.
const Prose* jumbo_prose(const Input& in) {
  for (const Prose& prose : in.bundle.prose) {
    const std::string line = lower(prose.text);
    if (line.find("mtu") != std::string::npos &&
        (line.find("9000") != std::string::npos || line.find("jumbo") != std::string::npos))
      return &prose;
  }
  return nullptr;
}

// The MTU of a network's plugins (tuning included); null where none is given.
const Value* network_mtu(const NetworkView& network) {
  for (const Value& plugin : network.plugins)
    if (const Value* mtu = plugin.find("mtu"); mtu != nullptr && mtu->as_int() != nullptr) return mtu;
  return nullptr;
}

bool used_for_rdma(const Input& in, const PolicyView& policy) {
  return std::ranges::any_of(in.views.networks, [&](const NetworkView& network) {
    return network.resource == policy.resource && network.type == "sriov";
  });
}

// Soft-RoCE is for experiments, where the size of packets does not matter.
bool soft_rdma(const Input& in) {
  return std::ranges::any_of(in.catalog.nodes, [](const auto& node) { return *node.second->soft_rdma; });
}

// Whether a node is known where the policy takes InfiniBand ports, even if it asks for Ethernet ones.
bool takes_infiniband(const Input& in, const PolicyView& policy) {
  return in.views.link(policy.resource).infiniband || std::ranges::any_of(in.graphs, [&](const graph::Graph& graph) {
           return graph::is_on_link_type(graph, policy.resource, facts::LinkType::kInfiniband);
         });
}

void roce_without_mtu(const Input& in, Findings& out) {
  if (soft_rdma(in)) return;
  const Prose* jumbo = jumbo_prose(in);
  for (const PolicyView& policy : in.views.policies) {
    if (policy.ignored || !policy.rdma || takes_infiniband(in, policy) || !used_for_rdma(in, policy)) continue;
    const auto mtu = integer_at(*policy.spec, "mtu");
    if (mtu && roce_mtu(*mtu) == 4096) continue;
    if (!mtu && std::ranges::any_of(in.views.networks, [&](const NetworkView& network) {
          return network.resource == policy.resource && network_mtu(network) != nullptr;
        }))
      continue;  // RB-MTU-002 covers that
    const doc::Span span = mtu ? at(*policy.spec, "mtu")->span : name_span(*policy.document);
    const int64_t written = mtu.value_or(1500);
    const std::string text = fmt::format("VFs of policy {} {} MTU {}, so RoCE sends {} bytes a packet instead of 4096",
                                         policy.document->name, mtu ? "get" : "keep", written, roce_mtu(written));
    if (jumbo != nullptr)
      out.warning(span, text).note(jumbo->span, "the text speaks of large frames").with_fix("mtu: 9000");
    else
      out.note(span, text).with_fix("mtu: 9000, where the switches carry it");
  }
}

void network_above_policy(const Input& in, Findings& out) {
  for (const NetworkView& network : in.views.networks) {
    const Value* wanted = network_mtu(network);
    if (wanted == nullptr || network.resource.empty()) continue;
    for (const PolicyView* policy : in.views.policies_of(network)) {
      const Value* given = policy->spec->find("mtu");
      if (given != nullptr && given->as_int() == nullptr) continue;
      int64_t most = given == nullptr ? 0 : *given->as_int();
      for (const PoolPart& part : in.views.pool(network.resource))
        if (!part.pf->nic->netdevs.empty()) most = std::max<int64_t>(most, part.pf->nic->netdevs.front().mtu);
      if (most == 0 || *wanted->as_int() <= most) continue;
      auto& reported = out.error(wanted->span, fmt::format("a VF's MTU cannot be above its PF's, which is {}: "
                                                           "pods with {} do not start",
                                                           most, network.label()));
      if (given != nullptr)
        reported.note(given->span, "the policy raises the PF to this");
      else
        reported.at_most(doc::Confidence::kMedium, std::string(kOtherNodes));
      reported.with_fix(fmt::format("mtu: {} in the policy, or {} here", *wanted->as_int(), most));
      break;
    }
  }
}

void infiniband_too_large(const Input& in, Findings& out) {
  if (!in.graphs.empty()) return;  // with facts RB-PF-003 covers that
  for (const PolicyView& policy : in.views.policies) {
    const auto mtu = integer_at(*policy.spec, "mtu");
    if (policy.link_type != "ib" || !mtu) continue;
    if (*mtu < kIpoibDatagram)
      out.warning(
             at(*policy.spec, "mtu")->span,
             fmt::format("{} is an Ethernet's MTU: IPoIB carries {} at least, and {} where the partition has 4 KiB",
                         *mtu, kIpoibDatagram, kIpoibMost))
          .note(policy.spec->find("linkType")->span, "InfiniBand is given here")
          .with_fix(fmt::format("mtu: {}, or none", kIpoibMost));
    if (*mtu <= kIpoibMost) continue;
    out.error(at(*policy.spec, "mtu")->span,
              fmt::format("{} is not an InfiniBand MTU: IPoIB allows {} ({} where the partition has 2 KiB)", *mtu,
                          kIpoibMost, kIpoibDatagram))
        .note(policy.spec->find("linkType")->span, "InfiniBand is given here")
        .with_fix(fmt::format("mtu: {}", kIpoibMost));
  }
}

void ports_of_one_rail_differ(const Input& in, Findings& out) {
  for (const auto& [resource, parts] : in.views.pools) {
    const PoolPart* first = nullptr;
    const auto mtu_of = [](const PoolPart& part) {
      return part.pf->nic->netdevs.empty() ? 0 : std::max(part.pf->nic->netdevs.front().mtu, part.pf->mtu);
    };
    for (const PoolPart& part : parts) {
      if (mtu_of(part) == 0) continue;
      if (first == nullptr) first = &part;
      if (mtu_of(part) == mtu_of(*first)) continue;
      const graph::Origin& policy = *part.group->from;
      out.warning(policy.span, fmt::format("ports of {} have different MTUs: {} on {} has {}, {} on {} has {}; large "
                                           "packets between them are lost",
                                           resource, first->pf->name, first->graph->facts->node, mtu_of(*first),
                                           part.pf->name, part.graph->facts->node, mtu_of(part)))
          .with_fix(fmt::format("mtu: {} in the policy", std::max(mtu_of(*first), mtu_of(part))));
      break;
    }
  }
}

// A pasted line about an InfiniBand interface with an MTU above 2 KiB ("4: ibp60s0: <…> mtu 4092 …").
const Command::Line* large_ipoib(const Input& in) {
  for (const Command& command : in.bundle.commands)
    for (const Command::Line& line : command.output)
      if (line.text.find("mtu 4092") != std::string_view::npos && line.text.find(": ib") != std::string_view::npos)
        return &line;
  return nullptr;
}

void infiniband_without_mtu(const Input& in, Findings& out) {
  const Command::Line* line = large_ipoib(in);
  if (line == nullptr) return;
  for (const PolicyView& policy : in.views.policies) {
    const bool infiniband = in.views.link(policy.resource).all_infiniband() ||
                            std::ranges::any_of(in.views.networks, [&](const NetworkView& network) {
                              return network.type == "ib-sriov" && network.resource == policy.resource;
                            });
    if (!infiniband || policy.ignored || policy.spec->find("mtu") != nullptr) continue;
    out.note(name_span(*policy.document),
             fmt::format("the InfiniBand ports have MTU {} and policy {} sets none: it is retained until the operator "
                         "resets a PF, which then has 2048 and no longer matches the others",
                         kIpoibMost, policy.document->name))
        .note(line->span, "what the ports have")
        .with_fix(fmt::format("mtu: {}", kIpoibMost));
  }
}

struct Qos {
  const Document* document = nullptr;
  const Value* pfc = nullptr;
  std::vector<bool> lossless;  // by priority
};

// Templates that configure RoCE with PFC.
std::vector<Qos> qos_templates(const Input& in) {
  std::vector<Qos> all;
  for (const Document& document : in.bundle.documents) {
    if (document.kind != "NicConfigurationTemplate") continue;
    const Value* roce = at(document.value, "spec.template.roceOptimized");
    if (roce == nullptr || !flag_at(*roce, "enabled").value_or(false)) continue;
    Qos qos{.document = &document, .pfc = at(*roce, "qos.pfc")};
    const std::string text(qos.pfc == nullptr ? "0,0,0,1,0,0,0,0" : text_at(*roce, "qos.pfc"));  // the default
    for (const char c : text)
      if (c == '0' || c == '1') qos.lossless.push_back(c == '1');
    if (qos.lossless.size() == 8) all.push_back(std::move(qos));
  }
  return all;
}

bool has_roce(const Input& in, const PodView& pod) {
  return std::ranges::any_of(pod.networks, [&](const PodView::Net& net) {
    return net.network != nullptr && net.network->type == "sriov" && in.views.roce(*net.network);
  });
}

// Calls `visit` with each container of RoCE pods and its NCCL_IB_TC; null where it has none.
template <typename Visit>
void each_roce_container(const Input& in, Visit visit) {
  for (const PodView& pod : in.views.pods)
    if (has_roce(in, pod))
      for (const Container& container : pod.pod->containers)
        if (!container.init) visit(pod, container, container.env("NCCL_IB_TC"));
}

std::optional<int> number_of(const Value& value) {
  return whole_number<int>(value.as_string() ? std::string_view(*value.as_string()) : value.written());
}

void class_without_pfc(const Input& in, Findings& out) {
  const auto templates = qos_templates(in);
  each_roce_container(in, [&](const PodView&, const Container&, const Value* tc) {
    const auto number = tc == nullptr ? std::nullopt : number_of(*tc);
    if (!number || *number < 0 || *number > 255) return;
    const int dscp = *number >> 2;
    const auto priority = static_cast<size_t>(dscp >> 3);
    for (const Qos& qos : templates) {
      if (qos.lossless[priority]) continue;
      auto& reported =
          out.error(tc->span, fmt::format("traffic class {} is DSCP {}, priority {}, for which PFC is off: "
                                          "packets are dropped under load, and RoCE slows down",
                                          *number, dscp, priority));
      reported.note(qos.pfc == nullptr ? name_span(*qos.document) : qos.pfc->span, "lossless priorities are set here");
      const auto lossless = std::ranges::find(qos.lossless, true);
      if (lossless != qos.lossless.end()) {
        // The middle of the eight DSCPs of a priority, as switches use it: 26 for priority 3.
        const auto wanted = (lossless - qos.lossless.begin()) * 8 + 2;
        reported.with_fix(fmt::format("NCCL_IB_TC: \"{}\" (DSCP {})", wanted << 2, wanted));
      }
      return;
    }
  });
}

// A line of prose about lossless Ethernet.
const Prose* lossless_prose(const Input& in) {
  for (const Prose& prose : in.bundle.prose) {
    const std::string line = lower(prose.text);
    if (line.find("priority flow control") != std::string::npos || line.find("(pfc)") != std::string::npos ||
        line.find("lossless") != std::string::npos)
      return &prose;
  }
  return nullptr;
}

void no_traffic_class(const Input& in, Findings& out) {
  const auto templates = qos_templates(in);
  const Prose* prose = lossless_prose(in);
  if (templates.empty() ? prose == nullptr : templates.front().lossless[0]) return;
  std::set<const PodView*> reported;
  each_roce_container(in, [&](const PodView& pod, const Container& container, const Value* tc) {
    if (tc != nullptr || gpus_of(*pod.pod) == 0 || container.value->find("envFrom") != nullptr) return;
    if (container.env("UCX_IB_TRAFFIC_CLASS") != nullptr || !reported.insert(&pod).second) return;
    const std::string text = fmt::format(
        "{} names no traffic class: NCCL sends with class 0, which is not the lossless one", pod.pod->label());
    doc::Diagnostic* finding = nullptr;
    if (templates.empty()) {
      finding = &out.note(pod.pod->span, text).note(prose->span, "the text speaks of lossless Ethernet");
    } else {
      const Qos& qos = templates.front();
      finding =
          &out.warning(pod.pod->span, text)
               .note(qos.pfc == nullptr ? name_span(*qos.document) : qos.pfc->span, "lossless priorities are set here");
    }
    finding->with_fix("env NCCL_IB_TC: \"104\" (DSCP 26, priority 3), as NICs and switches have it");
  });
}

// The plugins' MTU decides in the end: a smaller one wastes what policy and switches were raised for.
void network_below_policy(const Input& in, Findings& out) {
  for (const NetworkView& network : in.views.networks) {
    const Value* wanted = network_mtu(network);
    if (wanted == nullptr || network.resource.empty() || !in.views.roce(network)) continue;
    for (const PolicyView* policy : in.views.policies_of(network)) {
      const auto given = integer_at(*policy->spec, "mtu");
      if (!given || *wanted->as_int() >= *given || roce_mtu(*wanted->as_int()) >= roce_mtu(*given)) continue;
      out.warning(
             wanted->span,
             fmt::format("{} sets MTU {} on VFs whose policy asks for {}: RoCE sends {} bytes a packet instead of {}",
                         network.label(), *wanted->as_int(), *given, roce_mtu(*wanted->as_int()), roce_mtu(*given)))
          .note(at(*policy->spec, "mtu")->span, "the policy's MTU")
          .with_fix(fmt::format("mtu: {} here, or none", *given));
      break;
    }
  }
}

void above_every_port(const Input& in, Findings& out) {
  if (!in.graphs.empty()) return;  // with facts RB-PF-103 covers that
  for (const PolicyView& policy : in.views.policies) {
    const auto mtu = integer_at(*policy.spec, "mtu");
    const bool nvidia = lower(text_at(*policy.spec, "nicSelector.vendor")) == "15b3";
    if (policy.ignored || policy.link_type == "ib" || !mtu || *mtu <= kConnectXMost) continue;
    if (*mtu > std::numeric_limits<int32_t>::max()) continue;  // no CRD takes it (RB-API-005)
    const std::string text = fmt::format(
        "mtu {} is above {}, the most of a ConnectX port{}: the kernel refuses it, and the policy is never done", *mtu,
        kConnectXMost, nvidia ? "" : ", and of most others");
    const doc::Span span = at(*policy.spec, "mtu")->span;
    (nvidia ? out.error(span, text) : out.warning(span, text)).with_fix("mtu: 9000");
  }
}

constexpr Rule kMtuRules[] = {
    {"RB-MTU-001", "RoCE on VFs with small packets", Needs::kNothing, roce_without_mtu},
    {"RB-MTU-002", "a network's MTU above its PF's", Needs::kNothing, network_above_policy},
    {"RB-MTU-003", "an MTU that InfiniBand does not have", Needs::kNothing, infiniband_too_large},
    {"RB-MTU-004", "ports of one resource with different MTUs", Needs::kFacts, ports_of_one_rail_differ},
    {"RB-MTU-005", "a traffic class whose priority is not lossless", Needs::kNothing, class_without_pfc},
    {"RB-MTU-006", "lossless RoCE set up and not used", Needs::kNothing, no_traffic_class},
    {"RB-MTU-007", "an InfiniBand MTU that the policy does not keep", Needs::kNothing, infiniband_without_mtu},
    {"RB-MTU-008", "a network's MTU below its policy's", Needs::kNothing, network_below_policy},
    {"RB-MTU-009", "an MTU that no port has", Needs::kNothing, above_every_port},
};

}  // namespace

std::span<const Rule> mtu_rules() {
  return kMtuRules;
}

}  // namespace railbed::check
