// SPDX-License-Identifier: Apache-2.0
#include "attach/presence.h"

#include <algorithm>
#include <map>

#include "attach/attach.h"
#include "attach/host.h"
#include "attach/identity.h"
#include "attach/namespaces.h"

namespace railbed::attach {
namespace {

using state::Attachment;
using state::AttachmentStatus;

// The name of the interface in the pod: a change of one is recorded as "net1/tuning".
std::string name_in_pod(const Attachment& record) {
  return record.interface.substr(0, record.interface.find('/'));
}

// A namespace that is looked into once for all of its records.
struct Opened {
  std::unique_ptr<os::LinkPort> links;
  std::optional<PodView> view;
};

Result<Presence> presence_in(os::Kernel& kernel, const Attachment& record, const NetnsPlace& place,
                             std::unique_ptr<Opened>& there) {
  if (place.error.has_value()) return Result<Presence>(fail(Error(*place.error))).context("pod {}", record.pod);
  if (place.state == NetnsState::kEnded) return Presence::kLeft;
  if (place.state == NetnsState::kUnknown) return Presence::kUnreachable;
  if (record.status != AttachmentStatus::kAttached) return Presence::kLeft;
  if (there == nullptr) {
    there = std::make_unique<Opened>();
    there->links = TRY(kernel.netns().links(*place.netns).context("pod {}", record.pod));
    there->view.emplace(*place.netns, *there->links);
  }
  return TRY(is_in_pod(kernel.files(), *there->view, record)) ? Presence::kThere : Presence::kMissing;
}

}  // namespace

Result<bool> is_in_pod(const os::FileTree& files, PodView& pod, const Attachment& record) {
  const Result<Before> before = before_of(record);
  if (!before.has_value()) return false;
  if (before->netns.has_value() && *before->netns != TRY(pod.identity())) return false;
  if (before->way == Way::kVfio) return device_exists(files, *before->device);
  const std::string name = name_in_pod(record);
  return std::ranges::any_of(*TRY(pod.list()), [&](const os::Link& link) {
    return link.name.value == name && is_same_link(link, *before, name);
  });
}

Result<std::vector<Presence>> presence_of(os::Kernel& kernel, const std::vector<Attachment>& records) {
  std::vector<NetnsRef> refs;
  for (const Attachment& record : records)
    if (!record.type.starts_with(kProgramPrefix)) refs.push_back(netns_ref_of(record));
  Namespaces spaces(kernel);
  spaces.open(refs);
  if (!spaces.all_known()) spaces.look();
  std::map<NetnsRef, std::unique_ptr<Opened>> opened;
  std::vector<Presence> found;
  found.reserve(records.size());
  for (const Attachment& record : records) {
    if (record.type.starts_with(kProgramPrefix)) {
      found.push_back(Presence::kThere);
      continue;
    }
    const NetnsRef ref = netns_ref_of(record);
    found.push_back(TRY(presence_in(kernel, record, spaces.place_of(ref), opened[ref])));
  }
  return found;
}

}  // namespace railbed::attach
