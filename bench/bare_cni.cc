// SPDX-License-Identifier: Apache-2.0
// The minimum for attaching and detaching a pod's networks, on command:  bare_cni move|macvlan NETNS NAME...
//
// `move` takes the host's interfaces NAME… into the namespace, each with a smaller MTU, a sysctl and an address (what
// host-device, tuning and an IPAM plugin do); `macvlan` makes 8 on the one NAME, with an address each. Reads lines
// "add", "del" and, of macvlans, "gone" (which ends when they are no longer visible, before the kernel has freed
// them) from standard input and answers each with the milliseconds it took.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <unistd.h>

#include "bare_moves.h"

namespace railbed::bench {
namespace {

constexpr int kLinks = 8;

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::exit(1);
}

BareMove link_number(int i, int index, std::string host) {
  BareMove one{.index = index, .host = std::move(host), .pod = "net" + std::to_string(i + 1)};
  one.address = htonl((10u << 24) | (90u << 16) | (static_cast<uint32_t>(i) << 8) | 5u);
  return one;
}

void set_sysctl(const std::string& interface) {
  std::ofstream file("/proc/sys/net/ipv4/conf/" + interface + "/arp_filter");
  if (!(file << "1" << std::flush)) die("sysctl");
}

int run(const std::string& kind, const char* netns, const std::vector<std::string>& names) {
  int pod = open(netns, O_RDONLY | O_CLOEXEC);
  int host = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  if (pod < 0 || host < 0) die(netns);
  std::vector<BareMove> links;
  auto master = static_cast<int>(if_nametoindex(names[0].c_str()));
  for (int i = 0; kind == "macvlan" && i < kLinks; ++i) links.push_back(link_number(i, 5000 + i, ""));
  for (size_t i = 0; kind == "move" && i < names.size(); ++i) {
    links.push_back(link_number(static_cast<int>(i), static_cast<int>(if_nametoindex(names[i].c_str())), names[i]));
    if (links.back().index == 0) die(names[i].c_str());
    links.back().pod_mtu = 1400;
    links.back().host_mtu = 1500;
  }
  int host_socket = bare_socket(-1), pod_socket = bare_socket(pod), listener = bare_listener(pod);
  std::thread freeing;
  if (setns(pod, CLONE_NEWNET) != 0) die("setns");  // for the sysctls; open sockets keep their namespace
  for (std::string line; std::getline(std::cin, line);) {
    if (freeing.joinable()) freeing.join();
    auto start = std::chrono::steady_clock::now();
    if (line == "add" && kind == "move") {
      bare_attach(host_socket, pod_socket, pod, links);
      for (const BareMove& one : links) set_sysctl(one.pod);
    } else if (line == "add") {
      bare_make(host_socket, pod_socket, pod, master, links);
    } else if (kind == "move") {
      bare_detach(pod_socket, host, links);
    } else if (line == "gone") {
      freeing = bare_delete_until_gone(pod_socket, listener, kLinks);
    } else {
      bare_delete(pod_socket);
    }
    std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    std::cout << took.count() << std::endl;
  }
  if (freeing.joinable()) freeing.join();
  return 0;
}

}  // namespace
}  // namespace railbed::bench

int main(int argc, char** argv) {
  if (argc < 4 || (std::strcmp(argv[1], "move") != 0 && std::strcmp(argv[1], "macvlan") != 0)) {
    std::fprintf(stderr, "usage: bare_cni move|macvlan NETNS NAME...\n");
    return 2;
  }
  return railbed::bench::run(argv[1], argv[2], {argv + 3, argv + argc});
}
