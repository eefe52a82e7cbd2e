// SPDX-License-Identifier: Apache-2.0
#include "preflight/read_node.h"

#include <sstream>

#include "base/format.h"
#include "doc/fields.h"
#include "doc/members.h"
#include "doc/yaml.h"

namespace railbed::preflight {

namespace {

constexpr std::string_view kKubeletConfig = "/var/lib/kubelet/config.yaml";

bool has_option(std::string_view options, std::string_view wanted) {
  while (!options.empty()) {
    const size_t comma = options.find(',');
    if (options.substr(0, comma) == wanted) return true;
    if (comma == std::string_view::npos) return false;
    options.remove_prefix(comma + 1);
  }
  return false;
}

bool is_below(std::string_view path, std::string_view folder) {
  if (folder == "/") return true;
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// The mounts in which the node's folders lie, as a text of the kernel, and what comes before the node's paths there.
struct Mounts {
  std::string info;
  std::string root;
};

// A pod mounts the node's folders read-only, so its own mounts do not say what the node may write: those of process 1
// do, where the pod has them.
Mounts mounts_at(const os::FileTree& files, const std::string& root) {
  if (!root.empty())
    if (Result<std::string> theirs = files.read(root + "/proc/1/mountinfo")) return {std::move(*theirs), ""};
  return {files.read("/proc/self/mountinfo").value_or(""), root};
}

Folder folder_at(const os::FileTree& files, const NodePlace& place, const std::string& path, const Mounts& mounts) {
  const Result<std::string> real = files.real_path(place.root + path);
  if (!real || !files.list(*real)) return Folder::kMissing;
  std::string_view on_node = *real;
  if (is_below(on_node, place.root)) on_node.remove_prefix(place.root.size());
  return is_read_only(mounts.info, fmt::format("{}{}", mounts.root, on_node)) ? Folder::kReadOnly : Folder::kWritable;
}

std::vector<std::string> pfs_in(const os::FileTree& files) {
  const std::string devices = "/sys/bus/pci/devices";
  std::vector<std::string> out;
  for (const std::string& address : files.list(devices).value_or(std::vector<std::string>())) {
    const Result<std::string> total = os::read_line(files, fmt::format("{}/{}/sriov_totalvfs", devices, address));
    if (total && !total->empty() && *total != "0") out.push_back(address);
  }
  return out;
}

std::optional<std::string> topology_policy(const os::FileTree& files, const std::string& path) {
  const Result<std::string> text = files.read(path);
  if (!text) return std::nullopt;
  doc::Diagnostics problems;
  const std::vector<doc::Value> all = doc::parse_yaml(std::make_shared<doc::Source>(path, *text), problems);
  return all.empty() ? std::nullopt : std::optional(doc::text_in(all.front(), "topologyManagerPolicy"));
}

}  // namespace

bool is_read_only(std::string_view mountinfo, std::string_view path) {
  // "36 35 98:0 /root /mount/point rw,noatime master:1 - ext3 /dev/root rw,errors=continue": a mount over another one
  // of the same point is the later line.
  size_t longest = 0;
  bool read_only = false;
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string skipped, point, options, word, file_system, device, of_file_system;
    words >> skipped >> skipped >> skipped >> skipped >> point >> options;
    while (words >> word && word != "-") {
    }
    words >> file_system >> device >> of_file_system;
    if (point.empty() || point.size() < longest || !is_below(path, point)) continue;
    longest = point.size();
    read_only = has_option(options, "ro") || has_option(of_file_system, "ro");
  }
  return read_only;
}

NodeLook look_at_node(const os::FileTree& files, NodePlace place) {
  while (place.root.ends_with('/')) place.root.pop_back();
  NodeLook out{.name = place.name, .conf_dir = place.conf_dir, .bin_dir = place.bin_dir};
  const Mounts mounts = mounts_at(files, place.root);
  const std::string conf = place.root + place.conf_dir;
  out.conf = folder_at(files, place, place.conf_dir, mounts);
  out.bin = folder_at(files, place, place.bin_dir, mounts);
  for (const std::string& name : files.list(conf).value_or(std::vector<std::string>()))
    out.files.push_back({name, files.read(conf + "/" + name).value_or("")});
  out.pfs = pfs_in(files);
  out.topology_policy = topology_policy(files, fmt::format("{}{}", place.root, kKubeletConfig));
  return out;
}

}  // namespace railbed::preflight
