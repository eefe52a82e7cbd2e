// SPDX-License-Identifier: Apache-2.0
#include "agent/door/events.h"

#include <algorithm>

#include <fmt/chrono.h>

#include "doc/text.h"

namespace railbed::agent {
namespace {

constexpr size_t kMostEventText = 2000;

std::string event_text(std::string_view text) {
  return doc::printable(text.substr(0, kMostEventText));
}

std::string_view kind_of(int code) {
  switch (code) {
    case cni::kIo:
      return "disk";
    case cni::kStarved:
      return "starved";
    case cni::kExhausted:
      return "exhausted";
    default:
      return "request";
  }
}

std::string text_of(Event::Time time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(time))));
}

}  // namespace

uint64_t Events::happened(std::string_view kind, std::string_view about, std::string_view error) {
  const std::string name = event_text(about);
  const Event::Time now = now_();
  std::lock_guard lock(mutex_);
  auto known = std::ranges::find_if(events_, [&](const Event& one) { return one.kind == kind && one.about == name; });
  if (known != events_.end()) {
    events_.splice(events_.begin(), events_, known);
  } else {
    if (events_.size() >= kMost) events_.pop_back();
    events_.push_front({.kind = std::string(kind), .about = name, .last_error = {}, .first = now, .last = now});
  }
  Event& event = events_.front();
  ++event.count;
  event.last = now;
  event.last_error = event_text(error);
  return event.count;
}

void Events::failed(const cni::Request& request, const Error& error) {
  const std::string subject = request.pod().empty() ? request.container_id : request.pod();
  const int code = cni::code_of(error);
  (void)happened(kind_of(code), fmt::format("{} code {}", command_name(request.command), code),
                 subject.empty() ? error.story() : fmt::format("{}: {}", subject, error.story()));
}

void Events::over(std::string_view kind, std::string_view about) {
  const std::string name = event_text(about);
  std::lock_guard lock(mutex_);
  std::erase_if(events_, [&](const Event& one) { return one.kind == kind && one.about == name; });
}

std::vector<Event> Events::all() const {
  std::lock_guard lock(mutex_);
  return {events_.begin(), events_.end()};
}

doc::Value to_value(const Event& event) {
  doc::Value value = doc::Value::object();
  value.set("kind", event.kind);
  value.set("about", event.about);
  value.set("count", static_cast<int64_t>(event.count));
  value.set("first", text_of(event.first));
  value.set("last", text_of(event.last));
  value.set("lastError", event.last_error);
  return value;
}

}  // namespace railbed::agent
