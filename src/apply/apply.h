// SPDX-License-Identifier: Apache-2.0
// Applies a plan: creates VFs, binds them once to their final driver, sets MTUs and MACs.
//
// Why: this applies what `plan` printed, and nothing else. One thread per PF: sriov_numvfs of one PF can take seconds
// while the others are idle. Before the first change of a PF its state is stored; each step is stored before it begins
// and after it ended, so that a killed process leaves a record, and the next run starts from the machine's current
// state. Steps check before they act: a completed step changes nothing. Waits follow the kernel's notifications, end at
// a deadline and stop on request.
// Threading: call from one thread; the threads created here end before it returns. `Progress` is called from these
// threads, one call at a time.
// Failure: a failed step ends the work on that PF only; it is in the report with the step, the policy, the path, the
// errno and what to do.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "os/ports/kernel.h"
#include "plan/step.h"
#include "state/store.h"

namespace railbed::apply {

using std::chrono::milliseconds;

struct Options {
  milliseconds carrier_wait{10'000};  // for the PF's cable, before VFs are made; goes on without it afterwards
  milliseconds vfs_wait{60'000};      // for VFs to appear after the write to sriov_numvfs
  milliseconds driver_wait{2'000};    // for a driver to bind after the write to drivers_probe
  milliseconds netdev_wait{10'000};   // for the interface after the driver has bound
  bool parallel = true;               // one thread per PF; false: in order, for tests
  std::stop_token stop;               // when requested, the run ends between two steps or inside a wait
};

class Progress {
 public:
  virtual ~Progress() = default;
  virtual void begins(const plan::PfPlan& pf, const plan::Step& step) = 0;
  virtual void ends(const plan::PfPlan& pf, const plan::Step& step, const Error* failure) = 0;
};
// For callers that show no progress.
class NoProgress : public Progress {
 public:
  void begins(const plan::PfPlan&, const plan::Step&) override {}
  void ends(const plan::PfPlan&, const plan::Step&, const Error*) override {}
};

struct StepFailure {
  PciAddress pf;
  std::string pf_name;
  std::string step;    // plan::Step::id
  std::string policy;  // "namespace/name"; empty for steps back to the baseline
  std::string description;
  Error error;
  std::string remains;   // "ens1f0 keeps 4 VFs, 3 of them without a driver"
  size_t not_tried = 0;  // later steps of that PF, which were not tried
};

struct Report {
  size_t steps_done = 0;
  std::vector<StepFailure> failures;  // by PF
  std::vector<std::string> notes;     // what was unusual, and reboots that are needed
  bool canceled = false;              // a stop was requested before the last step
  milliseconds took{0};

  bool complete() const { return failures.empty() && !canceled; }
};

Report carry_out(os::Kernel& kernel, state::Store& store, const plan::NodePlan& plan, const Options& options,
                 Progress& progress);

}  // namespace railbed::apply
