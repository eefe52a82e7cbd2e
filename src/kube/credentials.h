// SPDX-License-Identifier: Apache-2.0
// The certificates and the token to use right now.
//
// Why: the kubelet replaces a pod's token after 80 % of its hour, and CAs are rotated; a client that reads its files
// once works until they end. Files are read again a minute after they were read last, as client-go does, and at once
// after a server has refused a token. A file that cannot be read for a moment does not stop anybody: what was read
// before stays in use until a server refuses it.
// Threading: any thread. Failure: what ReadFile says of a file that was never read.
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
