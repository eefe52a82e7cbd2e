// SPDX-License-Identifier: Apache-2.0
// How far the state has come, kept beside its file.
//
// Why: a file that was rolled back, or whose log lost its end, is whole to SQLite, and knows nothing of the pods that
// came since: their addresses would be given again. So each change of attachments and leases is counted, in the file
// and in another one, written after it; a file that has counted less than the other one has lost something, and the
// machine is looked at as after a lost state. Killed between both, the file has counted more, which is nothing.
// Threading: of its owner. Failure: what cannot be read or written is no witness.
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

  uint64_t read() const;  // 0: nobody has written one in this boot
  void write(uint64_t generation);
  // The next write() makes the file anew, after it was removed.
  void reopen();

 private:
  std::string path_;
  std::string boot_id_;
  int fd_ = -1;
};

}  // namespace railbed::state
