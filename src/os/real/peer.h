// SPDX-License-Identifier: Apache-2.0
// Whether the process at the other end of a unix socket has the rights of root of this machine.
//
// Why: its user is also 0 in a container, where root has no capabilities and the files belong to the container's
// author. The container runtime, and an administrator, have CAP_SYS_ADMIN in this process's user namespace, and the
// machine's root directory or mounts. Data from /proc about a process is valid only if the process was still the peer
// afterwards, which a pidfd proves. SO_PEERPIDFD (Linux 6.5) returns the peer's own; before, one is opened by number,
// and a process that started after the check began is not the peer.
// Threading: any.
// Failure: Denied with what is missing; NotFound if the peer has exited.
// Source: unix(7), pidfd_open(2), proc_pid_status(5), user_namespaces(7).
#pragma once

#include <vector>

#include "base/error.h"
#include "os/real/unix_socket.h"

namespace railbed::os {

// A file by what it is, not by its name.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

// Where processes are that may ask: in this user namespace, with one of these root directories or mount namespaces.
struct TrustedPlaces {
  FileIdentity user_namespace;
  std::vector<FileIdentity> roots;
  std::vector<FileIdentity> mounts;
  friend bool operator==(const TrustedPlaces&, const TrustedPlaces&) = default;
};

// This process's user namespace; its root and mounts, and those of the machine's first process, as /proc shows it now.
Result<TrustedPlaces> trusted_places();
// Adds the places of `more`: those of before this process changed its mounts.
void add_places(TrustedPlaces& places, const TrustedPlaces& more);

// The peer is user `uid`, in one of the places, with CAP_SYS_ADMIN.
Result<void> check_peer(const Connection& connection, uint32_t uid, const TrustedPlaces& places);

}  // namespace railbed::os
