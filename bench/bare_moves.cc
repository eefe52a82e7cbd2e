// SPDX-License-Identifier: Apache-2.0
#include "bare_moves.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

namespace railbed::bench {
namespace {

struct Message {
  nlmsghdr header{};
  ifinfomsg link{};
  char attributes[128]{};

  explicit Message(int index) {
    header.nlmsg_type = RTM_NEWLINK;
    header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    header.nlmsg_len = NLMSG_LENGTH(sizeof link);
    link.ifi_family = AF_UNSPEC;
    link.ifi_index = index;
  }
  void put(unsigned short type, const void* data, size_t size) {
    char* place = reinterpret_cast<char*>(&header) + header.nlmsg_len;
    rtattr attribute{.rta_len = static_cast<unsigned short>(RTA_LENGTH(size)), .rta_type = type};
    std::memcpy(place, &attribute, sizeof attribute);
    std::memcpy(place + sizeof attribute, data, size);
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

}  // namespace

int bare_socket(int netns_fd) {
  int fd = -1;
  // A socket belongs to the namespace of the thread that opens it.
  std::thread([&] {
    if (netns_fd >= 0 && setns(netns_fd, CLONE_NEWNET) != 0) return;
    fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  }).join();
  if (fd < 0) {
    std::perror("socket");
    std::exit(1);
  }
  return fd;
}

void bare_attach(int host_socket, int pod_socket, int pod_netns, const std::vector<BareMove>& moves) {
  for (const BareMove& one : moves) {
    Message move(one.index);
    move.put(IFLA_NET_NS_FD, &pod_netns, sizeof pod_netns);
    move.put(IFLA_IFNAME, one.pod);
    ask(host_socket, move, "move");
    Message up(0);  // by its name, whatever index it got there
    up.put(IFLA_IFNAME, one.pod);
    up.link.ifi_flags = up.link.ifi_change = IFF_UP;
    ask(pod_socket, up, "up");
  }
}

void bare_detach(int pod_socket, int host_netns, const std::vector<BareMove>& moves) {
  for (const BareMove& one : moves) {
    Message move(one.index);  // an index stays over a move unless it is taken in the target
    move.put(IFLA_NET_NS_FD, &host_netns, sizeof host_netns);
    move.put(IFLA_IFNAME, one.host);
    ask(pod_socket, move, "move back");
  }
}

}  // namespace railbed::bench
