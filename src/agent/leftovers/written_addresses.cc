// SPDX-License-Identifier: Apache-2.0
#include "agent/leftovers/written_addresses.h"

#include <algorithm>
#include <memory>

#include "agent/pod/meta_multus.h"
#include "agent/records/runtime_containers.h"
#include "cni/request.h"
#include "doc/json.h"
#include "doc/members.h"

namespace railbed::agent {
namespace {

// The status of the pod for which the ADD was, empty where the result names none.
Result<std::string> status_of(PodSource& pods, const std::string& args) {
  auto read = cni::read_args(args);
  if (!read.has_value()) return std::string();
  const cni::Request request{.args = *std::move(read)};
  const std::string pod = request.pod();
  if (pod.empty()) return std::string();
  const size_t slash = pod.find('/');
  return pods.published_status(pod.substr(0, slash), pod.substr(slash + 1), request.pod_uid());
}

Result<void> add_of_file(os::Disk& disk, PodSource& pods, const std::string& path, std::vector<WrittenAddress>& all) {
  Result<std::string> text = disk.read(path);
  Result<os::FileStamp> stamp = disk.stamp(path);
  for (const Code code : {Code::kNotFound, Code::kInvalid})  // removed meanwhile; no plain file, or too large
    if ((!text.has_value() && text.error().code == code) || (!stamp.has_value() && stamp.error().code == code))
      return {};
  const int64_t written_seconds = TRY(stamp).seconds;
  const std::optional<MultusAttachment> cached = read_library_cache(TRY(text));
  if (!cached) return {};
  const auto add = [&](const IpAddress& address, const std::string& interface) {
    all.push_back({.address = address,
                   .interface = interface,
                   .netns = cached->netns,
                   .file = path,
                   .written_seconds = written_seconds});
  };
  if (cached->result.has_value())
    for (const cni::Address& one : cached->result->addresses) add(one.address.address, cached->ifname);
  const std::string status = TRY(status_of(pods, cached->args));
  for (const auto& [address, interface] : addresses_of_status(status)) add(address, interface);
  return {};
}

}  // namespace

std::vector<std::pair<IpAddress, std::string>> addresses_of_status(const std::string& text) {
  std::vector<std::pair<IpAddress, std::string>> all;
  doc::Diagnostics unread;
  const auto networks = doc::parse_json(std::make_shared<doc::Source>(doc::Source{"network-status", text}), unread);
  if (!networks.has_value() || !networks->is_array()) return all;
  for (const doc::Value& network : *networks->as_array()) {
    const std::string interface = doc::text_in(network, "interface");
    const doc::Value::Array* ips = doc::list_in(network, "ips");
    if (ips == nullptr || !cni::valid_interface_name(interface)) continue;
    for (const doc::Value& ip : *ips)
      if (const auto address = IpAddress::parse(ip.is_string() ? *ip.as_string() : ""))
        all.emplace_back(*address, interface);
  }
  return all;
}

Result<std::vector<WrittenAddress>> written_addresses(os::Disk& disk, PodSource& pods) {
  std::vector<WrittenAddress> all;
  for (const char* folder : kLibraryResults) {
    Result<std::vector<std::string>> names = disk.list(folder);
    if (!names.has_value() && names.error().code == Code::kNotFound) continue;
    for (const std::string& name : TRY(names)) TRY(add_of_file(disk, pods, fmt::format("{}/{}", folder, name), all));
  }
  return all;
}

}  // namespace railbed::agent
