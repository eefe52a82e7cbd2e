// SPDX-License-Identifier: Apache-2.0
// The barest netlink sequence that puts interfaces into a namespace and takes them back: one message to move
// and rename, one to bring up. No list, no look, no record; what attaching is measured against.
#pragma once

#include <string>
#include <vector>

namespace railbed::bench {

struct BareMove {
  int index = 0;     // in the host's namespace
  std::string host;  // name there
  std::string pod;   // name in the pod
};

// A route socket inside the namespace of `netns_fd`; -1 for the caller's.
int bare_socket(int netns_fd);
// Both end the program with a message when the kernel refuses.
void bare_attach(int host_socket, int pod_socket, int pod_netns, const std::vector<BareMove>& moves);
// `indexes` are those inside the pod, in the order of `moves`.
void bare_detach(int pod_socket, int host_netns, const std::vector<BareMove>& moves);

}  // namespace railbed::bench
