// SPDX-License-Identifier: Apache-2.0
#include "perf/channel/control.h"

#include <algorithm>
#include <array>

#include "doc/text.h"

namespace railbed::perf {
namespace {

constexpr size_t kMaxQueued = 16;  // no peer has a reason to send more in advance

// What follows is sealed: it is taken when seal() was called.
bool ends_handshake(const Envelope& message) {
  return message.type == Proof::kName || message.type == Welcome::kName;
}

bool is_refusal(const Envelope& message) {
  return message.type == Refusal::kName;
}

}  // namespace

Result<void> Channel::seal(Role own, const SessionKeys& keys) {
  if (!ready_.empty())
    return fail(Code::kInvalid, "the peer sent \"{}\" before the handshake was over",
                doc::printable(ready_.front().type));
  seal_.emplace(own, keys);
  return take_frames();
}

Result<std::string> Channel::frame_of(const EncodedMessage& message) {
  if (!seal_) return frame(message.json);
  return frame(TRY(seal_->seal(message.json)));
}

Result<void> Channel::send(const EncodedMessage& message, Deadline deadline) {
  std::string bytes = TRY(frame_of(message));
  bytes.insert(0, std::exchange(unsent_, ""));
  TRY(socket_.write_all(std::as_bytes(std::span(bytes)), deadline).context("sending \"{}\"", message.type));
  return {};
}

Result<void> Channel::send_heartbeat() {
  if (unsent_.empty()) unsent_ = TRY(frame_of(encoded(Heartbeat{})));
  const size_t sent = TRY(socket_.write_now(std::as_bytes(std::span(unsent_))));
  unsent_.erase(0, sent);
  return {};
}

Result<void> Channel::take_frames() {
  while (ready_.size() < kMaxQueued) {
    if (!seal_ && !ready_.empty() && ends_handshake(ready_.back())) return {};
    auto body = TRY(parser_.next());
    if (!body) return {};
    if (seal_) body = TRY(seal_->open(*body));
    Envelope message = TRY(open_envelope(*body));
    if (message.type == Heartbeat::kName)
      heard_heartbeat_ = true;
    else
      ready_.push_back(std::move(message));
  }
  return fail(Code::kInvalid, "peer sent {} unsolicited messages", kMaxQueued);
}

Result<void> Channel::check_stop() const {
  if (stop_.stop_requested()) return fail(Code::kCanceled, "stopped");
  return {};
}

Result<Envelope> Channel::receive(std::chrono::milliseconds patience, std::chrono::milliseconds at_most) {
  Deadline deadline = Deadline::after(patience, *clock_);
  const Deadline last = Deadline::after(std::max(patience, at_most), *clock_);
  std::array<std::byte, 16384> buffer;
  for (;;) {
    TRY(take_frames());
    if (!ready_.empty()) {
      Envelope message = std::move(ready_.front());
      ready_.pop_front();
      return message;
    }
    if (std::exchange(heard_heartbeat_, false)) deadline = last.or_after(patience);
    // A peer that sends one byte at a time does not extend the deadline.
    TRY(check_stop());
    if (deadline.passed()) return fail(Code::kTimeout, "no message from the peer for {} ms", patience.count());
    const auto count = socket_.read_some(buffer, deadline.or_after(kLookForStop));
    if (count)
      parser_.feed({reinterpret_cast<const char*>(buffer.data()), *count});
    else if (count.error().code != Code::kTimeout)
      return fail(count.error());
  }
}

Result<std::optional<Envelope>> Channel::take() {
  if (ready_.empty()) TRY(interrupted());
  if (ready_.empty()) return std::nullopt;
  Envelope message = std::move(ready_.front());
  ready_.pop_front();
  return message;
}

Result<void> Channel::interrupted() {
  TRY(check_stop());
  std::array<std::byte, 4096> buffer;
  // A bounded number of reads, so that a peer that floods cannot keep the measuring loop here.
  for (int reads = 0; reads < 4; ++reads) {
    const auto count = socket_.read_now(buffer);
    // A peer that refuses and closes has said why.
    if (!count && (ready_.empty() || !is_refusal(ready_.front()))) return fail(count.error());
    if (!count || *count == 0) break;
    parser_.feed({reinterpret_cast<const char*>(buffer.data()), *count});
    TRY(take_frames());
  }
  if (!ready_.empty() && is_refusal(ready_.front())) return fail(not_due(ready_.front(), {}));
  return {};
}

}  // namespace railbed::perf
