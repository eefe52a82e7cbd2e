// SPDX-License-Identifier: Apache-2.0
#include "attach/presence.h"

#include <algorithm>
#include <map>

#include "attach/attach.h"
#include "attach/host.h"
#include "attach/identity.h"

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
  std::optional<uint64_t> cookie;  // nullopt: there is no namespace
  std::unique_ptr<os::Netns> netns;
  std::unique_ptr<os::LinkPort> links;
  std::optional<PodView> view;
};

Result<std::unique_ptr<Opened>> open_namespace(os::Kernel& kernel, const std::string& path) {
  auto opened = std::make_unique<Opened>();
  auto netns = kernel.netns().open(path);
  if (!netns.has_value() && netns.error().code == Code::kNotFound) return opened;
  opened->netns = TRY(std::move(netns));
  opened->links = TRY(kernel.netns().links(*opened->netns));
  opened->view.emplace(*opened->netns, *opened->links);
  opened->cookie = opened->view->cookie();
  return opened;
}

}  // namespace

Result<std::optional<uint64_t>> namespace_at(os::Kernel& kernel, const std::string& path) {
  return TRY(open_namespace(kernel, path))->cookie;
}

bool is_left(const Attachment& record, const std::optional<uint64_t>& now) {
  if (record.type.starts_with(kProgramPrefix)) return false;  // undone by its own DEL only
  if (record.status != AttachmentStatus::kAttached || !now.has_value()) return true;
  const Result<Before> before = before_of(record);
  return before.has_value() && before->netns != 0 && *now != 0 && before->netns != *now;
}

Result<bool> is_in_pod(const os::FileTree& files, PodView& pod, const Attachment& record) {
  const Result<Before> before = before_of(record);
  if (!before.has_value()) return false;
  if (before->netns != 0 && pod.cookie() != 0 && before->netns != pod.cookie()) return false;
  if (before->way == Way::kVfio) return device_exists(files, *before->device);
  const std::string name = name_in_pod(record);
  return std::ranges::any_of(*TRY(pod.list()), [&](const os::Link& link) {
    return link.name.value == name && is_that_in_pod(link, *before, name);
  });
}

Result<std::vector<Presence>> presence_of(os::Kernel& kernel, const std::vector<Attachment>& records) {
  std::map<std::string, std::unique_ptr<Opened>> namespaces;
  std::vector<Presence> found;
  found.reserve(records.size());
  for (const Attachment& record : records) {
    if (record.type.starts_with(kProgramPrefix)) {
      found.push_back(Presence::kThere);
      continue;
    }
    std::unique_ptr<Opened>& there = namespaces[record.netns];
    if (there == nullptr) there = TRY(open_namespace(kernel, record.netns).context("pod {}", record.pod));
    if (is_left(record, there->cookie))
      found.push_back(Presence::kLeft);
    else
      found.push_back(TRY(is_in_pod(kernel.files(), *there->view, record)) ? Presence::kThere : Presence::kMissing);
  }
  return found;
}

}  // namespace railbed::attach
