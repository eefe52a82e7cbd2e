// SPDX-License-Identifier: Apache-2.0
// The current certificates and token.
//
// Why: the kubelet replaces a pod's token after 80 % of its hour, and CAs are rotated; a client that reads its files
// only once works until they expire. Files are read again a minute after the last read, as in client-go, and
// immediately after a server has refused a token. If a file is temporarily unreadable, the last content stays in use
// until a server refuses it.
// Threading: any thread.
// Failure: the error of ReadFile for a file that was never read.
#pragma once

#include <mutex>

#include "kube/clock.h"
#include "kube/config.h"

namespace railbed::kube {

class Credentials {
 public:
  struct Now {
    std::string ca;
    std::string client_certificate;
    std::string client_key;
    std::string token;
    friend bool operator==(const Now&, const Now&) = default;
  };

  Credentials(ClusterAccess access, ReadFile read, const Clock& clock);
  const ClusterAccess& access() const { return access_; }
  Result<Now> now();
  // The server refused `used`. Whether there are other ones now, with which to ask again.
  bool renewed(const Now& used);

 private:
  static constexpr auto kReadAgain = std::chrono::seconds(60);
  Result<void> read_all();
  Result<void> read_one(const Secret& secret, std::string& out) const;

  const ClusterAccess access_;
  const ReadFile read_;
  const Clock& clock_;
  std::mutex mutex_;
  Now now_;
  bool known_ = false;
  Instant read_at_{};
};

}  // namespace railbed::kube
