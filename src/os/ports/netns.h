// SPDX-License-Identifier: Apache-2.0
// Network namespaces.
//
// Why: a pod's interfaces live in its namespace; railbed creates named ones (/run/netns/<name>, as `ip netns`
// does) in standalone mode and opens given paths under a runtime. A LinkPort of a namespace has its socket
// there, so no thread has to enter it per call. Threading: NetnsPort may be used from several threads;
// run_inside() runs on a thread of its own. Failure: NotFound when the path is gone or is no longer a
// namespace; Conflict when a name is taken.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "os/ports/links.h"
#include "os/ports/rdma.h"

namespace railbed::os {

// An open namespace, which keeps it alive. Has one owner; the destructor closes the descriptor.
class Netns {
 public:
  Netns(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  ~Netns();
  Netns(const Netns&) = delete;
  Netns& operator=(const Netns&) = delete;
  int fd() const { return fd_; }
  const std::string& path() const { return path_; }

 private:
  int fd_;
  std::string path_;
};

using Sysctls = std::vector<std::pair<std::string, std::string>>;  // key → value

class NetnsPort {
 public:
  virtual ~NetnsPort() = default;

  // Creates /run/netns/<name>, with its loopback up. Conflict when it exists.
  virtual Result<void> create(const std::string& name) = 0;
  // Unmounts and removes it; NotFound when it does not exist. The kernel frees it when the last process has left.
  virtual Result<void> remove(const std::string& name) = 0;
  virtual Result<std::vector<std::string>> names() = 0;
  virtual std::string path_of(const std::string& name) const = 0;  // "/run/netns/<name>"

  virtual Result<std::unique_ptr<Netns>> open(const std::string& path) = 0;
  virtual Result<std::unique_ptr<Netns>> open_own() = 0;  // the namespace of this process
  // Whether the path leads to the namespace of this process, under any name. Errors as for open().
  virtual Result<bool> is_own(const std::string& path) = 0;

  // Ports whose sockets are inside `netns`.
  virtual Result<std::unique_ptr<LinkPort>> links(const Netns& netns) = 0;
  virtual Result<std::unique_ptr<RdmaPort>> rdma(const Netns& netns) = 0;

  // A sysctl of the namespace, e.g. "net/ipv4/conf/net1/arp_notify", without the newline.
  virtual Result<std::string> sysctl(const Netns& netns, const std::string& key) = 0;
  // Writes the settings that differ, in their order, from one thread that enters the namespace once. After a failure
  // `at` is the index of the setting that failed.
  virtual Result<void> set_sysctls(const Netns& netns, const Sysctls& settings, size_t& at) = 0;
  Result<void> set_sysctls(const Netns& netns, const Sysctls& settings) {
    size_t at = 0;
    return set_sysctls(netns, settings, at);
  }
  Result<void> set_sysctl(const Netns& netns, const std::string& key, const std::string& value) {
    return set_sysctls(netns, {{key, value}});
  }
};

// The real namespaces. `run_dir` is where their names are ("/run/netns").
std::unique_ptr<NetnsPort> real_netns(const std::string& run_dir = "/run/netns");

}  // namespace railbed::os
