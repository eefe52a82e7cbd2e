// SPDX-License-Identifier: Apache-2.0
// The location of the namespaces in records: at their path, elsewhere, ended, or unreachable.
//
// Why: a pod's devices are released only from its own namespace, or once that has ended. A path proves neither: a name
// can disappear while the pod runs (a mount over /run/netns, an unmount in the wrong place), and another namespace can
// get it. So a namespace is identified by its identity (os::NetnsIdentity), searched for if it is not at its path, and
// considered ended only if the kernel confirms it: its number no longer exists (os::NetnsPort::numbers()), or another
// namespace has that number now. A namespace that is neither found nor ended is unreachable: it may be alive, and keeps
// everything that it has.
//
// Threading: one thread; look() may be called outside of the exclusive section (wait_policy.h).
// Failure: per namespace, as `error`: it exists and cannot be examined, or it is unknown what is at its path.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "attach/record.h"
#include "os/ports/kernel.h"
#include "state/store.h"

namespace railbed::attach {

// What a record says of its namespace.
struct NetnsRef {
  std::string path;
  std::optional<os::NetnsIdentity> identity;  // of no record that is begun, nor of those of old versions
  std::optional<os::Nsid> nsid;
  friend auto operator<=>(const NetnsRef&, const NetnsRef&) = default;
};
NetnsRef netns_ref_of(const state::Attachment& record);

// Of the namespace that is at `path` now, which gets a number if it has none.
Result<NetnsRef> netns_ref_at(os::Kernel& kernel, const std::string& path);
// Of what is open.
Result<NetnsRef> netns_ref_of(os::Kernel& kernel, const os::Netns& netns);

enum class NetnsState : uint8_t {
  kThere,    // open: at its path, or where it was found
  kEnded,    // proven
  kUnknown,  // neither
};

struct NetnsPlace {
  NetnsState state = NetnsState::kUnknown;
  std::shared_ptr<os::Netns> netns;  // while it is kThere
  std::optional<Error> error;        // of kUnknown: it could not be looked at, which may pass
};

class Namespaces {
 public:
  explicit Namespaces(os::Kernel& kernel) : kernel_(kernel) {}

  // Opens what is at the paths. Afterwards place_of() is kThere for those that are where they were, and kUnknown for
  // all others.
  void open(const std::vector<NetnsRef>& refs);
  // Whether none is kUnknown.
  bool all_known() const;
  // Says of the others whether they have ended, and looks for those that have not. One whose last holder has just gone
  // ends within milliseconds, so a second is waited for that at most, no longer than until `deadline` or `stop`. On a
  // machine with many processes the look may take as long.
  void look(os::Deadline deadline = os::Deadline::max(), const std::stop_token& stop = {});
  // Asks the kernel once more, of those that are still unknown, whether they have ended. Takes microseconds.
  void ask_for_ends();

  const NetnsPlace& place_of(const NetnsRef& ref) const { return places_.at(ref); }
  bool knows(const NetnsRef& ref) const { return places_.contains(ref); }

 private:
  NetnsPlace at_path(const NetnsRef& ref) const;
  std::vector<std::string> folders() const;
  Result<void> find();

  os::Kernel& kernel_;
  std::map<NetnsRef, NetnsPlace> places_;
};

// Writes into records of earlier versions by which number their namespace is known here: without it nothing would ever
// prove that it has ended. `spaces` has opened the namespaces of all interfaces. A record of an executed plugin of
// such a version does not say which namespace it is about: it is that of an interface of the same pod and path.
Result<void> number_old_records(os::Kernel& kernel, state::Store& store, const Namespaces& spaces);

// Whether `there` is what the record is about. Nothing is known of records without an identity: then the path decides.
bool is_that_namespace(const NetnsRef& ref, const os::NetnsIdentity& there);

}  // namespace railbed::attach
