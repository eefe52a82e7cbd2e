// SPDX-License-Identifier: Apache-2.0
// For tests: a disk in memory, on which the process can be killed before or after any change.
//
// Why: the purpose of a write order is the state after a kill. After the kill every call fails with Canceled, and
// nothing changes any more, until restart().
// Threading: any.
// Failure: as Disk's.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "os/ports/disk.h"

namespace railbed::os {

class FakeDisk : public Disk {
 public:
  // The process dies before change number `changes` + 1; `die` ends whatever else belongs to it.
  void kill_after(int changes, std::function<void()> die);
  void kill() { killed_ = true; }
  void restart();
  // The power fails, and the machine starts again. What was not synced may have reached the disk or not: the two
  // extremes. A name that was removed without a sync may be there again.
  enum class Unsynced : bool { kLost, kKept };
  void lose_power(Unsynced unsynced);
  // Changes fail with this errno until it is 0 again: those that need space with ENOSPC, all with EROFS.
  void refuse(int sys_errno) { refused_ = sys_errno; }
  bool killed() const { return killed_; }
  int changes() const { return changes_; }
  int lists() const { return lists_; }
  // Another process holds this lock, or releases it.
  void hold_lock(const std::string& path, bool held) { held_[path] = held; }

  std::map<std::string, std::string> files() const;  // with contents, by path
  // As another program would; `written` is the time of its stamp, in seconds.
  void put(const std::string& path, const std::string& content, std::optional<int64_t> written = std::nullopt);

  Result<void> make_directories(const std::string& path, unsigned mode) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Result<FileStamp> stamp(const std::string& path) override;
  Result<std::string> read(const std::string& path) override;
  Result<void> create(const std::string& path, std::string_view content, unsigned mode) override;
  Result<void> replace(const std::string& path, std::string_view content, unsigned mode) override;
  Result<void> remove(const std::string& path) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> replace_durably(const std::string& path, std::string_view content, unsigned mode) override;
  Result<void> sync_directory(const std::string& path) override;
  int syncs() const { return syncs_; }
  Result<std::unique_ptr<DiskLock>> lock(const std::string& path, std::chrono::milliseconds wait) override;

 private:
  enum class Change : bool { kAdds, kRemoves };
  Result<void> change(const std::string& path, Change what = Change::kAdds);
  void touch(const std::string& path);  // a file that came, changed or went

  mutable std::mutex mutex_;
  std::map<std::string, std::string> files_;
  std::map<std::string, std::string> synced_;   // what a power failure leaves
  std::map<std::string, int64_t> directories_;  // path → time of the last change
  std::map<std::string, int64_t> written_;      // the same of files
  std::map<std::string, bool> held_;
  int64_t now_ = 0;
  int changes_ = 0;
  int lists_ = 0;
  int syncs_ = 0;
  int refused_ = 0;
  int left_ = -1;
  bool killed_ = false;
  std::function<void()> die_;
};

}  // namespace railbed::os
