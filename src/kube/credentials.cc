// SPDX-License-Identifier: Apache-2.0
#include "kube/credentials.h"

namespace railbed::kube {

Credentials::Credentials(ClusterAccess access, ReadFile read, const Clock& clock)
    : access_(std::move(access)), read_(std::move(read)), clock_(clock) {}

Result<void> Credentials::read_one(const Secret& secret, std::string& out) const {
  if (!secret.data.empty() || secret.file.empty()) {
    out = secret.data;
    return {};
  }
  std::string text = TRY(read_(secret.file));
  text.erase(text.find_last_not_of(" \r\n\t") + 1);
  if (text.empty()) return fail(Code::kInvalid, "{} is empty", secret.file);
  out = std::move(text);
  return {};
}

Result<void> Credentials::read_all() {
  Now fresh;
  TRY(read_one(access_.ca, fresh.ca));
  TRY(read_one(access_.client_certificate, fresh.client_certificate));
  TRY(read_one(access_.client_key, fresh.client_key));
  TRY(read_one(access_.token, fresh.token));
  // It goes into a header of HTTP.
  if (fresh.token.find_first_of("\r\n") != std::string::npos || fresh.token.find('\0') != std::string::npos)
    return fail(Code::kInvalid, "the token in {} has more than one line",
                access_.token.file.empty() ? "the kubeconfig" : access_.token.file);
  now_ = std::move(fresh);
  return {};
}

Result<Credentials::Now> Credentials::now() {
  const std::lock_guard lock(mutex_);
  if (known_ && clock_.now() - read_at_ < kReadAgain) return now_;
  const Result<void> read = read_all();
  if (!read && !known_) return fail(read.error());
  known_ = true;
  read_at_ = clock_.now();
  return now_;
}

bool Credentials::renewed(const Now& used) {
  const std::lock_guard lock(mutex_);
  return read_all().has_value() && now_ != used;
}

}  // namespace railbed::kube
