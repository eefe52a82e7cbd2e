// SPDX-License-Identifier: Apache-2.0
// Messages of a service to systemd: readiness, and journal entries with fields.
//
// Why not libsystemd: its sd_journal_send() waits while journald's queue is full, and the logging thread serves a pod
// at that time. Both protocols are one datagram. Nothing here blocks or raises a signal: what cannot be sent is
// dropped.
// Threading: any thread.
// Failure: false.
// Source: https://systemd.io/JOURNAL_NATIVE_PROTOCOL/, sd_notify(3), systemd.exec(5) for JOURNAL_STREAM.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "os/real/descriptor.h"

namespace railbed::os {

// Names are the journal's: capital letters, digits, underscores.
using JournalField = std::pair<std::string_view, std::string_view>;
// A value with line ends is sent with its length, so that it cannot begin a field of its own.
std::string journal_entry(std::span<const JournalField> fields);

class Journal {
 public:
  static constexpr const char* kSocket = "/run/systemd/journal/socket";
  // Where standard error is the journal: `stream` is the variable JOURNAL_STREAM, "device:inode" of what the service
  // manager gave as standard output or error.
  static std::optional<Journal> of_standard_error(std::string_view stream, const std::string& socket = kSocket);

  // False when journald does not take it at the moment: it restarts, or its queue is full.
  bool send(std::span<const JournalField> fields) const;

 private:
  Journal(Descriptor descriptor, std::string socket) : descriptor_(std::move(descriptor)), socket_(std::move(socket)) {}
  Descriptor descriptor_;
  std::string socket_;
};

// `state` is "READY=1", "STOPPING=1", …; `socket` is the variable NOTIFY_SOCKET. False where no manager listens.
bool notify_manager(const std::string& socket, std::string_view state);

// Writes to a descriptor what it takes without waiting; the rest of a text that does not fit is dropped. Closed, full
// and without a reader are all the same here. True when all was written.
bool write_without_waiting(int fd, std::string_view text);

// Opens /dev/null as those of the standard descriptors that are closed, so that no file opened later gets their
// numbers.
void open_standard_descriptors();

}  // namespace railbed::os
