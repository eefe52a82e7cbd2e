// SPDX-License-Identifier: Apache-2.0
#include "agent/door/request_log.h"

#include "doc/text.h"

namespace railbed::agent {
namespace {

// A plugin's error may be a whole trace.
constexpr size_t kMostLoggedText = 2000;

std::string logged_text(std::string_view text) {
  if (text.size() <= kMostLoggedText) return doc::printable(text);
  return doc::printable(text.substr(0, kMostLoggedText)) + " …";
}

std::string comma_list(const std::vector<std::string>& names) {
  return logged_text(fmt::format("{}", fmt::join(names, ",")));
}

double seconds_of(const RequestStory& story, Phase phase) {
  return story.seconds[static_cast<size_t>(phase)];
}

std::string phases(const RequestStory& story) {
  std::vector<std::string> parts;
  for (Phase phase : kPhases)
    if (phase != Phase::kTotal && seconds_of(story, phase) > 0)
      parts.push_back(fmt::format("{} {:.1f}", phase_name(phase), seconds_of(story, phase) * 1000));
  return parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", "));
}

log::Level level_of(const cni::Request& request, const Error* error) {
  using cni::Command;
  if (error != nullptr) {
    // Runtimes ask every few seconds whether the node works; what is wrong is reported by readiness, too.
    if (request.command == Command::kStatus) return log::Level::kDebug;
    const int code = cni::code_of(*error);
    const bool ours = code == cni::kIo || code == cni::kKernel || code == cni::kInternal || code == cni::kStarved;
    return ours ? log::Level::kError : log::Level::kWarn;
  }
  const bool changes = request.command == Command::kAdd || request.command == Command::kDel;
  return changes && request.executed_by.empty() ? log::Level::kInfo : log::Level::kDebug;
}

void add(std::vector<log::Field>& fields, std::string_view name, std::string value) {
  if (!value.empty()) fields.push_back({name, std::move(value)});
}

std::vector<log::Field> fields_of(const cni::Request& request, const Error* error, const RequestStory& story) {
  std::vector<log::Field> fields;
  add(fields, "VERB", std::string(command_name(request.command)));
  add(fields, "TYPE", logged_text(request.type));
  add(fields, "POD", logged_text(request.pod()));
  add(fields, "CONTAINER_ID", logged_text(request.container_id));
  add(fields, "INTERFACE", logged_text(request.ifname));
  // A field may be there several times: each is found by itself.
  for (const std::string& network : story.networks) add(fields, "NETWORK", logged_text(network));
  for (const std::string& device : story.devices) add(fields, "DEVICE", logged_text(device));
  add(fields, "CODE", std::to_string(error != nullptr ? cni::code_of(*error) : 0));
  if (error != nullptr) add(fields, "ERROR", logged_text(error->story()));
  constexpr std::string_view kNames[] = {"PREPARE_MS", "WAIT_MS", "ADDRESSES_MS", "KERNEL_MS",
                                         "LEASE_MS",   "EXEC_MS", "TOTAL_MS"};
  for (Phase phase : kPhases)
    if (seconds_of(story, phase) > 0)
      add(fields, kNames[static_cast<size_t>(phase)], fmt::format("{:.1f}", seconds_of(story, phase) * 1000));
  return fields;
}

}  // namespace

RequestLine request_line(const cni::Request& request, const Reply& reply, const RequestStory& story) {
  const Error* error = reply.result.has_value() ? nullptr : &reply.result.error();
  std::string text(command_name(request.command));
  const auto say = [&](std::string_view what, const std::string& value) {
    if (!value.empty()) text += fmt::format(" {}{}", what, value);
  };
  say("", logged_text(request.pod()));
  say("container=", logged_text(request.container_id));
  say("as ", logged_text(request.type));
  say("interface=", logged_text(request.ifname));
  say("networks=", comma_list(story.networks));
  say("devices=", comma_list(story.devices));
  text += fmt::format("{} {:.1f} ms{}", error != nullptr ? " failed after" : " in",
                      seconds_of(story, Phase::kTotal) * 1000, phases(story));
  if (error != nullptr) {
    text += fmt::format(": code {}: {}", cni::code_of(*error), logged_text(error->story()));
    if (const std::string hint = cni::hint_of(*error); !hint.empty()) text += fmt::format(" ({})", logged_text(hint));
  }
  return {level_of(request, error), std::move(text), fields_of(request, error, story)};
}

}  // namespace railbed::agent
