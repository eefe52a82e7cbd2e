// SPDX-License-Identifier: Apache-2.0
// What an original plugin left behind, as needed by the DEL of each type.
//
// Why: a pod that an original plugin attached before this machine was switched over is released as the original would,
// from the files that it left, by the code that undoes railbed's own attachments. The common part is here; the files
// and their formats are defined by each type (detach_original_… in its file).
// Threading: one thread.
// Failure: as detach_foreign() in attach.h.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attach/host.h"

namespace railbed::attach {

class Original {
 public:
  // All must outlive this; `ours` may be null.
  Original(os::Kernel& kernel, state::Store* ours, const ForeignInterface& interface, const WaitPolicy& wait)
      : kernel_(kernel), ours_(ours), interface_(interface), deadline_(wait.deadline), host_(kernel, wait) {}

  // Lists the interfaces of the pod; a namespace that has ended has none.
  Result<void> look_inside();

  const ForeignInterface& interface() const { return interface_; }
  os::Kernel& kernel() { return kernel_; }
  Host& host() { return host_; }
  bool has_pod() const { return netns_ != nullptr; }
  // In the pod; only where it is there.
  os::LinkPort& links() { return *links_; }
  const std::vector<os::Link>& inside() const { return inside_; }
  // In the pod; null where there is none.
  const os::Link* in_pod() const;
  const os::Link* in_pod(PciAddress device) const;

  // A file of the original; nothing where it is not there.
  Result<std::optional<doc::Value>> left_file(const std::string& directory, const std::string& name);
  std::string file_name() const { return interface_.container_id + "-" + interface_.name.value; }

  // Whether an attachment of ours has the device by now.
  Result<bool> is_ours(const std::string& device);
  // What a VF is to become again: it is in this pod, or at home; nothing where it is another pod's.
  Result<std::optional<Before>> vf_before(const doc::Value& file);
  // For a chained type; `link` may be null.
  Before change_of(const os::Link* link) const;

  // Undoes `before` as if it were ours.
  Result<DetachReport> restore_all(const Before& before, const std::string& device = "");
  // Removes the interface where its kind is `kind`.
  Result<DetachReport> remove_made(std::string_view kind);

 private:
  os::Kernel& kernel_;
  state::Store* ours_;
  const ForeignInterface& interface_;
  os::Deadline deadline_;
  Host host_;
  std::shared_ptr<os::Netns> netns_;
  std::unique_ptr<os::LinkPort> links_;
  std::vector<os::Link> inside_;
};

// An interface as it is, to be moved home.
Before now_of(const os::Link& link);
// The interface's name at home, where `name` can be one.
void take_name(const std::string& name, Before& before);
// The RDMA device that ib-sriov or rdma moved into the pod.
void take_rdma(const doc::Value& state, Before& before);

}  // namespace railbed::attach
