// SPDX-License-Identifier: Apache-2.0
#include "os/fake/disk.h"

#include <algorithm>
#include <cerrno>

namespace railbed::os {
namespace {

class FakeLock : public DiskLock {};

std::string parent(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

std::unexpected<Error> dead() {
  return fail(Code::kCanceled, "the process is dead");
}

}  // namespace

void FakeDisk::kill_after(int changes, std::function<void()> die) {
  left_ = changes;
  die_ = std::move(die);
}

void FakeDisk::restart() {
  left_ = -1;
  killed_ = false;
}

void FakeDisk::lose_power(Unsynced unsynced) {
  std::lock_guard lock(mutex_);
  if (unsynced == Unsynced::kLost) files_ = synced_;
  synced_ = files_;
  left_ = -1;
  killed_ = false;
}

std::map<std::string, std::string> FakeDisk::files() const {
  std::lock_guard lock(mutex_);
  return files_;
}

void FakeDisk::touch(const std::string& path) {
  directories_[parent(path)] = ++now_;
  written_[path] = now_;
}

void FakeDisk::put(const std::string& path, const std::string& content, std::optional<int64_t> written) {
  std::lock_guard lock(mutex_);
  files_[path] = content;
  synced_[path] = content;
  touch(path);
  if (written.has_value()) written_[path] = *written;
}

Result<void> FakeDisk::change(const std::string& path, Change what) {
  if (left_ == 0 && !killed_) {
    killed_ = true;
    if (die_) die_();
  }
  if (killed_) return dead();
  if (refused_ != 0 && (what == Change::kAdds || refused_ != ENOSPC))
    return fail(system_error(refused_, "create " + path));
  if (left_ > 0) --left_;
  ++changes_;
  if (!directories_.contains(parent(path))) return fail(system_error(ENOENT, "create " + path));
  return {};
}

Result<void> FakeDisk::make_directories(const std::string& path, unsigned) {
  std::lock_guard lock(mutex_);
  if (killed_) return dead();
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    directories_.emplace(path.substr(0, slash), ++now_);
    if (slash == std::string::npos) return {};
  }
}

Result<std::vector<std::string>> FakeDisk::list(const std::string& path) {
  std::lock_guard lock(mutex_);
  if (killed_) return dead();
  if (!directories_.contains(path)) return fail(system_error(ENOENT, "list " + path));
  ++lists_;
  std::vector<std::string> names;
  for (const auto& [file, content] : files_)
    if (parent(file) == path) names.push_back(file.substr(path.size() + 1));
  for (const auto& [directory, changed] : directories_)
    if (parent(directory) == path) names.push_back(directory.substr(path.size() + 1));
  std::ranges::sort(names);
  return names;
}

Result<FileStamp> FakeDisk::stamp(const std::string& path) {
  std::lock_guard lock(mutex_);
  if (killed_) return dead();
  if (files_.contains(path)) return FileStamp{.seconds = written_.at(path)};
  auto found = directories_.find(path);
  if (found == directories_.end()) return fail(system_error(ENOENT, "stat " + path));
  return FileStamp{.seconds = found->second};
}

Result<std::string> FakeDisk::read(const std::string& path) {
  std::lock_guard lock(mutex_);
  if (killed_) return dead();
  auto found = files_.find(path);
  if (found == files_.end()) return fail(system_error(ENOENT, "read " + path));
  return found->second;
}

Result<void> FakeDisk::create(const std::string& path, std::string_view content, unsigned) {
  std::lock_guard lock(mutex_);
  TRY(change(path));
  if (!files_.emplace(path, content).second) return fail(system_error(EEXIST, "create " + path));
  touch(path);
  return {};
}

Result<void> FakeDisk::replace(const std::string& path, std::string_view content, unsigned) {
  std::lock_guard lock(mutex_);
  TRY(change(path));
  files_[path] = content;
  touch(path);
  return {};
}

Result<void> FakeDisk::remove(const std::string& path) {
  std::lock_guard lock(mutex_);
  if (killed_) return dead();
  if (!files_.contains(path)) return {};
  TRY(change(path, Change::kRemoves));
  files_.erase(path);
  touch(path);
  return {};
}

Result<void> FakeDisk::rename(const std::string& from, const std::string& to) {
  std::lock_guard lock(mutex_);
  if (killed_) return dead();
  if (!files_.contains(from)) return fail(system_error(ENOENT, "rename " + from));
  TRY(change(to, Change::kRemoves));
  files_[to] = files_[from];
  files_.erase(from);
  touch(from);
  touch(to);
  return {};
}

// Two changes, before each of which the process may die: the new content under its name, and on the disk.
Result<void> FakeDisk::replace_durably(const std::string& path, std::string_view content, unsigned mode) {
  TRY(replace(path, content, mode));
  return sync_directory(parent(path));
}

Result<void> FakeDisk::sync_directory(const std::string& path) {
  std::lock_guard lock(mutex_);
  TRY(change(path + "/", Change::kRemoves));
  ++syncs_;
  std::erase_if(synced_, [&](const auto& file) { return parent(file.first) == path && !files_.contains(file.first); });
  for (const auto& [file, content] : files_)
    if (parent(file) == path) synced_[file] = content;
  return {};
}

Result<std::unique_ptr<DiskLock>> FakeDisk::lock(const std::string& path, std::chrono::milliseconds wait) {
  std::lock_guard mutex(mutex_);
  if (killed_) return dead();
  if (held_[path]) return fail(Code::kBusy, "another process has held {} for {} ms", path, wait.count());
  if (!directories_.contains(parent(path))) return fail(system_error(ENOENT, "open " + path));
  if (files_.emplace(path, "").second) touch(path);
  return std::unique_ptr<DiskLock>(new FakeLock);
}

}  // namespace railbed::os
