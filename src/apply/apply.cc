// SPDX-License-Identifier: Apache-2.0
#include "apply/apply.h"

#include <exception>
#include <mutex>
#include <thread>

#include "apply/pf_run.h"

namespace railbed::apply {

namespace {

// Serializes the calls that several threads make.
class OneAtATime : public Progress {
 public:
  explicit OneAtATime(Progress& inner) : inner_(inner) {}
  void begins(const plan::PfPlan& pf, const plan::Step& step) override {
    std::lock_guard lock(mutex_);
    inner_.begins(pf, step);
  }
  void ends(const plan::PfPlan& pf, const plan::Step& step, const Error* failure) override {
    std::lock_guard lock(mutex_);
    inner_.ends(pf, step, failure);
  }

 private:
  std::mutex mutex_;
  Progress& inner_;
};

void add(Report& report, PfReport one) {
  report.steps_done += one.steps_done;
  if (one.failure) report.failures.push_back(std::move(*one.failure));
  for (std::string& note : one.notes) report.notes.push_back(std::move(note));
  report.canceled = report.canceled || one.canceled;
}

// The last one in the caller's thread. An exception of a thread (out of memory) is rethrown there, too.
std::vector<PfReport> run_beside_each_other(const plan::NodePlan& plan,
                                            const std::function<PfReport(const plan::PfPlan&)>& run) {
  std::vector<PfReport> reports(plan.pfs.size());
  std::vector<std::exception_ptr> thrown(plan.pfs.size());
  {
    auto run_one = [&](size_t i) {
      try {
        reports[i] = run(plan.pfs[i]);
      } catch (...) {
        thrown[i] = std::current_exception();
      }
    };
    std::vector<std::jthread> threads;
    for (size_t i = 0; i + 1 < plan.pfs.size(); ++i) threads.emplace_back(run_one, i);
    run_one(plan.pfs.size() - 1);
  }
  for (const std::exception_ptr& one : thrown)
    if (one) std::rethrow_exception(one);
  return reports;
}

}  // namespace

Report carry_out(os::Kernel& kernel, state::Store& store, const plan::NodePlan& plan, const Options& options,
                 Progress& progress) {
  auto start = kernel.clock().now();
  OneAtATime ordered(progress);
  auto run = [&](const plan::PfPlan& pf) { return run_pf(kernel, store, pf, options, ordered); };
  Report report;
  if (options.parallel && plan.pfs.size() > 1) {
    for (PfReport& one : run_beside_each_other(plan, run)) add(report, std::move(one));
  } else {
    for (const plan::PfPlan& pf : plan.pfs) add(report, run(pf));
  }
  report.took = std::chrono::duration_cast<milliseconds>(kernel.clock().now() - start);
  return report;
}

}  // namespace railbed::apply
