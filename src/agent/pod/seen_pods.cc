// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/seen_pods.h"

#include <algorithm>

#include "doc/json.h"
#include "doc/members.h"
#include "doc/text.h"

namespace railbed::agent {
namespace {

using doc::Value;

constexpr size_t kMostOfNetworks_bytes = 100;  // of an annotation in a message: it may be pages of JSON

bool has_networks(const FolderReading& now, const std::string& pod) {
  auto found = now.pods.find(pod);
  return found != now.pods.end() && found->second.networks.has_value();
}

// Why the file cannot say anything about the pods that were in it.
std::string damage_of(const FolderReading& now, const std::string& file) {
  if (!now.unread.empty()) return now.unread;
  auto found = now.damaged.find(file);
  return found == now.damaged.end() ? "" : fmt::format("{}: {}", file, found->second);
}

}  // namespace

std::string blank_reason(const std::string& text) {
  if (text.find('\0') != std::string::npos) return "it contains NUL bytes";
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return "it is empty";
  return "";
}

SeenPods see(SeenPods before, const FolderReading& now, int64_t now_s) {
  for (const auto& [key, pod] : now.pods) {
    if (!pod.networks.has_value()) continue;
    if (pod.networks->empty())
      before.erase(key);
    else
      before[key] = {.file = pod.file, .networks = *pod.networks};
  }
  for (auto one = before.begin(); one != before.end();) {
    auto& [key, pod] = *one;
    const bool damaged = !damage_of(now, pod.file).empty();
    if (has_networks(now, key) || damaged)
      pod.missing_since_s = 0;
    else if (pod.missing_since_s == 0 || pod.missing_since_s > now_s)
      pod.missing_since_s = now_s;
    const bool removed = pod.missing_since_s != 0 && now_s - pod.missing_since_s >= kRemovalSettles_s;
    one = removed ? before.erase(one) : std::next(one);
  }
  return before;
}

std::optional<std::string> lost_networks(const SeenPods& seen, const FolderReading& now, const std::string& pod,
                                         int64_t now_s) {
  if (has_networks(now, pod)) return std::nullopt;
  auto found = seen.find(pod);
  if (found == seen.end()) return std::nullopt;
  const SeenPod& known = found->second;
  const std::string networks = doc::printable(std::string_view(known.networks).substr(0, kMostOfNetworks_bytes));
  if (const std::string damage = damage_of(now, known.file); !damage.empty())
    return fmt::format("pod {} had networks ({}) in {}, which cannot be read now: {}", pod, networks, known.file,
                       damage);
  const int64_t gone_s = known.missing_since_s == 0 ? 0 : std::max<int64_t>(0, now_s - known.missing_since_s);
  if (gone_s >= kRemovalSettles_s) return std::nullopt;
  return fmt::format("pod {} had networks ({}) in {}, which no longer names any; the networks count as removed in {} s",
                     pod, networks, known.file, kRemovalSettles_s - gone_s);
}

std::string seen_pods_text(const SeenPods& seen) {
  Value all = Value::object();
  all.set("version", int64_t{1});
  Value& pods = all.set("pods", Value::array());
  for (const auto& [key, pod] : seen) {
    Value one = Value::object();
    one.set("pod", key);
    one.set("file", pod.file);
    one.set("networks", pod.networks);
    if (pod.missing_since_s != 0) one.set("missingSince", pod.missing_since_s);
    pods.push(std::move(one));
  }
  return doc::to_json(all) + "\n";
}

Result<SeenPods> read_seen_pods(const std::string& text) {
  doc::Diagnostics found;
  const auto file = doc::parse_json(std::make_shared<doc::Source>(doc::Source{"pods of the manifests", text}), found);
  const Value* pods = file.has_value() && file->is_object() ? file->find("pods") : nullptr;
  if (pods == nullptr || !pods->is_array()) return fail(Code::kInvalid, "it has no list of pods");
  SeenPods seen;
  for (const Value& one : *pods->as_array()) {
    const std::string key = one.is_object() ? doc::text_in(one, "pod") : "";
    SeenPod pod{.file = key.empty() ? "" : doc::text_in(one, "file")};
    if (pod.file.empty()) return fail(Code::kInvalid, "one of its pods has no name or no file");
    pod.networks = doc::text_in(one, "networks");
    if (const Value* since = one.find("missingSince"); since != nullptr && since->as_int() != nullptr)
      pod.missing_since_s = *since->as_int();
    seen[key] = std::move(pod);
  }
  return seen;
}

}  // namespace railbed::agent
