// SPDX-License-Identifier: Apache-2.0
// Limits the number of plugins that are executed for pods at once.
//
// Why: a plugin that hangs holds its request for a minute and a half. If hundreds hang, the pods that need none must
// not wait for them. So a limited number runs, half as many requests wait for one to end, and each for a limited time;
// all others fail immediately, and their runtimes retry. Running and waiting requests together are fewer than the
// requests that the server handles at once (ServerOptions::workers), so the rest of its threads is for pods that need
// no plugin.
// Threading: any thread; not inside a Turn.
// Failure: code 11 with the plugin that runs most often.
#pragma once

#include <chrono>
#include <condition_variable>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "cni/error.h"
#include "os/ports/kernel.h"

namespace railbed::agent {

// Where runtimes have their plugins: containerd and CRI-O, OpenShift, GKE, K3s, MicroK8s.
inline constexpr const char* kPluginFolders[] = {"/opt/cni/bin",
                                                 "/usr/libexec/cni",
                                                 "/usr/lib/cni",
                                                 "/var/lib/cni/bin",
                                                 "/home/kubernetes/bin",
                                                 "/var/lib/rancher/k3s/data/cni",
                                                 "/var/snap/microk8s/current/opt/cni/bin"};

// What is executed, and with which rights.
struct PluginPolicy {
  // The only folders that plugins are executed from, whatever CNI_PATH says.
  std::vector<std::string> folders{std::begin(kPluginFolders), std::end(kPluginFolders)};
  std::set<std::string> unfenced;  // types that keep all rights of the agent
  friend bool operator==(const PluginPolicy&, const PluginPolicy&) = default;
};

// As PluginPolicy::folders are written.
std::string without_slash(std::string directory);

class RunningPlugins {
 public:
  static constexpr size_t kMost = 256;
  static constexpr std::chrono::milliseconds kWait{10'000};

  // `kernel` must outlive this. `stopping` ends the waits.
  explicit RunningPlugins(os::Kernel& kernel, size_t most = kMost, std::chrono::milliseconds wait = kWait,
                          std::stop_token stopping = {}, PluginPolicy policy = {})
      : kernel_(kernel), most_(most), wait_(wait), stopping_(std::move(stopping)), policy_(std::move(policy)) {}

  // The right to run one plugin.
  class Slot {
   public:
    Slot(RunningPlugins& plugins, std::string type) : plugins_(&plugins), type_(std::move(type)) {}
    ~Slot();
    Slot(Slot&& other) noexcept : plugins_(std::exchange(other.plugins_, nullptr)), type_(std::move(other.type_)) {}
    Slot& operator=(Slot&&) = delete;

    RunningPlugins& plugins() const { return *plugins_; }
    os::Kernel& kernel() const { return plugins_->kernel_; }

   private:
    RunningPlugins* plugins_;  // null: moved from
    std::string type_;
  };
  // `type` is the plugin's.
  Result<Slot> slot(const std::string& type);

  os::Kernel& kernel() const { return kernel_; }
  const PluginPolicy& policy() const { return policy_; }

 private:
  Error refusal(const std::string& type) const;

  os::Kernel& kernel_;
  const size_t most_;
  const std::chrono::milliseconds wait_;
  const std::stop_token stopping_;
  const PluginPolicy policy_;
  std::mutex mutex_;
  std::condition_variable_any free_;
  std::map<std::string, size_t> running_;  // by type
  size_t taken_ = 0;
  size_t waiting_ = 0;
};

}  // namespace railbed::agent
