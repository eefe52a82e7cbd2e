// SPDX-License-Identifier: Apache-2.0
// Network namespaces.
//
// Why: a pod's interfaces are in its namespace; railbed creates named ones (/run/netns/<name>, as `ip netns` does) in
// standalone mode and opens given paths under a runtime. A LinkPort of a namespace has its socket there, so no thread
// has to enter it per call.
//
// A path, a process and an inode number only show where a namespace was: the path may refer to another one the next
// moment. NetnsIdentity identifies it. And if a search does not find a namespace, that does not prove that it has
// ended: one without a name lives as long as a process, a descriptor, a mount or a socket holds it. The proof is the
// kernel's own list: a namespace that has a number in this one (Nsid) loses it when it ends, and not before.
//
// Threading: NetnsPort may be used from several threads; run_inside() runs on its own thread.
// Failure: NotFound if the path no longer exists or is no longer a namespace; Conflict if a name is in use.
// Source: namespaces(7), linux/net_namespace.h, linux/nsfs.h.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
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

// Which namespace it is among all of this boot.
struct NetnsIdentity {
  uint64_t number = 0;
  // Before Linux 5.14: the number of the namespace's file, which the next namespace gets as soon as this one has ended.
  // Two that differ are two namespaces; two that are equal prove little, so no namespace is searched for by it.
  bool of_file = false;
  friend auto operator<=>(const NetnsIdentity&, const NetnsIdentity&) = default;
};

// The number by which this process's namespace knows another one ("nsid", as `ip netns list-id` shows it).
struct Nsid {
  int32_t value = 0;
  friend auto operator<=>(const Nsid&, const Nsid&) = default;
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

  // What is at the path; of a path that is held, what is held.
  Result<std::unique_ptr<Netns>> open(const std::string& path);
  virtual Result<std::unique_ptr<Netns>> open_own() = 0;  // the namespace of this process
  // A descriptor that somebody has passed, and which this takes over. Invalid: it is of no network namespace.
  virtual Result<std::unique_ptr<Netns>> take(int fd, const std::string& path) = 0;

  // For as long as the result lives open(netns->path()) gives this namespace, wherever the path leads meanwhile: what
  // was looked at for a request is what is changed for it. Held by several, a path stays held until the last has
  // ended. Busy: the path is held, and another namespace was meant then.
  class Hold;
  Result<std::shared_ptr<Hold>> hold(std::unique_ptr<Netns> netns);
  // Whether the path leads to the namespace of this process, under any name. Errors as for open().
  virtual Result<bool> is_own(const std::string& path) = 0;
  // Whether the path leads to `netns` at this moment; false where it leads nowhere. Errors as for open() otherwise.
  virtual Result<bool> leads_to(const std::string& path, const Netns& netns) = 0;

  virtual Result<NetnsIdentity> identity(const Netns& netns) = 0;
  // Of the namespace's file: NetnsIdentity::of_file says what it proves.
  virtual Result<uint64_t> file_number(const Netns& netns) = 0;
  // The number of `netns` here, which it gets if it has none. Unsupported where the kernel gives none.
  virtual Result<Nsid> number(const Netns& netns) = 0;
  virtual Result<std::optional<Nsid>> number_if_any(const Netns& netns) = 0;
  // All numbers that are given: a namespace whose number is not among them has ended. One whose number is may have
  // ended, too: a number that is free is given again.
  virtual Result<std::set<Nsid>> numbers() = 0;

  // Whether `netns` has given a number to a living namespace other than this process's. The kernel gives one to each
  // namespace into which an interface moves from there: without one, what was in it is here, gone, or has moved on from
  // a namespace that has ended.
  virtual Result<bool> knows_others(const Netns& netns) = 0;
  // Whether the user namespace that owns it is the machine's first one.
  virtual Result<bool> is_of_initial_user(const Netns& netns) = 0;

  // Calls `visit` for each namespace of this machine that can be found, once, until it returns false: those with a name
  // in /run/netns or in one of `folders`, those of processes, those that are mounted where a process sees it, and those
  // of which a process has a descriptor. Not found are those that only a socket holds. The namespace is open during
  // the call only, unless the visitor keeps it; its path is where it was found. Fails where one could be there and
  // cannot be looked at.
  using Visit = std::function<Result<bool>(std::unique_ptr<Netns>, const NetnsIdentity&)>;
  virtual Result<void> visit(const std::vector<std::string>& folders, const Visit& visit) = 0;

  // Ports whose sockets are inside `netns`.
  virtual Result<std::unique_ptr<LinkPort>> links(const Netns& netns) = 0;
  virtual Result<std::unique_ptr<RdmaPort>> rdma(const Netns& netns) = 0;

  // A sysctl of the namespace, e.g. "net/ipv4/conf/net1/arp_notify", without the newline.
  virtual Result<std::string> sysctl(const Netns& netns, const std::string& key) = 0;
  // Writes the settings that differ, in their order, from one thread that enters the namespace once; after them those
  // of `if_there`, whose keys need not exist. After a failure `at` is the index of the setting that failed, counted
  // through both.
  virtual Result<void> set_sysctls(const Netns& netns, const Sysctls& settings, const Sysctls& if_there,
                                   size_t& at) = 0;
  Result<void> set_sysctls(const Netns& netns, const Sysctls& settings) {
    size_t at = 0;
    return set_sysctls(netns, settings, {}, at);
  }
  Result<void> set_sysctl(const Netns& netns, const std::string& key, const std::string& value) {
    return set_sysctls(netns, {{key, value}});
  }

 protected:
  // What is at the path at this moment, held or not.
  virtual Result<std::unique_ptr<Netns>> open_at(const std::string& path) = 0;
  // The same namespace under one more descriptor.
  virtual Result<std::unique_ptr<Netns>> again(const Netns& netns) = 0;

 private:
  std::mutex held_mutex_;
  std::map<std::string, std::weak_ptr<Hold>> held_;  // by path
};

class NetnsPort::Hold {
 public:
  explicit Hold(std::unique_ptr<Netns> netns) : netns_(std::move(netns)) {}
  const Netns& netns() const { return *netns_; }

 private:
  std::unique_ptr<Netns> netns_;
};

// The real namespaces. `run_dir` is where their names are ("/run/netns").
std::unique_ptr<NetnsPort> real_netns(const std::string& run_dir = "/run/netns");

}  // namespace railbed::os
