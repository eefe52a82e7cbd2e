// SPDX-License-Identifier: Apache-2.0
#include "node_in_cluster.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "agent/cluster/cluster_side.h"
#include "agent/pod/kubelet_devices.h"
#include "base/log.h"
#include "command/environment.h"
#include "doc/text.h"
#include "kube/connection.h"
#include "kubelet/grpc/pod_resources_client.h"
#include "node_cells.h"
#include "node_vfs.h"

namespace railbed {
namespace {

constexpr std::chrono::milliseconds kFirstList{500};  // of pods and networks; requests wait meanwhile

Result<std::unique_ptr<kube::Connection>> connect(const ClusterOptions& options, os::Kernel& kernel) {
  kube::ConnectionChoice choice{
      .kubeconfig = options.kubeconfig,
      .context = options.context,
      .pod = {.host = variable("KUBERNETES_SERVICE_HOST"), .port = variable("KUBERNETES_SERVICE_PORT")}};
  if (!options.service_account.empty()) choice.pod.folder = options.service_account;
  return kube::connect(choice, [&kernel](const std::string& path) { return kernel.files().read(path); },
                       {.page = kube::kNodePage, .bounds = kube::kNodeBounds});
}

class NodeInCluster : public NodeCluster {
 public:
  NodeInCluster(const AgentOptions& options, Dependencies deps, std::unique_ptr<kube::Connection> api)
      : deps_(std::move(deps)),
        states_{.ns = options.cluster.ns,
                .keeper = {.node = deps_.node,
                           .options = {.resource_prefix = options.settings.resource_prefix,
                                       .soft_rdma = options.settings.soft_rdma},
                           .said_prefix = options.resource_prefix,
                           .apply = options.settings.apply}},
        api_(std::move(api)),
        side_({api_->client(), api_->transport(), deps_.disk, deps_.store, deps_.events},
              {.node = deps_.node,
               .soft_rdma = options.settings.soft_rdma,
               .restrict_definitions = options.cluster.tenant_definitions == "restrict",
               .server = api_->server(),
               .folder = options.cluster.cache,
               .changed = [this] { wake_cells(); }}) {
    if (!options.alone)
      cells_ = std::make_unique<NodeCells>(
          NodeCells::Dependencies{deps_.kernel, deps_.store, api_->clock(), deps_.events, side_},
          NodeCells::Settings{.node = deps_.node,
                              .reclaim_after_s = reclaim_seconds(options.cluster.reclaim_after)->value_or(0),
                              .whereabouts = options.cluster.whereabouts == "share" ? agent::Whereabouts::kShare
                                                                                    : agent::Whereabouts::kRefuse,
                              .whereabouts_ns = options.cluster.whereabouts_ns});
  }

  ~NodeInCluster() override {
    if (cells_ != nullptr) cells_->stop();
    side_.stop();  // its threads wake cells_
  }

  agent::PodSource& pods() override { return side_.source(); }
  // The kubelet alone gives devices.
  agent::DeviceSource& devices() override { return kubelet_; }

  ipam::BlockSource* blocks() override { return cells_ != nullptr ? &cells_->blocks() : nullptr; }
  agent::AddressSupply* supply() override { return cells_.get(); }

  void restore() override {
    side_.restore();
    if (cells_ == nullptr) return;
    if (const Result<void> restored = cells_->restore(); !restored.has_value()) log::warn(restored.error().story());
  }
  Result<void> start(agent::Engine& engine) override {
    side_.start(engine);
    vfs_ = TRY(NodeVfs::start({deps_.kernel, deps_.disk, pod_resources_, engine, api_->client()}, states_));
    kubelet_.known_by([this](const std::string& id) { return vfs_->offered(id); });
    if (cells_ != nullptr) cells_->start(engine, [this] { return vfs_->counts(); });
    side_.wait_known(kFirstList);
    return {};
  }
  void hurry() override {
    side_.hurry();
    if (cells_ != nullptr) cells_->hurry();
  }
  void stop() override {
    if (cells_ != nullptr) cells_->stop();
    vfs_->stop();
    side_.stop();
  }

  void failed(const cni::Request& request, const Error& error) override { side_.failed(request, error); }
  void pod_came() override { vfs_->pod_came(); }
  void pod_gone() override { vfs_->wake(); }

  // What is wrong with VFs is no reason to keep pods without VFs from the node: `railbed status` says it.
  std::vector<std::string> not_ready() const override { return side_.not_ready(); }
  std::vector<agent::Sample> samples() const override {
    std::vector<agent::Sample> all = side_.samples();
    if (vfs_ != nullptr) std::ranges::move(vfs_->samples(), std::back_inserter(all));
    if (cells_ != nullptr) std::ranges::move(cells_->samples(), std::back_inserter(all));
    return all;
  }
  void report(doc::Value& agent) const override {
    agent.set("cluster", side_.report());
    if (cells_ != nullptr) agent.set("addresses", cells_->report());
    doc::Value& vfs = agent.set("vfs", doc::Value::array());
    for (const std::string& reason : vfs_->reasons()) vfs.push(doc::printable(reason));
  }

 private:
  void wake_cells() {
    if (cells_ != nullptr) cells_->wake();
  }

  Dependencies deps_;
  agent::NodeStatesSettings states_;
  std::unique_ptr<kube::Connection> api_;
  agent::ClusterSide side_;
  std::unique_ptr<NodeCells> cells_;  // null: no other node gives addresses of this one's ranges
  kubelet::PodResourcesClient pod_resources_;
  agent::KubeletDevices kubelet_{deps_.kernel.files(), &pod_resources_};
  std::unique_ptr<NodeVfs> vfs_;  // last: it uses the others
};

}  // namespace

Result<std::unique_ptr<NodeCluster>> join_cluster(const AgentOptions& options, NodeCluster::Dependencies deps) {
  std::unique_ptr<kube::Connection> api = TRY(connect(options.cluster, deps.kernel));
  return std::make_unique<NodeInCluster>(options, std::move(deps), std::move(api));
}

}  // namespace railbed
