// SPDX-License-Identifier: Apache-2.0
#include "agent/addresses/leftover_files.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "agent/addresses/address_notes.h"
#include "agent/addresses/addresses_in_use.h"
#include "agent/addresses/host_local.h"
#include "agent/records/meta_records.h"
#include "agent/records/runtime_containers.h"
#include "state/sandbox.h"

namespace railbed::agent {
namespace {

std::string container_of(const std::string& key) {
  state::Sandbox sandbox = state::Sandbox::of_key(key);
  return sandbox.container.empty() ? sandbox.pod : sandbox.container;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find_first_of("\r\n"));
}

std::vector<std::string> names_in(os::Disk& disk, const std::string& directory) {
  Result<std::vector<std::string>> names = disk.list(directory);
  return names.has_value() ? std::move(*names) : std::vector<std::string>{};
}

class FileFinder {
 public:
  FileFinder(os::Kernel& kernel, state::Store& store, os::Disk& disk)
      : kernel_(kernel), store_(store), disk_(disk), of_runtime_(RuntimeContainers::look(disk)) {}

  Result<std::vector<Leftover>> find() {
    if (auto looked = TRY(store_.note(kLooked)); looked.has_value())
      std::from_chars(looked->data(), looked->data() + looked->size(), state_began_);
    TRY(learn_containers());
    for (const auto& [key, content] : TRY(store_.notes(kFileNotes)))
      if (auto note = file_note(key)) ours_.emplace(note->path, note->owner);
    std::set<std::string> directories;
    for (const auto& [key, network] : TRY(store_.notes(kDirectoryNotes)))
      directories.insert(key.substr(std::string_view(kDirectoryNotes).size()));
    for (const std::string& name : names_in(disk_, kHostLocalDirectory))
      directories.insert(std::string(kHostLocalDirectory) + "/" + name);
    std::vector<Leftover> found;
    for (const std::string& directory : directories) look(directory, found);
    return found;
  }

 private:
  Result<void> learn_containers() {
    // What waits since an earlier boot has no namespace: its containers are those that the runtime has.
    for (const state::Attachment& one : TRY(store_.attachments()))
      if (!one.netns.empty()) known_.insert(container_of(one.pod));
    for (const state::PodRecord& one : TRY(store_.pods())) known_.insert(container_of(one.pod));
    for (const SandboxNote& one : TRY(sandbox_notes(store_)))
      if (!one.netns.empty()) known_.insert(container_of(one.key));
    for (const auto& [key, pod] : TRY(store_.notes(kRequestNotes)))
      if (auto note = request_note(key)) known_.insert(note->container_id);
    return {};
  }

  bool is_known(const std::string& container) const {
    return known_.contains(container) || of_runtime_.knows(container);
  }

  void look(const std::string& directory, std::vector<Leftover>& found) {
    for (const std::string& name : names_in(disk_, directory)) {
      if (!IpAddress::parse(name).has_value()) continue;  // lock, last_reserved_ip.0
      const std::string path = directory + "/" + name;
      Result<std::string> content = disk_.read(path);
      if (!content.has_value()) continue;
      const std::string container = first_line(*content);
      if (container.empty() || is_known(container)) continue;
      auto owner = ours_.find(path);
      Leftover one{.kind = LeftoverKind::kFile,
                   .pod = "",
                   .what = path,
                   .why = fmt::format("its container {} is unknown", container)};
      if (owner != ours_.end()) {
        one.pod = owner->second.pod;
      } else if (is_of_before(path, *IpAddress::parse(name))) {
        one.why += ", the file is older than railbed's state, and no interface of this machine has the address";
        one.container = container;
      } else {
        one.removable = false;
        one.hint = "the original plugin wrote it; remove it if that container no longer exists";
      }
      found.push_back(std::move(one));
    }
  }

  // Whether the file is of a container that has ended: see the header.
  bool is_of_before(const std::string& path, const IpAddress& address) {
    Result<os::FileStamp> stamp = disk_.stamp(path);
    if (!stamp.has_value() || stamp->seconds > state_began_) return false;
    if (!in_use_.has_value()) {
      Result<NodeAddresses> found = node_addresses(kernel_);
      if (!found.has_value()) state_began_ = -1;  // of no file it can be said
      in_use_ = found.has_value() ? std::move(found->all) : std::vector<NodeAddress>{};
    }
    return state_began_ >= 0 && std::ranges::find(*in_use_, address, &NodeAddress::address) == in_use_->end();
  }

  os::Kernel& kernel_;
  state::Store& store_;
  os::Disk& disk_;
  int64_t state_began_ = -1;  // in seconds since 1970; -1: not known
  std::optional<std::vector<NodeAddress>> in_use_;
  std::set<std::string> known_;
  RuntimeContainers of_runtime_;
  std::map<std::string, ipam::Owner> ours_;  // by path
};

Result<void> remove_of_before(os::Disk& disk, const std::string& directory, const Leftover& leftover) {
  auto lock = TRY(disk.lock(directory + "/lock", kHostLocalLockWait));
  Result<std::string> there = disk.read(leftover.what);
  if (!there.has_value() && there.error().code == Code::kNotFound) return {};
  if (first_line(TRY(std::move(there))) != leftover.container)
    return fail(Code::kConflict, "{} now belongs to another owner", leftover.what);
  return disk.remove(leftover.what);
}

}  // namespace

Result<std::vector<Leftover>> find_leftover_files(os::Kernel& kernel, state::Store& store, os::Disk& disk) {
  return FileFinder(kernel, store, disk).find();
}

Result<void> remove_leftover_file(state::Store& store, os::Disk& disk, const Leftover& leftover) {
  const std::string directory = leftover.what.substr(0, leftover.what.rfind('/'));
  if (!leftover.container.empty()) return remove_of_before(disk, directory, leftover);
  for (const auto& [key, content] : TRY(store.notes(kFileNotes))) {
    std::optional<FileNote> note = file_note(key);
    if (!note.has_value() || note->path != leftover.what) continue;
    auto lock = TRY(disk.lock(directory + "/lock", kHostLocalLockWait));
    Result<std::string> there = disk.read(note->path);
    if (!there.has_value() && there.error().code != Code::kNotFound) return fail(std::move(there.error()));
    if (there.has_value() && *there != content)
      return fail(Code::kConflict, "{} now belongs to another owner", note->path);
    TRY(disk.remove(note->path));
    auto transaction = TRY(state::Transaction::begin(store));
    TRY(store.forget_note(key));
    TRY(store.forget_leases(note->owner.pod, note->owner.interface));
    return transaction.commit();
  }
  return fail(Code::kNotFound, "{} is no longer recorded in the state", leftover.what);
}

}  // namespace railbed::agent
