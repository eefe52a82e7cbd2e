// SPDX-License-Identifier: Apache-2.0
// A change counter next to the state file, which detects a rollback of the file.
//
// Why: a file that was rolled back, or whose log was truncated, is intact to SQLite, and does not contain the pods that
// started since: their addresses would be allocated again. So each change of attachments and leases is counted, in the
// file and in a second file that is written after it. A state file with a lower count than the second file has lost
// changes, and the machine is scanned as after a lost state. After a kill between the two writes the state file has the
// higher count, which is harmless.
// Threading: its owner's.
// Failure: a witness that cannot be read or written counts as absent.
#pragma once

#include <cstdint>
#include <string>

namespace railbed::state {

class Witness {
 public:
  // "<directory>/generation", of this boot.
  Witness(const std::string& directory, std::string boot_id);
  ~Witness();
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

  uint64_t read() const;  // 0: none was written in this boot
  void write(uint64_t generation);
  // The next write() re-creates the file, after it was removed.
  void reopen();

 private:
  std::string path_;
  std::string boot_id_;
  int fd_ = -1;
};

}  // namespace railbed::state
