// SPDX-License-Identifier: Apache-2.0
// Shows what the standalone engine is doing. Threading: one call at a time, as node::Progress promises.
#pragma once

#include "node/standalone.h"
#include "progress.h"

namespace railbed {

class RunProgress : public node::Progress {
 public:
  explicit RunProgress(bool quiet) : quiet_(quiet) {}
  void begins(const plan::PfPlan& pf, const plan::Step& step) override {
    says(pf.pf_name + ": " + plan::describe(step));
  }
  void ends(const plan::PfPlan&, const plan::Step&, const Error*) override {}
  void says(const std::string& what) override {
    if (!quiet_) line_.now(what);
  }
  void wipe() { line_.wipe(); }

 private:
  const bool quiet_;
  railbed::Progress line_;
};

}  // namespace railbed
