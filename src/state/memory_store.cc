// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "state/sandbox.h"
#include "state/store.h"

namespace railbed::state {
namespace {

struct Content {
  std::map<PciAddress, PfBaseline> baselines;
  std::vector<StepRecord> steps;
  std::map<std::string, PodRecord> pods;
  std::vector<Attachment> attachments;
  std::map<std::pair<std::string, IpAddress>, AddressLease> leases;
  std::map<std::string, std::vector<IpRange>> blocks;
  std::map<std::string, std::string> notes;
};

// Replaces the first element for which `same` is true, or appends.
template <typename T, typename Same>
void put(std::vector<T>& all, const T& one, Same same) {
  auto found = std::ranges::find_if(all, same);
  if (found == all.end())
    all.push_back(one);
  else
    *found = one;
}

class MemoryStore : public Store {
 public:
  Result<std::unique_ptr<Hold>> hold(std::chrono::milliseconds) override { return std::unique_ptr<Hold>(new NoHold); }
  Result<std::optional<PfBaseline>> baseline(PciAddress pf) override {
    std::lock_guard lock(mutex_);
    auto found = now_.baselines.find(pf);
    if (found == now_.baselines.end()) return std::optional<PfBaseline>{};
    return std::optional(found->second);
  }
  Result<std::vector<PfBaseline>> baselines() override {
    std::lock_guard lock(mutex_);
    std::vector<PfBaseline> all;
    for (auto& [pf, baseline] : now_.baselines) all.push_back(baseline);
    return all;
  }
  Result<void> put_baseline(const PfBaseline& baseline) override {
    std::lock_guard lock(mutex_);
    now_.baselines.emplace(baseline.pf, baseline);
    return {};
  }
  Result<void> forget_baseline(PciAddress pf) override {
    std::lock_guard lock(mutex_);
    now_.baselines.erase(pf);
    return {};
  }

  Result<void> put_step(const StepRecord& step) override {
    std::lock_guard lock(mutex_);
    put(now_.steps, step, [&](const StepRecord& other) { return other.id == step.id; });
    return {};
  }
  Result<void> forget_steps(PciAddress pf) override {
    std::lock_guard lock(mutex_);
    std::erase_if(now_.steps, [&](const StepRecord& step) { return step.pf == pf; });
    return {};
  }
  Result<std::vector<StepRecord>> steps() override {
    std::lock_guard lock(mutex_);
    return now_.steps;
  }

  Result<void> put_pod(const PodRecord& pod) override {
    std::lock_guard lock(mutex_);
    now_.pods[pod.pod] = pod;
    return {};
  }
  Result<void> forget_pod(const std::string& pod) override {
    std::lock_guard lock(mutex_);
    now_.pods.erase(pod);
    return {};
  }
  Result<std::vector<PodRecord>> pods() override {
    std::lock_guard lock(mutex_);
    std::vector<PodRecord> all;
    for (auto& [name, pod] : now_.pods) all.push_back(pod);
    return all;
  }

  Result<void> put_attachment(const Attachment& attachment) override {
    std::lock_guard lock(mutex_);
    put(now_.attachments, attachment, [&](const Attachment& other) {
      return other.pod == attachment.pod && other.interface == attachment.interface;
    });
    return {};
  }
  Result<void> forget_attachment(const std::string& pod, const std::string& interface) override {
    std::lock_guard lock(mutex_);
    std::erase_if(now_.attachments,
                  [&](const Attachment& other) { return other.pod == pod && other.interface == interface; });
    return {};
  }
  Result<std::vector<Attachment>> attachments() override {
    std::lock_guard lock(mutex_);
    return now_.attachments;
  }
  Result<std::vector<Attachment>> attachments_of(const std::string& pod) override {
    std::vector<Attachment> some = *attachments();
    std::erase_if(some, [&](const Attachment& one) { return one.pod != pod; });
    return some;
  }
  Result<std::vector<Attachment>> attachments_with(const std::string& device) override {
    std::vector<Attachment> some = *attachments();
    std::erase_if(some, [&](const Attachment& one) { return one.device != device; });
    return some;
  }

  Result<void> put_lease(const AddressLease& lease) override {
    std::lock_guard lock(mutex_);
    auto [place, is_new] = now_.leases.emplace(std::pair(lease.pool, lease.address), lease);
    if (!is_new && place->second != lease) return fail(lease_taken(place->second));
    return {};
  }
  Result<void> forget_leases(const std::string& pod, const std::string& interface) override {
    std::lock_guard lock(mutex_);
    std::erase_if(now_.leases,
                  [&](const auto& item) { return item.second.pod == pod && item.second.interface == interface; });
    return {};
  }
  Result<std::vector<AddressLease>> leases(const std::string& pool) override {
    std::vector<AddressLease> all = *all_leases();
    std::erase_if(all, [&](const AddressLease& lease) { return lease.pool != pool; });
    return all;
  }
  Result<std::vector<AddressLease>> all_leases() override {
    std::lock_guard lock(mutex_);
    std::vector<AddressLease> all;
    for (auto& [key, lease] : now_.leases) all.push_back(lease);
    return all;
  }

  Result<std::vector<AddressLease>> leases_of(const std::string& pod) override {
    std::vector<AddressLease> some = *all_leases();
    std::erase_if(some, [&](const AddressLease& lease) { return lease.pod != pod; });
    return some;
  }

  Result<void> put_block(const AddressBlock& block) override {
    std::lock_guard lock(mutex_);
    std::vector<IpRange>& blocks = now_.blocks[block.pool];
    if (std::ranges::count(blocks, block.addresses) == 0) blocks.push_back(block.addresses);
    return {};
  }
  Result<void> forget_block(const AddressBlock& block) override {
    std::lock_guard lock(mutex_);
    std::erase(now_.blocks[block.pool], block.addresses);
    return {};
  }
  Result<std::vector<IpRange>> blocks(const std::string& pool) override {
    std::lock_guard lock(mutex_);
    return now_.blocks[pool];
  }

  Result<void> put_note(const std::string& key, const std::string& value) override {
    std::lock_guard lock(mutex_);
    now_.notes[key] = value;
    return {};
  }
  Result<std::optional<std::string>> note(const std::string& key) override {
    std::lock_guard lock(mutex_);
    auto found = now_.notes.find(key);
    if (found == now_.notes.end()) return std::optional<std::string>{};
    return std::optional(found->second);
  }
  Result<void> forget_note(const std::string& key) override {
    std::lock_guard lock(mutex_);
    now_.notes.erase(key);
    return {};
  }
  Result<std::vector<Note>> notes(const std::string& prefix) override {
    std::lock_guard lock(mutex_);
    std::vector<Note> some;
    for (const auto& [key, value] : now_.notes)
      if (key.starts_with(prefix)) some.emplace_back(key, value);
    return some;
  }

  Result<void> begin() override {
    mutex_.lock();
    if (before_.has_value()) {
      mutex_.unlock();
      return fail(Code::kInternal, "state: begin() inside begin()");
    }
    before_ = now_;
    return {};
  }
  Result<void> commit() override {
    before_.reset();
    mutex_.unlock();
    return {};
  }
  void rollback() override {
    now_ = std::move(*before_);
    before_.reset();
    mutex_.unlock();
  }

 private:
  std::recursive_mutex mutex_;  // held from begin() to commit() or rollback()
  Content now_;
  std::optional<Content> before_;
};

}  // namespace

Result<std::vector<std::string>> Store::sandboxes_of(const std::string& container) {
  std::set<std::string> keys;
  for (const Attachment& one : TRY(attachments()))
    if (Sandbox::of_key(one.pod).container == container) keys.insert(one.pod);
  return std::vector(keys.begin(), keys.end());
}

Error lease_taken(const AddressLease& holder) {
  return Error{.code = Code::kConflict,
               .message = fmt::format("address {} of pool {} belongs to pod {}, interface {}", holder.address,
                                      holder.pool, holder.pod, holder.interface)};
}

std::unique_ptr<Store> memory_store() {
  return std::make_unique<MemoryStore>();
}

}  // namespace railbed::state
