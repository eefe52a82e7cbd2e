// SPDX-License-Identifier: Apache-2.0
#include "state/witness.h"

#include <fstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/number.h"

namespace railbed::state {

Witness::Witness(const std::string& directory, std::string boot_id)
    : path_(directory + "/generation"), boot_id_(std::move(boot_id)) {}

Witness::~Witness() {
  reopen();
}

void Witness::reopen() {
  if (const int fd = std::exchange(fd_, -1); fd >= 0) ::close(fd);
}

uint64_t Witness::read() const {
  std::ifstream file(path_);
  std::string number;
  std::string boot_id;
  if (!(file >> number >> boot_id) || boot_id != boot_id_) return 0;
  return whole_number<uint64_t>(number).value_or(0);
}

// One write of always the same length, in place: a killed process leaves the old number or the new one.
void Witness::write(uint64_t generation) {
  if (fd_ < 0) fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd_ < 0) return;
  const std::string text = fmt::format("{:020} {}\n", generation, boot_id_);
  (void)!::pwrite(fd_, text.data(), text.size(), 0);
}

}  // namespace railbed::state
