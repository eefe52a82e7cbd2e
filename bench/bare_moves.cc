// SPDX-License-Identifier: Apache-2.0
#include "bare_moves.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

namespace railbed::bench {
namespace {

constexpr uint32_t kGroup = 7001;  // group of the virtual links, so that one message deletes them all

struct Message {
  nlmsghdr header{};
  union {
    ifinfomsg link;
    ifaddrmsg address;
  };
  char attributes[256]{};

  explicit Message(int index, uint16_t type = RTM_NEWLINK) : link{} {
    header.nlmsg_type = type;
    header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    header.nlmsg_len = NLMSG_LENGTH(sizeof link);
    link.ifi_family = AF_UNSPEC;
    link.ifi_index = index;
  }
  // Opens a nested attribute, which ends with close().
  size_t open(unsigned short type) {
    size_t place = header.nlmsg_len;
    put(type, nullptr, 0);
    return place;
  }
  void close(size_t place) {
    auto* attribute = reinterpret_cast<rtattr*>(reinterpret_cast<char*>(&header) + place);
    attribute->rta_len = static_cast<unsigned short>(header.nlmsg_len - place);
  }
  void put(unsigned short type, const void* data, size_t size) {
    char* place = reinterpret_cast<char*>(&header) + header.nlmsg_len;
    rtattr attribute{.rta_len = static_cast<unsigned short>(RTA_LENGTH(size)), .rta_type = type};
    std::memcpy(place, &attribute, sizeof attribute);
    if (size > 0) std::memcpy(place + sizeof attribute, data, size);
    header.nlmsg_len += static_cast<uint32_t>(RTA_SPACE(size));
  }
  void put(unsigned short type, const std::string& text) { put(type, text.c_str(), text.size() + 1); }
};

void ask(int socket, const Message& message, const char* what) {
  char answer[4096];
  int error = EIO;
  if (send(socket, &message, message.header.nlmsg_len, 0) >= 0 && recv(socket, answer, sizeof answer, 0) >= 0)
    error = -reinterpret_cast<nlmsgerr*>(NLMSG_DATA(reinterpret_cast<nlmsghdr*>(answer)))->error;
  if (error == 0) return;
  std::fprintf(stderr, "%s: %s\n", what, std::strerror(error));
  std::exit(1);
}

void give_address(int pod_socket, const BareMove& one) {
  if (one.address == 0) return;
  Message message(0, RTM_NEWADDR);
  message.header.nlmsg_len = NLMSG_LENGTH(sizeof message.address);
  message.address = {};
  message.address.ifa_family = AF_INET;
  message.address.ifa_prefixlen = 24;
  message.address.ifa_index = static_cast<uint32_t>(one.index);  // a move keeps the index, see bare_detach
  message.put(IFA_LOCAL, &one.address, sizeof one.address);
  message.put(IFA_ADDRESS, &one.address, sizeof one.address);
  ask(pod_socket, message, "address");
}

int route_socket(int netns_fd, uint32_t groups) {
  int fd = -1;
  // A socket belongs to the namespace of the thread that opens it.
  std::thread([&] {
    if (netns_fd >= 0 && setns(netns_fd, CLONE_NEWNET) != 0) return;
    fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  }).join();
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = groups;
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    std::perror("socket");
    std::exit(1);
  }
  return fd;
}

}  // namespace

int bare_socket(int netns_fd) {
  return route_socket(netns_fd, 0);
}

int bare_listener(int netns_fd) {
  return route_socket(netns_fd, RTMGRP_LINK);
}

void bare_attach(int host_socket, int pod_socket, int pod_netns, const std::vector<BareMove>& moves) {
  for (const BareMove& one : moves) {
    Message move(one.index);
    move.put(IFLA_NET_NS_FD, &pod_netns, sizeof pod_netns);
    move.put(IFLA_IFNAME, one.pod);
    ask(host_socket, move, "move");
    Message up(0);  // selected by name, because its index there may differ
    up.put(IFLA_IFNAME, one.pod);
    up.link.ifi_flags = up.link.ifi_change = IFF_UP;
    if (one.pod_mtu != 0) up.put(IFLA_MTU, &one.pod_mtu, sizeof one.pod_mtu);
    ask(pod_socket, up, "up");
    give_address(pod_socket, one);
  }
}

void bare_detach(int pod_socket, int host_netns, const std::vector<BareMove>& moves) {
  for (const BareMove& one : moves) {
    Message move(one.index);  // a move keeps the index unless it is taken in the target
    move.put(IFLA_NET_NS_FD, &host_netns, sizeof host_netns);
    move.put(IFLA_IFNAME, one.host);
    if (one.host_mtu != 0) move.put(IFLA_MTU, &one.host_mtu, sizeof one.host_mtu);
    ask(pod_socket, move, "move back");
  }
}

void bare_make(int host_socket, int pod_socket, int pod_netns, int master, const std::vector<BareMove>& links) {
  for (const BareMove& one : links) {
    Message message(one.index);
    message.header.nlmsg_flags |= NLM_F_CREATE | NLM_F_EXCL;
    message.link.ifi_flags = message.link.ifi_change = IFF_UP;
    message.put(IFLA_IFNAME, one.pod);
    message.put(IFLA_NET_NS_FD, &pod_netns, sizeof pod_netns);
    message.put(IFLA_LINK, &master, sizeof master);
    message.put(IFLA_GROUP, &kGroup, sizeof kGroup);
    size_t info = message.open(IFLA_LINKINFO);
    message.put(IFLA_INFO_KIND, std::string("macvlan"));
    size_t data = message.open(IFLA_INFO_DATA);
    uint32_t mode = MACVLAN_MODE_BRIDGE;
    message.put(IFLA_MACVLAN_MODE, &mode, sizeof mode);
    message.close(data);
    message.close(info);
    ask(host_socket, message, "make");
    give_address(pod_socket, one);
  }
}

void bare_delete(int pod_socket) {
  Message message(0, RTM_DELLINK);
  message.put(IFLA_GROUP, &kGroup, sizeof kGroup);
  ask(pod_socket, message, "delete");
}

std::thread bare_delete_until_gone(int pod_socket, int listener, int count) {
  alignas(nlmsghdr) char announced[16384];
  while (recv(listener, announced, sizeof announced, MSG_DONTWAIT) >= 0) {
  }
  std::thread sender([pod_socket] { bare_delete(pod_socket); });
  while (count > 0) {
    const ssize_t size = recv(listener, announced, sizeof announced, 0);
    if (size >= static_cast<ssize_t>(sizeof(nlmsghdr)) &&
        reinterpret_cast<nlmsghdr*>(announced)->nlmsg_type == RTM_DELLINK)
      --count;
  }
  return sender;
}

}  // namespace railbed::bench
