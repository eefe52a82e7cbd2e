// SPDX-License-Identifier: Apache-2.0
#include "perf/perftest/exchange.h"

#include <algorithm>

namespace railbed::perf::perftest {
namespace {

constexpr uint32_t kCacheLine_bytes = 64;
constexpr std::string_view kKeys = "the keys of a queue pair";

}  // namespace

Result<std::string> Exchange::swap(std::string_view own, std::chrono::milliseconds patience, std::string_view what) {
  if (role_ == Role::kClient) {
    TRY(line_.write(own, patience_, what));
    return line_.read(own.size(), patience, what);
  }
  std::string came = TRY(line_.read(own.size(), patience, what));
  TRY(line_.write(own, patience_, what));
  return came;
}

Result<Greeting> Exchange::greet(uint32_t page_bytes, int mtu) {
  Greeting greeting;
  const std::string version = TRY(swap(version_bytes(kAnnounced), patience_, "its version"));
  greeting.version = TRY(read_version(version));
  const std::string page = TRY(swap(number_bytes(page_bytes), patience_, "the size of its pages"));
  greeting.page_bytes = std::max(TRY(read_page(page)), page_bytes);
  const std::string line = TRY(swap(number_bytes(kCacheLine_bytes), patience_, "the size of a cache line"));
  TRY(read_cache_line(line));
  const std::string mtu_code = TRY(swap(mtu_bytes(mtu), patience_, "its MTU"));
  greeting.mtu_bytes = TRY(read_mtu(mtu_code));
  return greeting;
}

Result<Keys> Exchange::read_one(std::chrono::milliseconds patience) {
  std::string bytes = TRY(line_.read(kKeys_bytes, patience, kKeys));
  if (has_gid(bytes)) bytes += TRY(line_.read(kKeysWithGid_bytes - kKeys_bytes, patience_, kKeys));
  return read_keys(bytes);
}

Result<Keys> Exchange::swap_one(const Keys& own, std::chrono::milliseconds patience) {
  if (role_ == Role::kClient) TRY(line_.write(keys_bytes(own), patience_, kKeys));
  Keys remote = TRY(read_one(patience));
  if (role_ == Role::kServer) {
    Keys answer = own;
    if (!remote.gid) answer.gid.reset();
    TRY(line_.write(keys_bytes(answer), patience_, kKeys));
  }
  return remote;
}

Result<void> Exchange::swap_keys(std::vector<Keys> own) {
  own_ = std::move(own);
  for (const Keys& keys : own_) {
    remote_.push_back(TRY(swap_one(keys, patience_)));
    const Keys& came = remote_.back();
    if (role_ == Role::kClient && came.gid.has_value() != keys.gid.has_value())
      return fail(Code::kConflict, "the peer's keys {} a GID, this side's {}", came.gid ? "have" : "do not have",
                  keys.gid ? "have one" : "do not");
    if (came.gid && keys.gid && came.gid->is_mapped_ipv4() != keys.gid->is_mapped_ipv4())
      return fail(Error{.code = Code::kConflict,
                        .message = fmt::format("the peer's GID is one of {}, this side's of {}",
                                               came.gid->is_mapped_ipv4() ? "IPv4" : "IPv6",
                                               keys.gid->is_mapped_ipv4() ? "IPv4" : "IPv6"),
                        .hint = "choose the same here with --gid-rule, or there with -x INDEX"});
  }
  return {};
}

Result<void> Exchange::repeat(size_t pair, std::chrono::milliseconds patience) {
  if (TRY(swap_one(own_[pair], patience)) == remote_[pair]) return {};
  return fail(
      Error{.code = Code::kConflict,
            .message = fmt::format("the peer's keys of queue pair {} are not those that it sent before", pair + 1),
            .hint = "both sides must have the same number of queue pairs (-q) and the same test"});
}

Result<void> Exchange::repeat_keys() {
  for (size_t i = 0; i < own_.size(); ++i) TRY(repeat(i, patience_));
  return {};
}

Result<void> Exchange::sync(std::chrono::milliseconds patience) {
  return repeat(0, patience);
}

Result<std::string> Exchange::swap_report(const Report& own, std::chrono::milliseconds patience) {
  const std::string mine = report_bytes(own);
  std::string came;
  for (size_t i = 0; i < kFigures; ++i)
    came += TRY(swap(std::string_view(mine).substr(i * kFigure_bytes, kFigure_bytes), patience, "its result"));
  return came;
}

Result<void> Exchange::close(std::chrono::milliseconds patience) {
  TRY(sync(patience));
  // A peer that reads it late finds the connection closed, which says the same.
  (void)line_.write(kDone, patience_, "the last word");
  return {};
}

}  // namespace railbed::perf::perftest
