// SPDX-License-Identifier: Apache-2.0
// The meta plugin: all networks of a pod's sandbox in one request, as Multus does it.
//
// ADD: everything is read and decided first (meta_pod.h); then the chains with third-party plugins are executed,
// outside a Turn, each with a record written before it; then all other networks are attached in one transaction of
// attach, in one Turn. A failure anywhere undoes all of it. DEL uses railbed's own records, never the pod, in the
// reverse order, and tries everything; a pod that Multus attached before the switch is found in the files that Multus
// left (meta_multus.h). docs/meta.md has the fields and the differences.
//
// Threading: any thread. Requests for one container are serialized; plugins that request addresses from the agent in
// the meantime are not blocked.
// Failure: the specification's codes; a failed DEL may be repeated and continues where it ended.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/addresses/adopt.h"
#include "agent/addresses/backends.h"
#include "agent/context/status_memory.h"
#include "agent/pod/device_info.h"
#include "agent/pod/meta_pod.h"
#include "agent/pod/reservations.h"
#include "agent/pod/sources.h"
#include "cni/config.h"
#include "cni/request.h"
#include "os/ports/disk.h"

namespace railbed::agent {

class Meta {
 public:
  // All must outlive this. Sources of devices are asked in order, until one knows the resource.
  Meta(os::Disk& disk, PodSource& pods, std::vector<DeviceSource*> devices);
  Meta(const Meta&) = delete;
  Meta& operator=(const Meta&) = delete;

  Result<std::string> add(Backends& backends, const cni::Request& request, const cni::PluginConfig& config);
  Result<void> del(Backends& backends, const cni::Request& request, const cni::PluginConfig& config);
  Result<void> check(Backends& backends, const cni::Request& request);
  Result<void> gc(Backends& backends, const cni::Request& request, const cni::PluginConfig& config);
  // Answered from memory (status_memory.h).
  Result<void> status(Backends& backends, const cni::Request& request, const cni::PluginConfig& config);

  // Whereabouts' allocations of before this machine was switched over (adopt.h): picked up now, and read
  // again with each GC. Call it once, before requests are answered.
  Result<Adopted> adopt_from(Engine::Turn& turn, std::unique_ptr<ForeignAllocations> allocations);

  // At the agent's start, after attach::recover(); requests may be answered meanwhile, since the plugins may ask the
  // agent. Undoes what plugins did that were executed for an ADD that never ended, or for a namespace that is gone. One
  // line for each; what could not be undone stays recorded and is reported too.
  Result<std::vector<std::string>> recover(Engine& engine);

  PodSource& pods() { return pods_; }
  const std::vector<DeviceSource*>& devices() const { return devices_; }
  DeviceInfo& device_info() { return device_info_; }
  // In a turn.
  Reservations& reservations() { return reservations_; }
  // Also used for single plugins of railbed whose IPAM type railbed does not implement.
  StatusMemory& statuses() { return statuses_; }

 private:
  Result<PodNetworks> networks_of(Backends& backends, const MetaConfig& meta_config, const cni::Request& request,
                                  const cni::PluginConfig& config);
  Result<void> gc_files(Engine& engine, const std::vector<cni::AttachmentId>& valid);
  Result<void> gc_adopted(Engine& engine, const std::vector<cni::AttachmentId>& valid);
  Result<void> look_up_status(Engine& engine, const cni::Request& request, const cni::PluginConfig& config);
  Result<void> recover_programs(Engine& engine, const std::string& key, std::vector<std::string>& lines);

  os::Disk& disk_;
  PodSource& pods_;
  std::vector<DeviceSource*> devices_;
  DeviceInfo device_info_;
  Reservations reservations_;
  std::unique_ptr<ForeignAllocations> adopted_;  // null: none

  StatusMemory statuses_;  // last: its thread uses the others
};

// What goes to standard output on success.
Result<std::string> meta_request(Backends& backends, Meta& meta, const cni::Request& request,
                                 const cni::PluginConfig& config);

}  // namespace railbed::agent
