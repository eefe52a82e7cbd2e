// SPDX-License-Identifier: Apache-2.0
#include "apply/pf_run.h"

#include <algorithm>

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
  Result<void> begins(const plan::Step& step) {
    if (&step == opened_with_) return {};
    const state::StepRecord begun = record(pf_, step, Status::kBegun);
    if (done_ == nullptr) return store_.put_step(begun);
    auto transaction = TRY(state::Transaction::begin(store_));
    TRY(store_.put_step(record(pf_, *done_, Status::kDone)));
    TRY(store_.put_step(begun));
    TRY(transaction.commit());
    done_ = nullptr;
    return {};
  }
  void done(const plan::Step& step) { done_ = &step; }
  Result<void> failed(const plan::Step& step, const Error& error) {
    return store_.put_step(record(pf_, step, Status::kFailed, error.to_string()));
  }
  // No further step begins.
  Result<void> stops() {
    if (done_ == nullptr) return {};
    return store_.put_step(record(pf_, *std::exchange(done_, nullptr), Status::kDone));
  }

 private:
  state::Store& store_;
  const plan::PfPlan& pf_;
  const plan::Step* opened_with_ = nullptr;
  const plan::Step* done_ = nullptr;  // and not yet written
};

Result<void> prepare(os::Kernel& kernel, os::LinkPort& links, state::Store& store, const plan::PfPlan& pf,
                     const plan::Step& first, Journal& journal) {
  std::optional<PfBaseline> baseline;
  if (!TRY(store.baseline(pf.pf)))
    baseline = TRY(read_baseline(kernel, links, pf.pf, pf.pf_name).context("storing how {} was", pf.pf_name));
  return journal.opens(baseline, first);
}

// An interrupted step keeps its record "begun".
Result<void> carry_out_step(Journal& journal, Actions& actions, const plan::PfPlan& pf, const plan::Step& step) {
  TRY(journal.begins(step));
  auto done = std::visit(actions, step.action).context("{}: {}", pf.pf_name, plan::describe(step));
  if (done)
    journal.done(step);
  else if (done.error().code != Code::kCanceled)
    (void)journal.failed(step, done.error());  // the step's error is the one to tell
  return done;
}

}  // namespace

PfReport run_pf(os::Kernel& kernel, state::Store& store, const plan::PfPlan& pf, const Options& options,
                Progress& progress) {
  PfReport report;
  auto is_told = [](const plan::Step& step) { return std::holds_alternative<plan::NeedsReboot>(step.action); };
  for (const plan::Step& step : pf.steps)
    if (is_told(step))
      report.notes.push_back(fmt::format("{} ({}) needs a reboot, which is yours to do: {}", pf.pf_name, pf.pf,
                                         std::get<plan::NeedsReboot>(step.action).what));
  const auto first = std::ranges::find_if_not(pf.steps, is_told);
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
  for (size_t at = 0; at < pf.steps.size() && !report.failure; ++at) {
    const plan::Step& step = pf.steps[at];
    if (is_told(step)) continue;
    if (&step != &*first && options.stop.stop_requested()) {  // the first has begun
      report.canceled = true;
      break;
    }
    progress.begins(pf, step);
    auto done = carry_out_step(journal, actions, pf, step);
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
        fmt::format("{} is done, its journal could not be cleared: {}", pf.pf_name, forgotten.error().story()));
  return report;
}

}  // namespace railbed::apply
