// SPDX-License-Identifier: Apache-2.0
#include "agent/addresses/host_local.h"

#include <algorithm>
#include <set>

#include "agent/addresses/address_notes.h"
#include "base/text.h"
#include "cni/request.h"
#include "state/sandbox.h"

namespace railbed::agent {
namespace {

// How often another plugin that ignores the lock may take the chosen address before us.
constexpr int kMostTries = 16;
constexpr unsigned kNetworkDirectoryMode = 0755;
constexpr unsigned kAddressFileMode = 0600;

std::string content_of(const std::string& container, const std::string& ifname) {
  return container + "\r\n" + ifname;
}

// The owner of a file whose pod is unknown, for messages and the allocator. The blank keeps it apart from the keys of
// sandboxes, which have none.
ipam::Owner owner_of(const HostLocal::Holder& holder) {
  return {"of container " + holder.container_id, holder.ifname};
}

std::string container_of(const ipam::Owner& owner) {
  state::Sandbox sandbox = state::Sandbox::of_key(owner.pod);
  return sandbox.container.empty() ? sandbox.pod : sandbox.container;
}

// Whether that owner's lease goes with the file.
bool is_file_of(const HostLocal::Holder& file, const ipam::Owner& owner) {
  return owner != owner_of(file) && container_of(owner) == file.container_id &&
         (file.ifname.empty() || owner.interface == file.ifname);
}

std::string parent(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

std::string path_of(const std::string& directory, const IpAddress& address) {
  return fmt::format("{}/{}", directory, address);
}

// Both parts come from configurations that people write, so neither may lead outside of the base directory.
Result<std::string> directory_of(const std::string& data_dir, const std::string& network) {
  std::string base = data_dir.empty() ? kHostLocalDirectory : data_dir;
  while (base.size() > 1 && base.ends_with('/')) base.pop_back();
  if (!base.starts_with('/') || (base + "/").find("/../") != std::string::npos)
    return fail(Code::kInvalid, "ipam.dataDir: \"{}\" is not an absolute path without \"..\"", data_dir);
  if (!cni::valid_network_name(network))
    return fail(Code::kInvalid, "\"{}\" is not a valid network name: host-local uses it as a directory name", network);
  return base + "/" + network;
}

Result<bool> has_lease(state::Store& store, const ipam::Owner& owner) {
  for (const state::AddressLease& lease : TRY(store.leases_of(owner.pod)))
    if (lease.interface == owner.interface) return true;
  return false;
}

std::string pool_of_network(const std::string& network) {
  api::IpamConfig config;
  config.type = api::IpamType::kHostLocal;
  return ipam::pool_of(config, network);
}

}  // namespace

HostLocal::Holder HostLocal::holder_in(const IpAddress& address, std::string_view content) {
  std::string text(trimmed(content));
  size_t end = text.find("\r\n");
  if (end == std::string::npos) return {address, text, ""};
  return {address, text.substr(0, end), text.substr(end + 2)};
}

void HostLocal::remember(const std::string& directory) {
  Result<os::FileStamp> stamp = disk_.stamp(directory);
  if (stamp.has_value())
    seen_[directory].stamp = *stamp;
  else
    seen_[directory].stamp = {};
}

// Needs the directory's lock.
Result<void> HostLocal::look(Engine::Turn& turn, const std::string& directory, const std::string& network) {
  const std::string pool = pool_of_network(network);
  const uint64_t loads = turn.addresses().loads();
  os::FileStamp stamp = TRY(disk_.stamp(directory));
  auto known = seen_.find(directory);
  if (known != seen_.end() && known->second.stamp == stamp) {
    if (known->second.loads != loads)
      for (const auto& [address, holder] : known->second.files) turn.addresses().take(pool, address, owner_of(holder));
    known->second.loads = loads;
    return {};
  }
  Directory now{.stamp = stamp, .loads = loads, .noted = known != seen_.end() && known->second.noted};
  for (const std::string& name : TRY(disk_.list(directory))) {
    Result<IpAddress> address = IpAddress::parse(name);
    if (!address.has_value()) continue;  // lock, last_reserved_ip.0
    Result<std::string> content = disk_.read(directory + "/" + name);
    if (!content.has_value() && content.error().code == Code::kNotFound) continue;
    if (!content.has_value()) return fail(std::move(content.error()));
    now.files.emplace(*address, holder_in(*address, *content));
  }
  if (known != seen_.end())
    for (const auto& [address, holder] : known->second.files) {
      const auto still = now.files.find(address);
      const bool changed = still == now.files.end() || owner_of(still->second) != owner_of(holder);
      if (changed && turn.addresses().holder(pool, address) == owner_of(holder))
        turn.addresses().give_back(pool, address);
    }
  for (const auto& [address, holder] : now.files) turn.addresses().take(pool, address, owner_of(holder));
  seen_.insert_or_assign(directory, std::move(now));
  return {};
}

// An address that the original plugin gave to this very interface before the node was switched over belongs to it.
void HostLocal::look_for_own(Engine::Turn& turn, const Reservation& reservation) {
  const std::string pool = pool_of_network(reservation.claim.network);
  const ipam::Owner by_container =
      owner_of({.container_id = container_of(reservation.claim.owner), .ifname = reservation.claim.owner.interface});
  for (const auto& [address, holder] : seen_[reservation.directory].files) {
    if (owner_of(holder) != by_container || turn.addresses().holder(pool, address) != by_container) continue;
    turn.addresses().give_back(pool, address);
    turn.addresses().take(pool, address, reservation.claim.owner);
  }
}

// Stores leases and notes; needs a transaction.
Result<void> HostLocal::choose(Engine::Turn& turn, Reservation& reservation) {
  reservation.chosen = TRY(turn.addresses().allocate(reservation.claim.config, reservation.claim.network,
                                                     reservation.claim.requested, reservation.claim.owner));
  const std::string content = content_of(container_of(reservation.claim.owner), reservation.claim.owner.interface);
  for (const ipam::Assigned& one : reservation.chosen) {
    if (one.pool.empty()) continue;
    const IpAddress& address = one.address.address;
    TRY(turn.store().put_lease({one.pool, address, reservation.claim.owner.pod, reservation.claim.owner.interface}));
    TRY(turn.store().put_note(key_of(FileNote{reservation.claim.owner, path_of(reservation.directory, address)}),
                              content));
  }
  return {};
}

// False when a process that ignores the lock was faster.
Result<bool> HostLocal::write_files(const Reservation& reservation) {
  const std::vector<ipam::Assigned>& chosen = reservation.chosen;
  const HostLocal::Holder mine{.container_id = container_of(reservation.claim.owner),
                               .ifname = reservation.claim.owner.interface};
  for (size_t set = 0; set < chosen.size(); ++set) {
    if (chosen[set].pool.empty()) continue;
    const IpAddress& address = chosen[set].address.address;
    const std::string path = path_of(reservation.directory, address);
    Result<void> made = disk_.create(path, content_of(mine.container_id, mine.ifname), kAddressFileMode);
    if (!made.has_value() && made.error().code == Code::kConflict) {
      Holder there = HostLocal::holder_in(address, TRY(disk_.read(path)));
      if (there.container_id != mine.container_id || there.ifname != mine.ifname) return false;
      continue;
    }
    if (!made.has_value()) return fail(std::move(made.error()));
    seen_[reservation.directory].files.insert_or_assign(address, Holder{address, mine.container_id, mine.ifname});
    // Where the original begins to search; of a part of an address it makes nothing, and begins at the first one.
    TRY(disk_.overwrite(fmt::format("{}/last_reserved_ip.{}", reservation.directory, set), address.to_string(),
                        kAddressFileMode));
  }
  return true;
}

Result<void> HostLocal::hold(const std::string& directory, Locks& locks) {
  if (locks.contains(directory)) return {};
  Result<std::unique_ptr<os::DiskLock>> lock = disk_.lock(directory + "/lock", kHostLocalLockWait);
  if (!lock.has_value() && lock.error().code == Code::kNotFound) {  // the directory was removed
    TRY(disk_.make_directories(directory, kNetworkDirectoryMode));
    lock = disk_.lock(directory + "/lock", kHostLocalLockWait);
  }
  locks[directory] = TRY(std::move(lock));
  return {};
}

Result<HostLocal::Reservation> HostLocal::begin(Engine::Turn& turn, Locks& locks, const std::string& data_dir,
                                                ipam::AddressClaim claim) {
  Reservation reservation{.claim = std::move(claim), .directory = {}, .chosen = {}};
  const std::string& network = reservation.claim.network;
  const std::string& directory = reservation.directory = TRY(directory_of(data_dir, network));
  if (!seen_.contains(directory)) TRY(disk_.make_directories(directory, kNetworkDirectoryMode));
  TRY(hold(directory, locks).context("network {}", network));
  reservation.had = TRY(has_lease(turn.store(), reservation.claim.owner));
  TRY(look(turn, directory, network));
  if (!seen_[directory].noted) {
    TRY(turn.store().put_note(kDirectoryNotes + directory, network));
    // After a reboot, the usual directory is found by its place.
    if (parent(directory) != kHostLocalDirectory) TRY(turn.records().put_directory(directory, network));
  }
  look_for_own(turn, reservation);
  Result<void> chosen = choose(turn, reservation);
  if (chosen.has_value()) return reservation;
  if (!reservation.had) turn.addresses().release(reservation.claim.owner);
  return fail(std::move(chosen.error()));
}

Result<void> HostLocal::choose_again(Engine::Turn& turn, Reservation& reservation) {
  TRY(look(turn, reservation.directory, reservation.claim.network));
  look_for_own(turn, reservation);
  auto transaction = TRY(state::Transaction::begin(turn.store()));
  TRY(choose(turn, reservation));
  return transaction.commit();
}

Result<std::vector<ipam::Assigned>> HostLocal::finish(Engine::Turn& turn, Reservation& reservation) {
  seen_[reservation.directory].noted = true;
  for (int tries = 0; tries < kMostTries; ++tries) {
    Result<void> chosen = tries == 0 ? Result<void>{} : choose_again(turn, reservation);
    Result<bool> written =
        chosen.has_value() ? write_files(reservation) : Result<bool>(fail(std::move(chosen.error())));
    if (written.has_value() && *written) {
      remember(reservation.directory);
      return reservation.chosen;
    }
    seen_[reservation.directory].stamp = {};  // forces the next look() to read the directory
    // The interface keeps the addresses that it had before; new ones are all given back.
    if (!reservation.had) {
      TRY(remove_files(turn, reservation.claim.owner, true));
      TRY(forget(turn, {reservation.claim.owner}));
    }
    if (!written.has_value()) return fail(std::move(written.error()));
    if (reservation.had)
      return fail(Code::kConflict,
                  "network {}: a file in {} assigns an address of pod {}, interface {} to another container",
                  reservation.claim.network, reservation.directory, reservation.claim.owner.pod,
                  reservation.claim.owner.interface);
  }
  return fail(Error{.code = Code::kBusy,
                    .message = fmt::format("network {}: {} times, another program took the address that was being "
                                           "allocated, in {}",
                                           reservation.claim.network, kMostTries, reservation.directory),
                    .hint = "find the program that writes there without holding the file `lock`"});
}

Result<void> HostLocal::remove_files(Engine::Turn& turn, const ipam::Owner& owner, bool locked) {
  for (const auto& [key, content] : TRY(turn.store().notes(file_notes_of(owner)))) {
    const std::string path = file_note(key)->path;
    const std::string directory = parent(path);
    Result<std::unique_ptr<os::DiskLock>> lock(nullptr);
    if (!locked) lock = disk_.lock(directory + "/lock", kHostLocalLockWait);
    if (!lock.has_value() && lock.error().code == Code::kNotFound) continue;  // the directory was removed
    if (!lock.has_value()) return fail(std::move(lock.error()));
    auto known = seen_.find(directory);
    Result<os::FileStamp> stamp = disk_.stamp(directory);
    bool was_current = known != seen_.end() && stamp.has_value() && *stamp == known->second.stamp;
    Result<std::string> there = disk_.read(path);
    if (!there.has_value() && there.error().code != Code::kNotFound) return fail(std::move(there.error()));
    if (!there.has_value() || trimmed(*there) != trimmed(content)) continue;  // it belongs to another owner by now
    TRY(disk_.remove(path));
    if (!was_current) continue;
    if (auto address = IpAddress::parse(path.substr(directory.size() + 1))) known->second.files.erase(*address);
    remember(directory);
  }
  return {};
}

Result<void> HostLocal::forget(Engine::Turn& turn, const std::vector<ipam::Owner>& owners) {
  auto transaction = TRY(state::Transaction::begin(turn.store()));
  for (const ipam::Owner& owner : owners) {
    for (const auto& [key, content] : TRY(turn.store().notes(file_notes_of(owner)))) TRY(turn.store().forget_note(key));
    TRY(turn.store().forget_leases(owner.pod, owner.interface));
  }
  TRY(transaction.commit());
  for (const ipam::Owner& owner : owners) turn.addresses().release(owner);
  return {};
}

Result<void> HostLocal::release(Engine::Turn& turn, const std::vector<ipam::Owner>& owners) {
  for (const ipam::Owner& owner : owners) TRY(remove_files(turn, owner, false));
  return forget(turn, owners);
}

Result<void> HostLocal::release_foreign(Engine::Turn& turn, const std::string& data_dir, const std::string& network,
                                        const std::string& container_id, const std::string& ifname) {
  return release_those(turn, TRY(directory_of(data_dir, network)), network, [&](const Holder& holder) {
    return holder.container_id == container_id && (holder.ifname == ifname || holder.ifname.empty());
  });
}

Result<void> HostLocal::release_container(Engine::Turn& turn, const std::string& container_id) {
  std::map<std::string, std::string> directories;  // and the network
  for (const auto& [key, network] : TRY(turn.store().notes(kDirectoryNotes)))
    directories.emplace(key.substr(std::string_view(kDirectoryNotes).size()), network);
  if (auto names = disk_.list(kHostLocalDirectory); names.has_value())
    for (const std::string& name : *names) directories.emplace(fmt::format("{}/{}", kHostLocalDirectory, name), name);
  for (const auto& [directory, network] : directories)
    TRY(release_those(turn, directory, network,
                      [&](const Holder& holder) { return holder.container_id == container_id; }));
  return {};
}

Result<void> HostLocal::release_those(Engine::Turn& turn, const std::string& directory, const std::string& network,
                                      const IsTheirs& theirs) {
  if (!disk_.stamp(directory).has_value()) return {};
  auto lock = TRY(disk_.lock(directory + "/lock", kHostLocalLockWait).context("network {}", network));
  TRY(look(turn, directory, network));
  const std::string pool = pool_of_network(network);
  std::vector<Holder> found;
  for (const auto& [address, holder] : seen_[directory].files)
    if (theirs(holder)) found.push_back(holder);
  for (const Holder& one : found) {
    const std::optional<ipam::Owner> leased = turn.addresses().holder(pool, one.address);
    if (leased.has_value() && is_file_of(one, *leased)) continue;  // it is removed together with the lease
    TRY(disk_.remove(path_of(directory, one.address)));
    // A state that was rolled back may have a lease of a pod that had the address before.
    if (leased == owner_of(one)) turn.addresses().give_back(pool, one.address);
    seen_[directory].files.erase(one.address);
  }
  if (!found.empty()) remember(directory);
  return {};
}

Result<std::vector<HostLocal::Holder>> HostLocal::holders(Engine::Turn& turn, const std::string& data_dir,
                                                          const std::string& network) {
  const std::string directory = TRY(directory_of(data_dir, network));
  std::vector<Holder> all;
  if (!disk_.stamp(directory).has_value()) return all;
  auto lock = TRY(disk_.lock(directory + "/lock", kHostLocalLockWait).context("network {}", network));
  TRY(look(turn, directory, network));
  for (const auto& [address, holder] : seen_[directory].files) all.push_back(holder);
  return all;
}

// Completes what a note announces: with its lease the file must exist, without it neither may.
Result<void> HostLocal::finish_file(Engine::Turn& turn, const std::string& key, const std::string& content) {
  std::optional<FileNote> note = file_note(key);
  if (!note.has_value()) return {};
  const std::string directory = parent(note->path);
  Result<IpAddress> address = IpAddress::parse(note->path.substr(directory.size() + 1));
  bool leased = false;
  for (const state::AddressLease& lease : TRY(turn.store().leases_of(note->owner.pod)))
    leased = leased || (lease.interface == note->owner.interface && address.has_value() && lease.address == *address);
  if (!leased) {
    TRY(remove_files(turn, note->owner, false));
    return turn.store().forget_note(key);
  }
  TRY(disk_.make_directories(directory, kNetworkDirectoryMode));
  auto lock = TRY(disk_.lock(directory + "/lock", kHostLocalLockWait));
  Result<void> made = disk_.create(note->path, content, kAddressFileMode);
  if (!made.has_value() && made.error().code != Code::kConflict) return made;
  return {};
}

Result<void> HostLocal::read_directory(Engine::Turn& turn, const std::string& directory, const std::string& network) {
  if (!disk_.stamp(directory).has_value()) return {};
  const auto lock = TRY(disk_.lock(directory + "/lock", kHostLocalLockWait));
  return look(turn, directory, network);
}

Result<std::vector<std::string>> HostLocal::recover(Engine::Turn& turn) {
  std::vector<std::string> problems;
  const auto report = [&](Result<void> done) {
    if (!done.has_value()) problems.push_back(done.error().story());
  };
  std::set<ipam::Owner> known;
  for (const auto& [key, pod] : TRY(turn.store().notes(kRequestNotes)))
    if (auto note = request_note(key)) known.insert({pod, note->ifname});
  for (const auto& [key, where] : TRY(turn.store().notes(kAdoptedNotes)))
    if (auto owner = adopted_owner(key)) known.insert(*std::move(owner));
  for (const state::Attachment& one : TRY(turn.store().attachments())) known.insert({one.pod, one.interface});
  for (const state::AddressLease& lease : TRY(turn.store().all_leases())) {
    ipam::Owner owner{lease.pod, lease.interface};
    bool of_a_container = !state::Sandbox::of_key(lease.pod).container.empty();
    if (of_a_container && !known.contains(owner)) report(release(turn, {owner}));
  }
  for (const auto& [key, content] : TRY(turn.store().notes(kFileNotes))) report(finish_file(turn, key, content));
  for (const auto& [key, network] : TRY(turn.store().notes(kDirectoryNotes)))
    report(read_directory(turn, key.substr(std::string_view(kDirectoryNotes).size()), network));
  return problems;
}

}  // namespace railbed::agent
