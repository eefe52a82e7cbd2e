// SPDX-License-Identifier: Apache-2.0
// DEL requests that the shim journaled on disk when no agent answered: carried out, then removed.
//
// Why: if DEL fails, a runtime retries for a while and then forgets the pod; if DEL reports success, that is only true
// if it is carried out later. So the shim saves the request's frame in a folder and reports success, and the agent
// repeats it until it succeeds. An ADD for the same container waits for such a DEL first, as it would otherwise remove
// what the ADD created (cnitool reuses a namespace's container id). A file that cannot be read (another format,
// damaged) is renamed to "<name>.broken" and reported; no request waits for it, since its container is unknown and it
// cannot be carried out. Partial files of a killed shim are removed after an hour.
// Threading: any thread; a file is carried out by one of them, and only those wait that need the same container.
// Failure: a file that fails stays, and is reported once per cause.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>

#include "agent/door/events.h"
#include "agent/door/server.h"
#include "cni/request.h"
#include "cni/wire.h"
#include "os/ports/disk.h"

namespace railbed::agent {

class Replay {
 public:
  // `note` receives lines for the log, `events` every DEL that failed and how often.
  Replay(os::Disk& disk, std::string folder, Handler handler, std::function<void(const std::string&)> note,
         Events& events);

  struct Tally {
    size_t done = 0;
    size_t failed = 0;
    size_t broken = 0;
    friend bool operator==(const Tally&, const Tally&) = default;
  };
  // Repeats everything in the folder, oldest first, until `stop`.
  Tally all(const std::stop_token& stop = {});
  // Repeats the DELs of this container before it gets anything new. True when none is left.
  bool settle(const std::string& container_id);
  // The number of files that wait.
  size_t pending() const;

 private:
  Tally pass(const std::string* container_id, const std::stop_token& stop);
  void repeat(const std::string& name, const std::string* container_id, Tally& tally);
  void carry_out(const std::string& name, const cni::Request& request, Tally& tally);
  void set_aside(const std::string& name, const std::string& why);
  void unreadable(const std::string& name, const Error& why, const std::string* container_id, Tally& tally);
  void remove_unfinished();
  std::vector<std::string> names(std::string_view ending) const;

  os::Disk& disk_;
  std::string folder_;
  Handler handler_;
  std::function<void(const std::string&)> note_;
  Events& events_;
  std::mutex mutex_;
  std::condition_variable free_;
  std::set<std::string> at_work_;                       // files
  std::map<std::string, std::string> logged_failures_;  // file → its last failure that was logged
};

// The request in a file written by the shim; fails for anything else.
Result<cni::Request> read_pending(const std::string& frame);

}  // namespace railbed::agent
