// SPDX-License-Identifier: Apache-2.0
// For tests: a disk in memory, on which the process can be killed before or after any change.
//
// Why: what a killed process leaves is the point of an order of writes. After the kill every call fails with
// Canceled, as nothing happens any more, until restart(). Threading: any. Failure: as Disk's.
#pragma once

#include <functional>
#include <map>
#include <mutex>

#include "os/ports/disk.h"

namespace railbed::os {

class FakeDisk : public Disk {
 public:
  // The process dies before change number `changes` + 1; `die` ends whatever else belongs to it.
  void kill_after(int changes, std::function<void()> die);
  void kill() { killed_ = true; }
  void restart();
  bool killed() const { return killed_; }
  int changes() const { return changes_; }
  int lists() const { return lists_; }
  // Another process holds this lock, or releases it.
  void hold_lock(const std::string& path, bool held) { held_[path] = held; }

  std::map<std::string, std::string> files() const;               // with contents, by path
  void put(const std::string& path, const std::string& content);  // as another program would

  Result<void> make_directories(const std::string& path, unsigned mode) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Result<FileStamp> stamp(const std::string& path) override;
  Result<std::string> read(const std::string& path) override;
  Result<void> create(const std::string& path, std::string_view content, unsigned mode) override;
  Result<void> replace(const std::string& path, std::string_view content, unsigned mode) override;
  Result<void> remove(const std::string& path) override;
  Result<std::unique_ptr<DiskLock>> lock(const std::string& path, std::chrono::milliseconds wait) override;

 private:
  Result<void> change(const std::string& path);
  void touch(const std::string& path);

  mutable std::mutex mutex_;
  std::map<std::string, std::string> files_;
  std::map<std::string, int64_t> directories_;  // path → time of the last change
  std::map<std::string, bool> held_;
  int64_t now_ = 0;
  int changes_ = 0;
  int lists_ = 0;
  int left_ = -1;
  bool killed_ = false;
  std::function<void()> die_;
};

}  // namespace railbed::os
