// SPDX-License-Identifier: Apache-2.0
// The minimal netlink sequence that puts interfaces into a namespace and takes them back: one message to move
// and rename, one to bring up. Virtual ones are made in the namespace, up, by one message each, and deleted
// as a group by one. No list, no look, no record; what attaching is measured against.
#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace railbed::bench {

struct BareMove {
  int index = 0;     // in the host's namespace, before the move
  std::string host;  // name in the host's namespace
  std::string pod;   // name in the pod
  // Zero: unchanged.
  uint32_t pod_mtu = 0;
  uint32_t host_mtu = 0;
  uint32_t address = 0;  // IPv4, in network order, with a prefix of 24
};

// A route socket inside the namespace of `netns_fd`; -1 for the caller's.
int bare_socket(int netns_fd);
// Both end the program with a message when the kernel refuses a request.
void bare_attach(int host_socket, int pod_socket, int pod_netns, const std::vector<BareMove>& moves);
// `indexes` are the interfaces' indexes inside the pod, in the order of `moves`.
void bare_detach(int pod_socket, int host_netns, const std::vector<BareMove>& moves);

// Makes macvlans (mode bridge) on the host's interface `master`, with the given indexes and names in the pod.
void bare_make(int host_socket, int pod_socket, int pod_netns, int master, const std::vector<BareMove>& links);
void bare_delete(int pod_socket);
// A route socket like bare_socket() that hears what becomes of interfaces.
int bare_listener(int netns_fd);
// Ends as soon as the kernel has announced that `count` of the interfaces are gone. The caller joins the thread, which
// waits for the kernel's answer, before it asks again.
std::thread bare_delete_until_gone(int pod_socket, int listener, int count);

}  // namespace railbed::bench
