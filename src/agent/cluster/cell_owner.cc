// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/cell_owner.h"

#include <algorithm>

#include "base/text.h"
#include "doc/members.h"
#include "doc/text.h"
#include "kube/kinds.h"

namespace railbed::agent {
namespace {

// In the order of cadvisor's GetSystemUUID, from which the kubelet has it.
constexpr const char* kUuidFiles[] = {"/sys/class/dmi/id/product_uuid", "/proc/device-tree/system-id",
                                      "/proc/device-tree/vm,uuid", "/etc/machine-id"};

// Firmware and kubelet differ in case, and device trees end texts with a zero.
std::string plain(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0 || c == 0; });
  return lower(text);
}

}  // namespace

MachineIdentity machine_identity(os::Kernel& kernel) {
  MachineIdentity out{.uuids = {}, .boot_id = kernel.boot_id()};
  for (const char* path : kUuidFiles) {
    const Result<std::string> text = kernel.files().read(path);
    if (text.has_value() && !plain(*text).empty()) out.uuids.push_back(plain(*text));
  }
  return out;
}

Result<ipam::CellOwner> cell_owner(kube::Client& client, const std::string& node, const MachineIdentity& machine,
                                   std::stop_token stop) {
  if (machine.boot_id.empty())
    return fail(Code::kBusy, "the boot id of this machine is unknown: /proc/sys/kernel/random/boot_id cannot be read");
  const kube::Answer<doc::Value> object = client.get(kube::kNodes, {"", node}, std::move(stop));
  if (!object && object.error().code == Code::kNotFound)
    return fail(Error{.code = Code::kNotFound,
                      .message = fmt::format("Node {} not found; addresses are leased in its name", node),
                      .hint = "set --node to the Node's name if it differs from the host name"});
  if (!object) return fail(static_cast<const Error&>(object.error()));
  const std::string uuid(doc::text_at(*object, "status.nodeInfo.systemUUID"));
  if (uuid.empty()) return fail(Code::kBusy, "the Node {} has no status.nodeInfo.systemUUID yet", node);
  if (std::ranges::find(machine.uuids, plain(uuid)) == machine.uuids.end())
    return fail(Error{
        .code = Code::kBusy,
        .message = fmt::format("the Node {} belongs to another machine with the system UUID {}; this one has {}", node,
                               doc::printable(uuid), machine.uuids.empty() ? "none" : machine.uuids.front()),
        .hint = "no addresses are leased until the kubelet of this machine has registered the Node"});
  return ipam::CellOwner{.holder = {.node = node, .system_uuid = uuid, .boot_id = machine.boot_id}};
}

}  // namespace railbed::agent
