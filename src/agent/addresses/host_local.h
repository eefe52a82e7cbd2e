// SPDX-License-Identifier: Apache-2.0
// host-local's files: railbed honours addresses that the original plugin allocated, and writes its own so that the
// original honours them.
//
// Why: a live node is switched over and, if necessary, back; both may even run side by side. The format is the
// original's: <dataDir>/<network>/<address> holds "<container>\r\n<interface>", last_reserved_ip.<set> the last address
// of each range set, and every writer holds flock on `lock`.
//
// Write order, so that a process killed at any point neither loses nor duplicates an address: the lease and a note of
// the file's path are written to the store in one transaction, then the file is created; the file is removed before the
// note and the lease. So there is no railbed file without a note, and no address is in use without its lease. recover()
// finishes interrupted operations: a note without a lease means that the file must be removed, a lease without its file
// that it must be created.
//
// Threading: a Turn's thread.
// Failure: as ipam::assign()'s; Io and Denied of the directory; Busy if another process holds the lock.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agent/engine.h"
#include "ipam/assign.h"
#include "os/ports/disk.h"

namespace railbed::agent {

inline constexpr const char* kHostLocalDirectory = "/var/lib/cni/networks";
// For the lock of a network: the original plugin holds it for milliseconds.
inline constexpr std::chrono::milliseconds kHostLocalLockWait{2000};

class HostLocal {
 public:
  // `disk` must outlive this.
  explicit HostLocal(os::Disk& disk) : disk_(disk) {}

  // At the agent's start, after attach::recover: marks the addresses in all known directories as taken, and makes files
  // and leases agree. A lease that belongs neither to an attachment nor to a foreign plugin's request is left from a
  // killed ADD and is removed. Returns what the disk did not allow, a sentence each: it is tried again at the next
  // start, and by then a network whose directory cannot be used fails its own requests only.
  Result<std::vector<std::string>> recover(Engine::Turn& turn);

  // Addresses come in two steps, so that all networks of a pod share one transaction. begin(), inside the
  // caller's transaction: chosen, with lease and note. finish(), after its commit: with their files. Locks
  // are kept from the first begin() to the last finish(). When the transaction is not committed, release()
  // forgets what was chosen. `data_dir` empty: the usual one. The claim's network is the configuration's "name".
  using Locks = std::map<std::string, std::unique_ptr<os::DiskLock>>;  // by directory
  struct Reservation {
    ipam::AddressClaim claim;
    std::string directory;
    bool had = false;  // whether the owner had a lease before
    std::vector<ipam::Assigned> chosen;
  };
  Result<Reservation> begin(Engine::Turn& turn, Locks& locks, const std::string& data_dir, ipam::AddressClaim claim);
  Result<std::vector<ipam::Assigned>> finish(Engine::Turn& turn, Reservation& reservation);

  // Releases files, leases and addresses of the owners. Nothing to release is success.
  Result<void> release(Engine::Turn& turn, const std::vector<ipam::Owner>& owners);

  // Removes files that the original plugin wrote for this attachment. None is success.
  Result<void> release_foreign(Engine::Turn& turn, const std::string& data_dir, const std::string& network,
                               const std::string& container_id, const std::string& ifname);

  // Removes the files of a container of which nothing is recorded, for whichever interfaces: in all directories that
  // are known, and in those below the usual one.
  Result<void> release_container(Engine::Turn& turn, const std::string& container_id);

  // The owner of a file in the network's directory.
  struct Holder {
    IpAddress address;
    std::string container_id;
    std::string ifname;  // empty in files of old versions
    friend bool operator==(const Holder&, const Holder&) = default;
  };
  // What such a file says; ends of lines and blanks around are no part of it.
  static Holder holder_in(const IpAddress& address, std::string_view content);
  Result<std::vector<Holder>> holders(Engine::Turn& turn, const std::string& data_dir, const std::string& network);

 private:
  struct Directory {
    os::FileStamp stamp;  // at the last reading
    uint64_t loads = 0;   // Allocator::loads() at the last reading
    bool noted = false;   // the store knows the directory, so recover() visits it
    std::map<IpAddress, Holder> files;
  };
  Result<void> hold(const std::string& directory, Locks& locks);
  Result<void> look(Engine::Turn& turn, const std::string& directory, const std::string& network);
  Result<void> read_directory(Engine::Turn& turn, const std::string& directory, const std::string& network);
  void look_for_own(Engine::Turn& turn, const Reservation& reservation);
  Result<void> choose(Engine::Turn& turn, Reservation& reservation);
  Result<void> choose_again(Engine::Turn& turn, Reservation& reservation);
  Result<bool> write_files(const Reservation& reservation);
  Result<void> remove_files(Engine::Turn& turn, const ipam::Owner& owner, bool locked);
  Result<void> forget(Engine::Turn& turn, const std::vector<ipam::Owner>& owners);
  using IsTheirs = std::function<bool(const Holder&)>;
  Result<void> release_those(Engine::Turn& turn, const std::string& directory, const std::string& network,
                             const IsTheirs& theirs);
  Result<void> finish_file(Engine::Turn& turn, const std::string& key, const std::string& content);
  void remember(const std::string& directory);

  os::Disk& disk_;
  std::map<std::string, Directory> seen_;  // by path
};

}  // namespace railbed::agent
