// SPDX-License-Identifier: Apache-2.0
// The meta plugin: all networks of a pod's sandbox in one request, as Multus does it.
//
// ADD: everything is read and decided first (meta_pod.h); then the chains with plugins that are not ours are
// executed, outside a turn, each with a record written before it; then all other networks are attached in one
// transaction of attach, in one turn. A failure anywhere undoes all of it. DEL works from our own records,
// never from the pod, in the reverse order, and tries everything; a pod that Multus attached before the
// switch is found in the files that Multus left (meta_multus.h). docs/meta.md has the fields and the
// differences.
//
// Threading: any thread. Requests for one container run one after another; plugins that ask the agent for
// addresses meanwhile are not kept waiting. Failure: the specification's codes; DEL that fails may be asked
// again and goes on where it ended.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "os/disk.h"
#include "serve/device_info.h"
#include "serve/meta_config.h"
#include "serve/service.h"
#include "serve/sources.h"

namespace railbed::serve {

class Meta {
 public:
  // All must outlive this. Sources of devices are asked in order, until one knows the resource.
  Meta(os::Disk& disk, PodSource& pods, std::vector<DeviceSource*> devices);
  ~Meta();
  Meta(const Meta&) = delete;
  Meta& operator=(const Meta&) = delete;

  cni::Outcome<std::string> add(Parts& parts, const cni::Request& request, const cni::PluginConfig& config);
  cni::Outcome<void> del(Parts& parts, const cni::Request& request, const cni::PluginConfig& config);
  cni::Outcome<void> check(Parts& parts, const cni::Request& request);
  cni::Outcome<void> gc(Parts& parts, const cni::Request& request, const cni::PluginConfig& config);
  // From memory; looked up anew in the background when it is older than ten seconds.
  cni::Outcome<void> status(Parts& parts, const cni::Request& request, const cni::PluginConfig& config);

  // At the agent's start, after attach::recover(); requests may be answered meanwhile, since the plugins may
  // ask the agent. Undoes what plugins did that were executed for an ADD that never ended, or for a namespace
  // that is gone. One line for each; what
  // could not be undone stays recorded and is told too.
  Result<std::vector<std::string>> recover(Engine& engine);

  PodSource& pods() { return pods_; }
  const std::vector<DeviceSource*>& devices() const { return devices_; }
  DeviceInfo& device_info() { return device_info_; }

 private:
  cni::Outcome<void> look_up_status(os::Kernel& kernel, const cni::Request& request,
                                    const cni::PluginConfig& config);
  Result<void> recover_programs(Engine& engine, const std::string& key, std::vector<std::string>& lines);

  os::Disk& disk_;
  PodSource& pods_;
  std::vector<DeviceSource*> devices_;
  DeviceInfo device_info_;

  std::mutex status_mutex_;
  struct KnownStatus {
    std::string of;  // the configuration
    cni::Outcome<void> answer;
    os::Deadline asked;
  };
  std::optional<KnownStatus> status_;
  std::atomic<bool> refreshing_ = false;
  std::thread refresher_;
};

}  // namespace railbed::serve
