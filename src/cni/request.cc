// SPDX-License-Identifier: Apache-2.0
#include "cni/request.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "base/types.h"
#include "cni/wire.h"

namespace railbed::cni {

namespace {
constexpr std::pair<std::string_view, Command> kCommands[] = {
    {"ADD", Command::kAdd}, {"DEL", Command::kDel},       {"CHECK", Command::kCheck},
    {"GC", Command::kGc},   {"STATUS", Command::kStatus}, {"VERSION", Command::kVersion}};

enum : unsigned {
  kId = 1,
  kNetns = 2,
  kIfname = 4,
  kPath = 8,
};

unsigned required(Command command) {
  switch (command) {
    case Command::kAdd:
    case Command::kCheck:
      return kId | kNetns | kIfname | kPath;
    case Command::kDel:
      return kId | kIfname | kPath;
    case Command::kGc:
    case Command::kStatus:
      return kPath;
    case Command::kVersion:
      break;
  }
  return 0;
}

constexpr size_t kMostPathBytes = 4095;
constexpr size_t kMostIdBytes = 253;  // with the suffixes of records still short enough for a file name

bool alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
bool control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}
// The specification's ^[a-zA-Z0-9][a-zA-Z0-9_.\-]*$
bool word(std::string_view text) {
  return !text.empty() && alphanumeric(text.front()) &&
         std::ranges::all_of(text, [](char c) { return alphanumeric(c) || c == '_' || c == '.' || c == '-'; });
}

std::unexpected<Error> bad(std::string message, std::string hint = {}) {
  return fail_with(kInvalidEnvironment, std::move(message), std::move(hint));
}
// For messages: shortened, and only printable characters.
std::string shown(std::string_view text) {
  std::string out;
  for (char c : text.substr(0, 60)) out += control(c) || static_cast<unsigned char>(c) > 0x7E ? '?' : c;
  return text.size() > 60 ? out + "…" : out;
}

std::string_view value_of(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment)
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return std::string_view(entry).substr(name.size() + 1);
  return {};
}

// Values that Kubernetes' names can have; they become parts of records, paths and messages.
constexpr std::string_view kNames[] = {"K8S_POD_NAMESPACE", "K8S_POD_NAME", "K8S_POD_UID",
                                       "K8S_POD_INFRA_CONTAINER_ID"};

Result<void> check_values(const Request& request) {
  if (!request.container_id.empty() && !valid_container_id(request.container_id))
    return bad(fmt::format("CNI_CONTAINERID=\"{}\" is not a container id", shown(request.container_id)),
               "a letter or digit, then letters, digits, '_', '.' and '-'; 253 bytes at most");
  if (!request.ifname.empty() && !valid_interface_name(request.ifname))
    return bad(fmt::format("CNI_IFNAME=\"{}\" is not an interface name", shown(request.ifname)),
               "1 to 15 bytes, none of '/', ':', '%' or white space, and not \".\" or \"..\"");
  if (!request.netns.empty() && (request.netns.front() != '/' || request.netns.size() > kMostPathBytes ||
                                 std::ranges::any_of(request.netns, control)))
    return bad(fmt::format("CNI_NETNS=\"{}\" is not an absolute path", shown(request.netns)));
  return {};
}
}  // namespace

Result<std::map<std::string, std::string>> read_args(std::string_view text) {
  std::map<std::string, std::string> args;
  for (const std::string& pair : parts_of(text, ';', "")) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0 || std::ranges::any_of(pair, control))
      return bad(fmt::format("CNI_ARGS: \"{}\" is not KEY=value", shown(pair)),
                 "CNI_ARGS are pairs KEY=value with ';' between them");
    std::string key = pair.substr(0, equals);
    std::string value = pair.substr(equals + 1);
    if (std::ranges::find(kNames, key) != std::end(kNames) && !value.empty() &&
        (!word(value) || value.size() > kMostIdBytes))
      return bad(fmt::format("CNI_ARGS: {}=\"{}\" is not a Kubernetes name", key, shown(value)));
    args[std::move(key)] = std::move(value);
  }
  return args;
}

std::string_view command_name(Command command) {
  for (const auto& [name, value] : kCommands)
    if (value == command) return name;
  return "VERSION";
}

bool valid_container_id(std::string_view id) {
  return word(id) && id.size() <= kMostIdBytes;
}
bool valid_interface_name(std::string_view name) {
  return IfName::parse(name).has_value() && std::ranges::none_of(name, control);
}
bool valid_network_name(std::string_view name) {
  return word(name) && name.size() <= kMostIdBytes;
}

std::string Request::pod() const {
  const auto name_space = args.find("K8S_POD_NAMESPACE");
  const auto name = args.find("K8S_POD_NAME");
  if (name_space == args.end() || name == args.end() || name_space->second.empty() || name->second.empty()) return {};
  return name_space->second + "/" + name->second;
}

std::string Request::pod_uid() const {
  const auto uid = args.find("K8S_POD_UID");
  return uid == args.end() ? std::string() : uid->second;
}

Result<Request> read_request(const std::string& type, const std::vector<std::string>& environment, std::string config) {
  const std::string_view command = value_of(environment, "CNI_COMMAND");
  const auto* known = std::ranges::find(kCommands, command, &std::pair<std::string_view, Command>::first);
  if (!command.empty() && known == std::end(kCommands))
    return bad(fmt::format("unknown CNI_COMMAND: {}", shown(command)), "ADD, DEL, CHECK, GC, STATUS or VERSION");
  Request request{.type = type, .config = std::move(config)};
  if (!command.empty()) request.command = known->second;

  const unsigned needed = command.empty() ? 0 : required(request.command);
  std::vector<std::string_view> missing;
  if (command.empty()) missing.push_back("CNI_COMMAND");
  const auto take = [&](std::string_view name, unsigned bit) {
    const std::string_view value = value_of(environment, name);
    if (value.empty() && (needed & bit) != 0) missing.push_back(name);
    return std::string(value);
  };
  request.container_id = take("CNI_CONTAINERID", kId);
  request.netns = take("CNI_NETNS", kNetns);
  request.ifname = take("CNI_IFNAME", kIfname);
  request.path = parts_of(take("CNI_PATH", kPath), ':', "");
  if (!missing.empty()) return bad(fmt::format("required env variables [{}] missing", fmt::join(missing, ",")));
  if (type.empty() || type.find('/') != std::string::npos || std::ranges::any_of(type, control))
    return bad(fmt::format("\"{}\" is not a plugin name", shown(type)));
  TRY(check_values(request));
  request.netns_proof = value_of(environment, kNetnsProof);
  request.executed_by = value_of(environment, "CNI_RAILBED_AGENT");
  request.args_text = value_of(environment, "CNI_ARGS");
  request.args = TRY(read_args(request.args_text));
  return request;
}

}  // namespace railbed::cni
