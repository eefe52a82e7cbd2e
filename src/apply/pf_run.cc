// SPDX-License-Identifier: Apache-2.0
#include "apply/pf_run.h"

#include <algorithm>
#include <set>

#include "apply/actions.h"
#include "apply/baseline.h"
#include "apply/pci_device.h"
#include "os/ports/held_folder.h"

namespace railbed::apply {

namespace {

using Status = state::StepRecord::Status;

state::StepRecord record(const plan::PfPlan& pf, const plan::Step& step, Status status, std::string error = "") {
  return {.id = step.id,
          .pf = pf.pf,
          .policy = step.policy,
          .description = plan::describe(step),
          .status = status,
          .error = std::move(error)};
}

StepFailure failure_of(const plan::PfPlan& pf, size_t at, Error error, std::string remains) {
  const plan::Step& step = pf.steps[at];
  return {.pf = pf.pf,
          .pf_name = pf.pf_name,
          .step = step.id,
          .policy = step.policy,
          .description = plan::describe(step),
          .error = std::move(error),
          .remains = std::move(remains),
          .not_tried = pf.steps.size() - at - 1};
}

using Steps = std::vector<const plan::Step*>;

// Steps that were done with an earlier one; that is tried once.
struct Together {
  bool tried = false;
  std::set<const plan::Step*> done;
};

// The records of one PF's steps. Nothing happens between the end of a step and the beginning of the next, so both are
// one write: half of the writes that each of them alone would take.
class Journal {
 public:
  Journal(state::Store& store, const plan::PfPlan& pf) : store_(store), pf_(pf) {}

  // Before the first change: how the PF was, if that is not stored yet, and the first step's beginning, without the
  // records of the last run.
  Result<void> opens(const std::optional<PfBaseline>& baseline, const plan::Step& first) {
    auto transaction = TRY(state::Transaction::begin(store_));
    TRY(store_.forget_steps(pf_.pf));
    if (baseline) TRY(store_.put_baseline(*baseline));
    TRY(store_.put_step(record(pf_, first, Status::kBegun)));
    TRY(transaction.commit());
    opened_with_ = &first;
    return {};
  }
  // Of one step, or of several that are done together.
  Result<void> begins(const Steps& steps) {
    if (steps.size() == 1 && steps.front() == opened_with_) return {};
    auto transaction = TRY(state::Transaction::begin(store_));
    TRY(write_done());
    for (const plan::Step* step : steps) TRY(store_.put_step(record(pf_, *step, Status::kBegun)));
    TRY(transaction.commit());
    unwritten_ = ended_.size();
    return {};
  }
  // They could not be done together, and begin one by one.
  Result<void> takes_back() {
    auto transaction = TRY(state::Transaction::begin(store_));
    TRY(store_.forget_steps(pf_.pf));
    unwritten_ = 0;
    TRY(write_done());
    TRY(transaction.commit());
    unwritten_ = ended_.size();
    opened_with_ = nullptr;
    return {};
  }
  void done(const Steps& steps) { ended_.insert(ended_.end(), steps.begin(), steps.end()); }
  Result<void> failed(const plan::Step& step, const Error& error) {
    return store_.put_step(record(pf_, step, Status::kFailed, error.to_string()));
  }
  // No further step begins.
  Result<void> stops() {
    if (unwritten_ == ended_.size()) return {};
    auto transaction = TRY(state::Transaction::begin(store_));
    TRY(write_done());
    return transaction.commit();
  }

 private:
  Result<void> write_done() {
    for (size_t i = unwritten_; i < ended_.size(); ++i) TRY(store_.put_step(record(pf_, *ended_[i], Status::kDone)));
    return {};
  }

  state::Store& store_;
  const plan::PfPlan& pf_;
  const plan::Step* opened_with_ = nullptr;
  Steps ended_;           // those that are done
  size_t unwritten_ = 0;  // the first of them that is not written as done
};

Result<void> prepare(os::Kernel& kernel, os::LinkPort& links, state::Store& store, const plan::PfPlan& pf,
                     const plan::Step& first, Journal& journal) {
  std::optional<PfBaseline> baseline;
  if (!TRY(store.baseline(pf.pf)))
    baseline = TRY(read_baseline(kernel, links, pf.pf, pf.pf_name).context("storing the settings of {}", pf.pf_name));
  return journal.opens(baseline, first);
}

// The MACs that may be set with that of `step`: VFs stay the same up to the last of them, and one VF's MAC is nothing
// to what is done to others in between.
Steps macs_from(const plan::PfPlan& pf, const plan::Step& step) {
  Steps macs;
  for (const plan::Step* one = &step; one != pf.steps.data() + pf.steps.size(); ++one) {
    if (std::holds_alternative<plan::SetVfMac>(one->action))
      macs.push_back(one);
    else if (macs.empty() || !(std::holds_alternative<plan::BindVf>(one->action) ||
                               std::holds_alternative<plan::SetVfMtu>(one->action)))
      break;
  }
  return macs;
}

// Whether all of them are set. Where not, it is tried one by one, so that the error is that of a VF.
Result<bool> set_together(Journal& journal, Actions& actions, const Steps& macs) {
  TRY(journal.begins(macs));
  std::vector<plan::SetVfMac> wanted;
  for (const plan::Step* step : macs) wanted.push_back(std::get<plan::SetVfMac>(step->action));
  const bool set = actions.set_macs(wanted).has_value();
  if (set)
    journal.done(macs);
  else
    TRY(journal.takes_back());
  return set;
}

// An interrupted step keeps its record "begun". `together` are the steps that were done, or tried, with an earlier one.
Result<void> carry_out_step(Journal& journal, Actions& actions, const plan::PfPlan& pf, const plan::Step& step,
                            Together& together) {
  if (together.done.contains(&step)) return {};
  const Steps macs = together.tried ? Steps{} : macs_from(pf, step);
  if (macs.size() > 1) {
    together.tried = true;
    if (TRY(set_together(journal, actions, macs))) {
      together.done.insert(macs.begin(), macs.end());
      return {};
    }
  }
  TRY(journal.begins({&step}));
  auto done = std::visit(actions, step.action).context("{}: {}", pf.pf_name, plan::describe(step));
  if (done)
    journal.done({&step});
  else if (done.error().code != Code::kCanceled)
    (void)journal.failed(step, done.error());  // the step's error is the one to report
  return done;
}

}  // namespace

PfReport run_pf(os::Kernel& kernel, state::Store& store, const plan::PfPlan& pf, const Options& options,
                Progress& progress) {
  PfReport report;
  auto needs_reboot = [](const plan::Step& step) { return std::holds_alternative<plan::NeedsReboot>(step.action); };
  for (const plan::Step& step : pf.steps)
    if (needs_reboot(step))
      report.notes.push_back(fmt::format("{} ({}) needs a reboot, which requires manual action: {}", pf.pf_name, pf.pf,
                                         std::get<plan::NeedsReboot>(step.action).what));
  const auto first = std::ranges::find_if_not(pf.steps, needs_reboot);
  if (first == pf.steps.end()) return report;
  if (options.stop.stop_requested()) {
    report.canceled = true;
    return report;
  }
  const os::HeldFolder folder(kernel.files(), device_path(pf.pf));
  auto links = kernel.links();
  Journal journal(store, pf);
  auto ready = links ? prepare(kernel, **links, store, pf, *first, journal) : Result<void>(fail(links.error()));
  if (!ready) {
    report.failure = failure_of(pf, 0, std::move(ready.error()), fmt::format("{} was not touched", pf.pf_name));
    return report;
  }
  Actions actions(kernel, **links, pf, options);
  Together together;
  for (size_t at = 0; at < pf.steps.size() && !report.failure; ++at) {
    const plan::Step& step = pf.steps[at];
    if (needs_reboot(step)) continue;
    if (&step != &*first && options.stop.stop_requested()) {  // the first has begun
      report.canceled = true;
      break;
    }
    progress.begins(pf, step);
    auto done = carry_out_step(journal, actions, pf, step, together);
    progress.ends(pf, step, done ? nullptr : &done.error());
    if (done) {
      ++report.steps_done;
    } else if (done.error().code == Code::kCanceled) {
      report.canceled = true;
      break;
    } else {
      report.failure = failure_of(pf, at, std::move(done.error()), actions.remains());
    }
  }
  std::ranges::move(actions.take_notes(), std::back_inserter(report.notes));
  if (report.failure || report.canceled) {
    if (auto noted = journal.stops(); !noted) report.notes.push_back(noted.error().story());
    return report;
  }
  if (auto forgotten = store.forget_steps(pf.pf); !forgotten)
    report.notes.push_back(
        fmt::format("{} is done, but clearing its journal failed: {}", pf.pf_name, forgotten.error().story()));
  return report;
}

}  // namespace railbed::apply
