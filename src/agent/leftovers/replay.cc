// SPDX-License-Identifier: Apache-2.0
#include "agent/leftovers/replay.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <memory>

#include "doc/json.h"

namespace railbed::agent {

namespace {
constexpr std::string_view kPendingDel = "pending-del";
constexpr std::string_view kPendingSuffix = ".del";  // the shim's finished files; ".broken" are others
constexpr std::string_view kUnfinishedSuffix = ".del.new";
constexpr std::chrono::hours kUnfinishedFor{1};

// What is there is no file of a shim: a folder, a link, a pipe, or too much of it.
bool is_no_file(const Error& error) {
  return error.code == Code::kInvalid || error.sys_errno == ELOOP || error.sys_errno == ENXIO;
}
}  // namespace

Result<cni::Request> read_pending(const std::string& frame) {
  std::string why;
  const auto head = cni::read_frame_head(std::string_view(frame).substr(0, cni::kFrameHeadBytes), why);
  if (!head) return fail(Code::kInvalid, "{}", why);
  const std::string_view payload = std::string_view(frame).substr(cni::kFrameHeadBytes);
  if (payload.size() != head->payload_bytes)
    return fail(Code::kInvalid, "{} bytes follow the head, expected {}", payload.size(), head->payload_bytes);
  auto wire = cni::read_wire_request(payload, why);
  if (!wire) return fail(Code::kInvalid, "{}", why);
  auto request = cni::read_request(wire->type, wire->environment, std::move(wire->config));
  if (!request) return fail(Code::kInvalid, "{}", request.error().story());
  if (request->command != cni::Command::kDel)
    return fail(Code::kInvalid, "it contains {}, only DEL is retried", command_name(request->command));
  doc::Diagnostics found;
  const auto config =
      doc::parse_json(std::make_shared<const doc::Source>(doc::Source{"its configuration", request->config}), found);
  if (!config || !config->is_object()) return fail(Code::kInvalid, "its configuration is not a JSON object");
  return std::move(*request);
}

Replay::Replay(os::Disk& disk, std::string folder, Handler handler, std::function<void(const std::string&)> note,
               Events& events)
    : disk_(disk), folder_(std::move(folder)), handler_(std::move(handler)), note_(std::move(note)), events_(events) {}

std::vector<std::string> Replay::names(std::string_view ending) const {
  auto found = disk_.list(folder_);
  if (!found) return {};
  std::erase_if(*found, [&](const std::string& name) { return !name.ends_with(ending); });
  return std::move(*found);
}

size_t Replay::pending() const {
  return names(kPendingSuffix).size();
}

Replay::Tally Replay::all(const std::stop_token& stop) {
  remove_unfinished();
  return pass(nullptr, stop);
}

// A shim that is still writing has begun a moment ago.
void Replay::remove_unfinished() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const int64_t before = std::chrono::duration_cast<std::chrono::seconds>(now - kUnfinishedFor).count();
  for (const std::string& name : names(kUnfinishedSuffix))
    if (const auto stamp = disk_.stamp(folder_ + "/" + name); stamp.has_value() && stamp->seconds < before)
      if (const auto removed = disk_.remove(folder_ + "/" + name); !removed) note_(removed.error().to_string());
}

bool Replay::settle(const std::string& container_id) {
  return pass(&container_id, {}).failed == 0;
}

Replay::Tally Replay::pass(const std::string* container_id, const std::stop_token& stop) {
  Tally tally;
  for (const std::string& name : names(kPendingSuffix)) {
    if (stop.stop_requested()) break;
    repeat(name, container_id, tally);
  }
  return tally;
}

void Replay::repeat(const std::string& name, const std::string* container_id, Tally& tally) {
  const std::string path = folder_ + "/" + name;
  // Whose it is must be known before anybody is waited for.
  auto frame = disk_.read(path);
  if (!frame) {
    // NotFound: another pass has repeated it meanwhile.
    if (frame.error().code != Code::kNotFound) unreadable(name, frame.error(), container_id, tally);
    return;
  }
  auto request = read_pending(*frame);
  if (!request) {
    if (container_id != nullptr) return;  // its container is unknown; all() sets it aside
    ++tally.broken;
    return set_aside(name, fmt::format("is not a DEL request ({})", request.error().story()));
  }
  if (container_id != nullptr && *container_id != request->container_id) return;
  {
    std::unique_lock lock(mutex_);
    free_.wait(lock, [&] { return !at_work_.contains(name); });
    at_work_.insert(name);
  }
  // Another thread may have done it while this one waited.
  if (auto still = disk_.read(path); still.has_value())
    carry_out(name, *request, tally);
  else if (still.error().code != Code::kNotFound)
    ++tally.failed;
  {
    std::lock_guard lock(mutex_);
    at_work_.erase(name);
  }
  free_.notify_all();
}

void Replay::carry_out(const std::string& name, const cni::Request& request, Tally& tally) {
  const std::string path = folder_ + "/" + name;
  Reply reply;
  try {
    reply = handler_(request);
  } catch (const std::exception& problem) {
    reply.result = fail(Code::kInternal, "{}", problem.what());
  }
  if (!reply.result.has_value()) {
    ++tally.failed;
    const std::string error = cni::to_json(reply.result.error(), reply.version);
    const bool is_new = [&] {
      std::lock_guard lock(mutex_);
      return std::exchange(logged_failures_[name], error) != error;
    }();
    const std::string why = reply.result.error().story();
    (void)events_.happened(kPendingDel, name, fmt::format("{}: {}", request.container_id, why));
    if (is_new) note_(fmt::format("the DEL in {} failed and will be retried: {}", path, why));
    return;
  }
  {
    std::lock_guard lock(mutex_);
    logged_failures_.erase(name);
  }
  events_.over(kPendingDel, name);
  // If this fails the DEL runs once more later, which is harmless.
  if (auto removed = disk_.remove(path); !removed) note_(removed.error().to_string());
  ++tally.done;
}

void Replay::unreadable(const std::string& name, const Error& why, const std::string* container_id, Tally& tally) {
  if (!is_no_file(why)) {
    ++tally.failed;  // it may be of this container, and be read a moment later
    (void)events_.happened("disk", name, why.story());
  } else if (container_id == nullptr) {
    ++tally.broken;
    set_aside(name, fmt::format("cannot be read ({})", why.story()));
  }
}

void Replay::set_aside(const std::string& name, const std::string& why) {
  const std::string path = folder_ + "/" + name;
  const auto moved = disk_.rename(path, path + ".broken");
  (void)events_.happened(kPendingDel, name + ".broken", why);
  const bool is_new = [&] {
    std::lock_guard lock(mutex_);
    return std::exchange(logged_failures_[name], why) != why;
  }();
  if (is_new)
    note_(fmt::format("{} {}; {}", path, why, moved ? "it was renamed to " + name + ".broken" : moved.error().story()));
}

}  // namespace railbed::agent
