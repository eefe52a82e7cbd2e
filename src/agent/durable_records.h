// SPDX-License-Identifier: Apache-2.0
// On disk: the records that only a DEL can release. They outlive the state, which ends with the boot.
//
// Why: what railbed itself creates ends with its namespace, at a reboot at the latest. An executed plugin may have
// reserved something elsewhere (an address of a cluster's IPAM), which only its own DEL releases, with the
// configuration and the result of its ADD. The runtime sends that DEL after the reboot, too, to an agent whose state is
// new. So each executed plugin has a file here from before its ADD begins until after its DEL has ended, and a starting
// agent loads these files into its state (restore_records.h). railbed's own interfaces and addresses have none: their
// ADD never waits for the disk. host-local's files are found in their directories; of those, only directories other
// than the usual one are recorded here, once each.
//
//   <directory>/00000000000000000042.json   in the order of creation
//
// The directory is for root only: configurations contain secrets. A file is removed with its DEL, and nothing else
// retains it.
//
// Threading: any thread; each change waits for the disk, so avoid it inside a Turn. One process adds records, others
// (`railbed gc`) may read and remove.
// Failure: Io with what to do; nothing was recorded then. After a power failure each file is complete or absent.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "os/ports/disk.h"
#include "state/store.h"

namespace railbed::agent {

inline constexpr const char* kDurableRecords = "/var/lib/railbed/records";

// The meta plugin's sandbox that a record belongs to: what GC needs to know of it.
struct MetaSandbox {
  std::string network;  // the meta plugin's configuration
  std::string ifname;   // of the default network
  std::string pod_uid;
  friend bool operator==(const MetaSandbox&, const MetaSandbox&) = default;
};

struct DurableProgram {
  state::Attachment record;            // exec_records.h
  std::optional<MetaSandbox> sandbox;  // absent: its plugin was called by the runtime itself
  std::string boot_id;                 // of the boot in which its ADD began
  friend bool operator==(const DurableProgram&, const DurableProgram&) = default;
};

// One of the files: a program, or else a directory of host-local's.
struct DurableRecord {
  std::optional<DurableProgram> program;
  std::string directory;
  std::string network;  // of the directory
};
// Invalid for anything else, and for a file that only a newer railbed can read.
Result<DurableRecord> read_durable_record(const std::string& text);

class DurableRecords {
 public:
  // `disk` must outlive this. Nothing is made before the first record.
  DurableRecords(os::Disk& disk, std::string directory, std::string boot_id);

  // By pod and interface of the record.
  Result<void> put_program(const state::Attachment& record, const std::optional<MetaSandbox>& sandbox);
  Result<void> forget_programs(const std::vector<state::Attachment>& records);

  // A directory of host-local's files, and its network.
  Result<void> put_directory(const std::string& path, const std::string& network);

  struct Content {
    std::vector<DurableProgram> programs;                          // as they were made
    std::vector<std::pair<std::string, std::string>> directories;  // path, network
    std::vector<std::string> unread;  // one line per file that cannot be read, or is of a newer version: it stays there
  };
  Result<Content> read();

  // What a killed agent had not written to its end. Only for the agent, before its first record: no other process
  // writes then.
  Result<void> remove_unfinished();

  const std::string& directory() const { return directory_; }
  const std::string& boot_id() const { return boot_id_; }

 private:
  using Key = std::pair<std::string, std::string>;  // pod and interface; "" and a directory
  Result<void> put(const Key& key, const std::string& content);
  Result<Content> read_locked();
  Result<void> learn();

  os::Disk& disk_;
  std::string directory_;
  std::string boot_id_;
  std::mutex mutex_;
  bool known_ = false;  // whether the files have been read
  std::map<Key, uint64_t> numbers_;
  uint64_t last_ = 0;
};

}  // namespace railbed::agent
