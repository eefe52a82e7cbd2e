// SPDX-License-Identifier: Apache-2.0
// For tests: a store whose process can die.
//
// Why: a killed process writes nothing any more. A store that continued after the fake kernel was killed would record
// what no process has done.
// Threading: one thread.
// Failure: Canceled for writes of a dead process.
#pragma once

#include <functional>

#include "state/store.h"

namespace railbed::node {

class MortalStore : public state::Store {
 public:
  MortalStore(state::Store& kept, std::function<bool()> dead) : kept_(kept), dead_(std::move(dead)) {}

  // After `writes` more writes the process is dead; `die` ends whatever else belongs to it.
  void kill_after(int writes, std::function<void()> die) {
    left_ = writes;
    die_ = std::move(die);
  }
  void restart() {
    left_ = -1;
    killed_ = false;
  }
  int writes() const { return writes_; }

  Result<std::optional<PfBaseline>> baseline(PciAddress pf) override { return kept_.baseline(pf); }
  Result<std::vector<PfBaseline>> baselines() override { return kept_.baselines(); }
  Result<void> put_baseline(const PfBaseline& baseline) override {
    return write([&] { return kept_.put_baseline(baseline); });
  }
  Result<void> forget_baseline(PciAddress pf) override {
    return write([&] { return kept_.forget_baseline(pf); });
  }
  Result<void> put_step(const state::StepRecord& step) override {
    return write([&] { return kept_.put_step(step); });
  }
  Result<void> forget_steps(PciAddress pf) override {
    return write([&] { return kept_.forget_steps(pf); });
  }
  Result<std::vector<state::StepRecord>> steps() override { return kept_.steps(); }
  Result<void> put_pod(const state::PodRecord& pod) override {
    return write([&] { return kept_.put_pod(pod); });
  }
  Result<void> forget_pod(const std::string& pod) override {
    return write([&] { return kept_.forget_pod(pod); });
  }
  Result<std::vector<state::PodRecord>> pods() override { return kept_.pods(); }
  Result<void> put_attachment(const state::Attachment& attachment) override {
    return write([&] { return kept_.put_attachment(attachment); });
  }
  Result<void> forget_attachment(const std::string& pod, const std::string& interface) override {
    return write([&] { return kept_.forget_attachment(pod, interface); });
  }
  Result<std::vector<state::Attachment>> attachments() override { return kept_.attachments(); }
  Result<void> put_lease(const state::AddressLease& lease) override {
    return write([&] { return kept_.put_lease(lease); });
  }
  Result<void> forget_leases(const std::string& pod, const std::string& interface) override {
    return write([&] { return kept_.forget_leases(pod, interface); });
  }
  Result<std::vector<state::AddressLease>> leases(const std::string& pool) override { return kept_.leases(pool); }
  Result<std::vector<state::AddressLease>> all_leases() override { return kept_.all_leases(); }
  Result<std::vector<state::AddressLease>> leases_of(const std::string& pod) override { return kept_.leases_of(pod); }
  Result<std::vector<state::Attachment>> attachments_of(const std::string& pod) override {
    return kept_.attachments_of(pod);
  }
  Result<std::vector<state::Attachment>> attachments_with(const std::string& device) override {
    return kept_.attachments_with(device);
  }
  Result<std::unique_ptr<state::Hold>> hold(std::chrono::milliseconds wait) override { return kept_.hold(wait); }
  Result<void> put_block(const state::AddressBlock& block) override {
    return write([&] { return kept_.put_block(block); });
  }
  Result<void> forget_block(const state::AddressBlock& block) override {
    return write([&] { return kept_.forget_block(block); });
  }
  Result<std::vector<IpRange>> blocks(const std::string& pool) override { return kept_.blocks(pool); }
  Result<void> put_note(const std::string& key, const std::string& value) override {
    return write([&] { return kept_.put_note(key, value); });
  }
  Result<std::optional<std::string>> note(const std::string& key) override { return kept_.note(key); }
  Result<void> forget_note(const std::string& key) override {
    return write([&] { return kept_.forget_note(key); });
  }
  Result<std::vector<Note>> notes(const std::string& prefix) override { return kept_.notes(prefix); }
  Result<void> begin() override { return kept_.begin(); }
  // A process that dies inside a transaction loses all of it.
  Result<void> commit() override {
    if (is_dead()) {
      kept_.rollback();
      return fail(Code::kCanceled, "the process is dead");
    }
    return kept_.commit();
  }
  void rollback() override { kept_.rollback(); }
  Result<void> scrub() override { return kept_.scrub(); }

 private:
  bool is_dead() const { return killed_ || dead_(); }

  template <typename Write>
  Result<void> write(Write write) {
    if (!is_dead() && left_ == 0) {
      killed_ = true;
      die_();
    }
    if (is_dead()) return fail(Code::kCanceled, "the process is dead");
    if (left_ > 0) --left_;
    ++writes_;
    return write();
  }

  state::Store& kept_;
  std::function<bool()> dead_;
  std::function<void()> die_;
  int left_ = -1;
  int writes_ = 0;
  bool killed_ = false;
};

}  // namespace railbed::node
