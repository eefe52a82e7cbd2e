// SPDX-License-Identifier: Apache-2.0
#include "os/netlink/real_rdma.h"

#include <linux/netlink.h>

#include "os/netlink/netlink_socket.h"
#include "os/netlink/rdma_codec.h"
#include "os/ports/netns.h"
#include "os/real/inside_netns.h"

namespace railbed::os {
namespace {

class RealRdma : public RdmaPort {
 public:
  RealRdma(NetlinkSocket socket, const Netns* inside) : socket_(std::move(socket)), inside_(inside) {}

  Result<std::vector<RdmaLink>> list() override {
    std::vector<RdmaLink> links = TRY(devices());
    for (RdmaLink& link : links) {
      auto request = encode_list_rdma_ports(link.index);
      auto messages = ask(request, [&] { return "RDMA_NLDEV_CMD_PORT_GET " + link.name; });
      if (!messages && messages.error().code == Code::kNotFound) continue;  // the device was removed meanwhile
      if (!messages && messages.error().code == Code::kInvalid) continue;
      for (const NetlinkMessage& message : TRY(std::move(messages)))
        if (auto port = decode_rdma_port(message)) link.ports.push_back(std::move(*port));
    }
    return links;
  }

  Result<RdmaNetnsMode> netns_mode() override {
    auto request = encode_rdma_netns_mode();
    for (const NetlinkMessage& message : TRY(ask(request, [] { return "RDMA_NLDEV_CMD_SYS_GET"; })))
      if (auto mode = decode_rdma_netns_mode(message)) return *mode;
    return fail(Code::kUnsupported, "RDMA_NLDEV_CMD_SYS_GET: this kernel does not report the namespace mode");
  }

  Result<void> create_soft(const std::string& type, const std::string& name, const IfName& netdev) override {
    auto request = encode_create_soft_rdma(type, name, netdev);
    TRY(ask(request, [&] { return fmt::format("RDMA_NLDEV_CMD_NEWLINK {} type {} netdev {}", name, type, netdev); }));
    return {};
  }

  Result<void> remove_soft(const std::string& name) override {
    auto request = encode_remove_soft_rdma(TRY(index_of("RDMA_NLDEV_CMD_DELLINK", name)));
    TRY(ask(request, [&] { return "RDMA_NLDEV_CMD_DELLINK " + name; }));
    return {};
  }

  // The kernel (ib_device_set_netns_put, seen with 7.2) compares the device's namespace with that of the calling
  // thread, not of the socket, and returns ENODEV where they differ.
  Result<void> move(const std::string& name, const Netns& netns) override {
    if (inside_ == nullptr) return move_here(name, netns);
    Result<void> moved;
    TRY(run_inside(*inside_, [&] { moved = move_here(name, netns); }));
    return moved;
  }

 private:
  Result<void> move_here(const std::string& name, const Netns& netns) {
    auto request = encode_move_rdma(TRY(index_of("RDMA_NLDEV_CMD_SET", name)), netns.fd());
    return forget(ask(request, [&] { return fmt::format("RDMA_NLDEV_CMD_SET {} netns {}", name, netns.path()); }))
        .hint(
            "it works in exclusive mode only (rdma system set netns exclusive), and only for drivers that can cut off "
            "their users; soft-RoCE cannot");
  }
  static Result<void> forget(Result<std::vector<NetlinkMessage>> messages) {
    if (!messages) return fail(std::move(messages.error()));
    return {};
  }

  template <typename What>
  Result<std::vector<NetlinkMessage>> ask(NetlinkRequest& request, const What& what) {
    auto messages = socket_.ask(request);
    if (!messages) return fail(netlink_error(messages.error(), what()));
    return std::move(*messages);
  }

  Result<std::vector<RdmaLink>> devices() {
    auto request = encode_list_rdma_devices();
    std::vector<RdmaLink> links;
    for (const NetlinkMessage& message : TRY(ask(request, [] { return "RDMA_NLDEV_CMD_GET"; })))
      if (auto link = decode_rdma_device(message)) links.push_back(std::move(*link));
    return links;
  }

  Result<uint32_t> index_of(const std::string& command, const std::string& name) {
    for (const RdmaLink& link : TRY(devices()))
      if (link.name == name) return link.index;
    return fail(Code::kNotFound, "{} {}: there is no such RDMA device", command, name);
  }

  NetlinkSocket socket_;
  const Netns* inside_;
};

}  // namespace

Result<std::unique_ptr<RdmaPort>> real_rdma(const Netns* inside) {
  auto socket = NetlinkSocket::open(NETLINK_RDMA, inside);
  if (!socket && socket.error().code == Code::kUnsupported)
    socket.error().hint = "this kernel has no RDMA, or its modules are not loaded (modprobe ib_uverbs)";
  return std::make_unique<RealRdma>(TRY(std::move(socket)), inside);
}

}  // namespace railbed::os
