// SPDX-License-Identifier: Apache-2.0
// What railbed did to this machine and how to undo it: baselines of PFs, steps in progress, attachments, addresses.
//
// Why: everything is written here before it is done, so that a process killed at any instant leaves a record from which
// the next `up` or `down` finishes or undoes. SQLite in WAL mode below /run: no fsync on the hot path, nothing lost to
// kill -9, and deleted at reboot like the attachments themselves. If /run is not a tmpfs, the boot id in the file shows
// whether its content is of this boot; content of another boot is dropped on open: VFs, namespaces and their settings
// ended with that boot, and the machine's current state is its baseline.
// Threading: one Store per process, any thread (serialised inside; between begin() and commit() or rollback() other
// threads wait). One process at a time changes it: open_store() takes a lock for as long as the store is open, or, with
// `shared`, hold() takes it temporarily.
// Failure: Busy names the process that holds the lock; Io with SQLite's text, and the remedy if the file is damaged.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/ip.h"
#include "base/pf_baseline.h"
#include "base/types.h"

namespace railbed::state {

// The last attempt at a step. A run that ends well forgets its steps.
struct StepRecord {
  std::string id;  // plan::Step::id
  PciAddress pf;
  std::string policy;
  std::string description;
  enum class Status : uint8_t { kBegun, kDone, kFailed } status = Status::kBegun;
  std::string error;  // with errno; only after a failure
  friend bool operator==(const StepRecord&, const StepRecord&) = default;
};

enum class AttachmentStatus : uint8_t { kBegun, kAttached, kDetaching };

// One interface of a pod, with everything that DEL needs to undo it.
struct Attachment {
  std::string pod;        // Sandbox::key() (sandbox.h)
  std::string interface;  // name inside the pod; "net1/tuning" for a chained plugin's own record
  std::string netns;      // path
  std::string network;    // "namespace/name"
  std::string type;       // of the plugin: "sriov", "macvlan", …
  AttachmentStatus status = AttachmentStatus::kBegun;
  std::string device;    // PCI address of the VF, or the host interface; empty for made links
  std::string resource;  // "openshift.io/name" the device came from
  std::string undo;      // JSON: what was there before (host name, MTU, MAC, VF attributes), written before the change
  std::string result;    // JSON of what was made (addresses, MAC, RDMA device), for status; empty until attached
  friend bool operator==(const Attachment&, const Attachment&) = default;
};

struct AddressLease {
  std::string pool;  // network or whereabouts network_name, and range
  IpAddress address;
  std::string pod;
  std::string interface;
  friend bool operator==(const AddressLease&, const AddressLease&) = default;
};

// Addresses of a pool that this node may hand out.
struct AddressBlock {
  std::string pool;
  IpRange addresses;
  friend bool operator==(const AddressBlock&, const AddressBlock&) = default;
};

struct PodRecord {
  std::string pod;
  std::string netns;  // path
  std::string netns_name;
  bool netns_ours = true;  // created by railbed
  friend bool operator==(const PodRecord&, const PodRecord&) = default;
};

// The error of put_lease() when `holder` has the address.
Error lease_taken(const AddressLease& holder);

// The lock of a shared store; released with the last Hold of this process: one that is taken while another is there
// has the same lock.
class Hold {
 public:
  virtual ~Hold() = default;
  // Whether another process has written since the last hold of this store.
  virtual bool changed() const = 0;
};

// Of a store that has nothing to wait for.
class NoHold : public Hold {
  bool changed() const override { return false; }
};

class Store {
 public:
  virtual ~Store() = default;

  // Needed around every write to a store opened with `shared`, and around reads that a decision depends on. Fails with
  // Busy and the holder's name after `wait`. Any other store has nothing to wait for and never changes. Where the file
  // was removed meanwhile, all that this process has of it is written again; Conflict where another one is in its
  // place.
  virtual Result<std::unique_ptr<Hold>> hold(std::chrono::milliseconds wait) = 0;

  virtual Result<std::optional<PfBaseline>> baseline(PciAddress pf) = 0;
  virtual Result<std::vector<PfBaseline>> baselines() = 0;
  virtual Result<void> put_baseline(const PfBaseline& baseline) = 0;  // keeps an existing one
  virtual Result<void> forget_baseline(PciAddress pf) = 0;

  virtual Result<void> put_step(const StepRecord& step) = 0;  // by id
  virtual Result<void> forget_steps(PciAddress pf) = 0;
  virtual Result<std::vector<StepRecord>> steps() = 0;  // in the order of first insertion

  virtual Result<void> put_pod(const PodRecord& pod) = 0;
  virtual Result<void> forget_pod(const std::string& pod) = 0;
  virtual Result<std::vector<PodRecord>> pods() = 0;

  virtual Result<void> put_attachment(const Attachment& attachment) = 0;  // by (pod, interface)
  virtual Result<void> forget_attachment(const std::string& pod, const std::string& interface) = 0;
  virtual Result<std::vector<Attachment>> attachments() = 0;  // in the order of first insertion
  virtual Result<std::vector<Attachment>> attachments_of(const std::string& pod) = 0;  // in the same order
  // The keys of a container's sandboxes that have attachments (sandbox.h), sorted.
  virtual Result<std::vector<std::string>> sandboxes_of(const std::string& container);
  // The attachments that use this device (a VF's PCI address or a host interface), in that order; `device` is not
  // empty.
  virtual Result<std::vector<Attachment>> attachments_with(const std::string& device) = 0;

  // Conflict when another owner has the address in that pool; the same lease again is fine.
  virtual Result<void> put_lease(const AddressLease& lease) = 0;
  virtual Result<void> forget_leases(const std::string& pod, const std::string& interface) = 0;
  virtual Result<std::vector<AddressLease>> leases(const std::string& pool) = 0;  // by address
  virtual Result<std::vector<AddressLease>> all_leases() = 0;                     // by pool and address
  virtual Result<std::vector<AddressLease>> leases_of(const std::string& pod) = 0;

  virtual Result<void> put_block(const AddressBlock& block) = 0;  // the same block again is fine
  virtual Result<void> forget_block(const AddressBlock& block) = 0;
  virtual Result<std::vector<IpRange>> blocks(const std::string& pool) = 0;  // in the order of put_block()

  // Free text by key: the manifests of the last `up`, the policies' outcomes for `status`.
  virtual Result<void> put_note(const std::string& key, const std::string& value) = 0;
  virtual Result<std::optional<std::string>> note(const std::string& key) = 0;
  virtual Result<void> forget_note(const std::string& key) = 0;
  using Note = std::pair<std::string, std::string>;
  virtual Result<std::vector<Note>> notes(const std::string& prefix) = 0;  // by key; `prefix` is not empty

  // Leaves nothing in the files of what was forgotten: configurations have secrets. Not inside begin(). A process that
  // reads meanwhile puts the rest of it off to the next call.
  virtual Result<void> scrub() { return {}; }

  // Whether the files were removed under this process and hold() has written them again since the last call.
  virtual bool take_written_again() { return false; }

  // Several writes as one; see Transaction. A second begin() before the end is Internal.
  virtual Result<void> begin() = 0;
  virtual Result<void> commit() = 0;
  virtual void rollback() = 0;
};

// The note that is there where the file has lost what was written last (witness.h): it knows nothing of the pods that
// came since. A caller that has looked at the machine forgets it.
inline constexpr const char* kLostItsEnd = "state: lost its end";

// Several writes as one. The destructor undoes them unless commit() was called.
class Transaction {
 public:
  static Result<Transaction> begin(Store& store) {
    TRY(store.begin());
    return Transaction(store);
  }
  Transaction(Transaction&& other) noexcept : store_(std::exchange(other.store_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction() {
    if (store_ != nullptr) store_->rollback();
  }
  Result<void> commit() {
    RAILBED_CHECK(store_ != nullptr);  // neither moved from nor ended
    return std::exchange(store_, nullptr)->commit();
  }

 private:
  explicit Transaction(Store& store) : store_(&store) {}
  Store* store_;
};

struct OpenOptions {
  std::string directory = "/run/railbed";
  std::string boot_id;
  std::string command;     // "railbed up": named as the holder to those who wait for the lock
  bool read_only = false;  // for `status`: takes no lock, NotFound when there is no state
  bool shared = false;     // for the agent: hold() takes the lock for a while each time
  std::chrono::milliseconds lock_wait{0};
};

// kDenied without the right to write there, kConflict when a newer railbed wrote the file.
Result<std::unique_ptr<Store>> open_store(const OpenOptions& options);
// The same store in memory, which ends with the object: for tests, and for what has no state here.
std::unique_ptr<Store> memory_store();

}  // namespace railbed::state
