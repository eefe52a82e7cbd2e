// SPDX-License-Identifier: Apache-2.0
// Pods, networks and devices from a directory of manifests: the meta plugin's sources on a standalone machine.
//
// The directory is read again for every pod; it is parsed again only if a text has changed. In addition, there are the
// manifests that `up` handed over (node/handed_manifests.h), which take precedence if both have the same object. A
// manifest with an error omits its object, and a request for that object fails with the reason. A pod that had networks
// before its manifest was lost or damaged fails (seen_pods.h). VFs come from the policies, by the rule of `railbed up`;
// addresses of whereabouts and static networks are planned for all pods of the directory at once, so that machines with
// the same files compute the same result (reservations.h).
// Threading: any thread.
// Failure: as sources.h says.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "agent/pod/seen_pods.h"
#include "agent/pod/sources.h"
#include "node/standalone.h"
#include "os/ports/disk.h"

namespace railbed::agent {

class ManifestSource : public PodSource, public DeviceSource {
 public:
  // `kernel` and `store` must outlive this. Of the settings, node, resource_prefix and soft_rdma count.
  ManifestSource(os::Kernel& kernel, state::Store& store, std::string directory, node::Settings settings);
  ~ManifestSource() override;

  using Seconds = std::function<int64_t()>;  // since the epoch
  static int64_t seconds_of_the_clock();
  // Keeps which pods had networks in `file`, for the next agent. Before anything else is called; `disk` must outlive
  // this.
  void remember_in(os::Disk& disk, std::string file, Seconds now_s = seconds_of_the_clock);

  // Reads the directory and says what got worse since it was last whole, by file or pod.
  Result<std::map<std::string, std::string>> look();
  // Why no pod of the directory can be attached, as the last reading has it; does not wait.
  std::vector<std::string> not_ready();

  Result<PodInfo> pod(const std::string& ns, const std::string& name, const std::string& uid) override;
  Result<NetworkInfo> network(const std::string& ns, const std::string& name) override;
  Result<std::shared_ptr<const AddressClaims>> address_claims() override;
  bool soft_rdma() override;
  // Kept in the store as note "network-status/<sandbox>".
  Result<void> publish_status(const PodInfo& pod, const std::string& sandbox, const doc::Value& status) override;
  Result<std::vector<Device>> devices(const DeviceRequest& request, const kubelet::GivenDevices& given,
                                      const plan::InUse& in_use) override;
  Result<bool> offers(const PciAddress& device) override;

  // One parsed state of the directory.
  struct Snapshot;

 private:
  Result<std::shared_ptr<Snapshot>> current();
  Result<std::shared_ptr<Snapshot>> last();
  struct Read;
  Result<std::shared_ptr<Snapshot>> understand(Read read);  // mutex_ is held
  void see(const Snapshot& now);                            // mutex_ is held
  std::unique_ptr<node::Resolved> look_at_vfs(const Snapshot& now) const;
  // Why the pod must not start without networks.
  std::optional<std::string> lost(const Snapshot& now, const std::string& pod);

  os::Kernel& kernel_;
  state::Store& store_;  // written in turns only
  std::string directory_;
  node::Settings settings_;
  os::Disk* disk_ = nullptr;
  std::string seen_file_;
  Seconds now_s_ = seconds_of_the_clock;
  std::mutex mutex_;
  std::shared_ptr<Snapshot> snapshot_;
  SeenPods seen_;
  std::string seen_problem_;  // why seen_file_ could not be read or written; empty: it could
  bool unsaved_ = false;      // seen_ is newer than seen_file_: the last write failed
};

inline constexpr std::string_view kNetworkStatusNote = "network-status/";

}  // namespace railbed::agent
