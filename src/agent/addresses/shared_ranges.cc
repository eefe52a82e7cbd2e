// SPDX-License-Identifier: Apache-2.0
#include "agent/addresses/shared_ranges.h"

#include "doc/members.h"
#include "ipam/assign.h"

namespace railbed::agent {
namespace {

constexpr std::chrono::milliseconds kStatusWait{1'000};

// What kubelet makes when it runs for the first time, and what kubeadm makes for it.
constexpr const char* kFilesOfKubelet[] = {"/var/lib/kubelet/pods", "/var/lib/kubelet/config.yaml",
                                           "/etc/kubernetes/kubelet.conf"};

bool is_sliced(const doc::Value& ipam) {
  const doc::Value* slice = ipam.find("node_slice_size");
  return slice != nullptr && !slice->is_null() && !(slice->is_string() && slice->as_string()->empty());
}

// What says that other nodes use the range, too; empty: nothing does.
std::string sign_of_a_cluster(const os::FileTree& files, const doc::Value& ipam) {
  if (is_sliced(ipam)) return "node_slice_size divides it among the nodes of a cluster";
  const doc::Value* kubernetes = doc::object_in(ipam, "kubernetes");
  if (kubernetes != nullptr && !doc::text_in(*kubernetes, "kubeconfig").empty())
    return fmt::format("its configuration names a kubeconfig ({})", doc::text_in(*kubernetes, "kubeconfig"));
  for (const char* path : kFilesOfKubelet)
    if (files.exists(path)) return fmt::format("this machine is a node of a cluster ({} is there)", path);
  return "";
}

// In a cluster addresses are leased, of whole ranges.
Result<void> may_lease(const doc::Value& ipam, const std::string& network) {
  if (!is_sliced(ipam)) return {};
  return fail(
      Error{.code = Code::kUnsupported,
            .message = fmt::format("network {}: node_slice_size is not supported: it divides the range among "
                                   "the nodes, but railbed leases addresses of the whole range",
                                   network),
            .hint = "remove node_slice_size from the network once whereabouts no longer allocates its addresses"});
}

}  // namespace

Result<void> may_give_ranges(Engine::Turn& turn, const api::IpamConfig& config, const doc::Value& ipam,
                             const std::string& network) {
  if (config.type != api::IpamType::kWhereabouts || config.range_sets.empty()) return {};
  if (turn.other_nodes() == OtherNodes::kNone) return {};
  if (turn.other_nodes() == OtherNodes::kOfCluster) return may_lease(ipam, network);
  const std::string sign = sign_of_a_cluster(turn.kernel().files(), ipam);
  if (sign.empty() || !TRY(turn.store().blocks(ipam::pool_of(config, network))).empty()) return {};
  return fail(Error{.code = Code::kConflict,
                    .message = fmt::format("network {}: other nodes may allocate addresses of its whereabouts range, "
                                           "too: {}, and this agent does not use the API server",
                                           network, sign),
                    .hint = "start the agent with --kubeconfig or --in-cluster to lease addresses, or with --alone if "
                            "no other node uses the range"});
}

Result<void> ranges_ready(Engine& engine, const doc::Value* ipam, const std::string& network) {
  if (ipam == nullptr || doc::text_in(*ipam, "type") != "whereabouts") return {};
  Result<api::IpamConfig> config = api::read_ipam(ipam, network);
  if (!config.has_value()) return {};
  Result<Engine::Turn> turn = engine.turn(kStatusWait);
  if (!turn.has_value()) return {};
  Result<void> may = may_give_ranges(*turn, *config, *ipam, network);
  if (may.has_value()) return {};
  may.error().wire_code = cni::kUnavailable;
  return may;
}

}  // namespace railbed::agent
