// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/meta_multus.h"

#include <algorithm>

#include "cni/request.h"
#include "doc/json.h"
#include "doc/members.h"

namespace railbed::agent {
namespace {

using doc::Value;

std::optional<Value> parsed(const std::string& text) {
  doc::Diagnostics unread;
  return doc::parse_json(std::make_shared<doc::Source>(doc::Source{"cache", text}), unread);
}

int digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

// Base64 with padding (RFC 4648), as Go writes bytes into JSON.
std::optional<std::string> from_base64(const std::string& text) {
  std::string bytes;
  uint32_t held = 0;
  int bits = 0;
  size_t end = text.find_last_not_of('=') + 1;  // npos + 1: nothing but padding
  if (text.size() % 4 != 0 || text.size() - end > 2) return std::nullopt;
  for (size_t i = 0; i < end; ++i) {
    int value = digit(text[i]);
    if (value < 0) return std::nullopt;
    held = (held << 6 | static_cast<uint32_t>(value)) & 0xffffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<char>(held >> bits & 0xff));
  }
  return bytes;
}

// Converts [["K", "V"], …] to the format of CNI_ARGS.
std::string arguments_of(const Value* pairs) {
  std::string text;
  if (pairs == nullptr || !pairs->is_array()) return text;
  for (const Value& pair : *pairs->as_array()) {
    const Value::Array* both = pair.as_array();
    if (both == nullptr || both->size() != 2 || !(*both)[0].is_string() || !(*both)[1].is_string()) continue;
    text += (text.empty() ? "" : ";") + *(*both)[0].as_string() + "=" + *(*both)[1].as_string();
  }
  return text;
}

std::optional<cni::ListConfig> list_of(const Value& object, std::string_view key) {
  std::optional<std::string> json = from_base64(text_in(object, key));
  if (!json) return std::nullopt;
  auto list = cni::read_list_config(*json);
  if (!list.has_value()) return std::nullopt;
  return *std::move(list);
}

}  // namespace

std::optional<MultusAttachment> read_library_cache(const std::string& text) {
  std::optional<Value> cache = parsed(text);
  if (!cache || !cache->is_object() || text_in(*cache, "kind") != "cniCacheV1") return std::nullopt;
  MultusAttachment attachment{.container_id = text_in(*cache, "containerId"),
                              .ifname = text_in(*cache, "ifName"),
                              .netns = text_in(*cache, "netns"),
                              .args = arguments_of(cache->find("cniArgs"))};
  auto list = list_of(*cache, "config");
  if (!cni::valid_interface_name(attachment.ifname) || !list) return std::nullopt;
  attachment.list = *std::move(list);
  const Value* capabilities = cache->find("capabilityArgs");
  if (capabilities != nullptr && capabilities->is_object())
    for (const Value::Member& one : *capabilities->as_object()) attachment.capability_args[one.key] = one.value;
  if (const Value* result = cache->find("result"); result != nullptr && result->is_object())
    if (auto read = cni::read_result(*result, attachment.list.version); read.has_value())
      attachment.result = *std::move(read);
  return attachment;
}

std::vector<MultusAttachment> read_multus_delegates(const std::string& text, const std::string& ifname) {
  std::vector<MultusAttachment> attachments;
  std::optional<Value> delegates = parsed(text);
  if (!delegates || !delegates->is_array()) return attachments;
  for (size_t i = 0; i < delegates->as_array()->size(); ++i) {
    const Value& one = (*delegates->as_array())[i];
    auto list = list_of(one, "Bytes");
    if (!list) continue;
    MultusAttachment attachment{.container_id = "", .ifname = text_in(one, "ifnameRequest")};
    if (attachment.ifname.empty()) attachment.ifname = i == 0 ? ifname : fmt::format("net{}", i);
    if (!cni::valid_interface_name(attachment.ifname)) continue;
    attachment.list = *std::move(list);
    std::string device = text_in(one, "deviceID");
    if (!device.empty()) attachment.capability_args["deviceID"] = device;
    attachments.push_back(std::move(attachment));
  }
  return attachments;
}

Result<MultusPod> multus_pod(os::Disk& disk, const std::string& cache_dir, const std::string& container_id,
                             const std::string& ifname) {
  MultusPod pod;
  if (!cni::valid_container_id(container_id)) return pod;
  std::string delegates = cache_dir + "/" + container_id;
  if (Result<std::string> text = disk.read(delegates); text.has_value()) {
    pod.attachments = read_multus_delegates(*text, ifname);
    pod.files.push_back(delegates);
  } else if (text.error().code != Code::kNotFound && text.error().code != Code::kInvalid) {
    return fail(std::move(text.error()));
  }
  std::string results = cache_dir + "/results";
  Result<std::vector<std::string>> names = disk.list(results);
  if (!names.has_value()) {
    if (names.error().code == Code::kNotFound) return pod;
    return fail(std::move(names.error()));
  }
  for (const std::string& name : *names) {
    if (name.find("-" + container_id + "-") == std::string::npos) continue;
    Result<std::string> text = disk.read(results + "/" + name);
    auto cached = text.has_value() ? read_library_cache(*text) : std::nullopt;
    if (!cached || cached->container_id != container_id) continue;
    pod.files.push_back(results + "/" + name);
    auto same = std::ranges::find(pod.attachments, cached->ifname, &MultusAttachment::ifname);
    if (same != pod.attachments.end())
      *same = *std::move(cached);
    else
      pod.attachments.push_back(*std::move(cached));
  }
  return pod;
}

}  // namespace railbed::agent
