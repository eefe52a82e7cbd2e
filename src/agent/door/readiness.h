// SPDX-License-Identifier: Apache-2.0
// Whether an ADD could succeed now: for /readyz, for STATUS, for `railbed status`. One place, so that they agree.
//
// It checks the first requirements of an ADD: an exclusive section, a writable state, and free disk space, since the
// state's journal has reserved space and would report a full disk only some pods later. Checked every ten seconds at
// most, in the background, so that callers neither wait nor load the machine.
// Threading: any thread.
// Failure: the reasons, each in a sentence.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/context/status_memory.h"
#include "agent/engine.h"
#include "os/ports/disk.h"

namespace railbed::agent {

class Readiness {
 public:
  // `folder` is the state's.
  Readiness(Engine& engine, os::Disk& disk, std::string folder)
      : engine_(engine), disk_(disk), probe_(std::move(folder) + "/.probe") {}

  // More to look at, which does not wait. To be added before anybody asks.
  void also(std::function<std::vector<std::string>()> other) { others_.push_back(std::move(other)); }
  // Empty: ready.
  std::vector<std::string> reasons();

 private:
  Result<void> look();

  Engine& engine_;
  os::Disk& disk_;
  std::string probe_;
  std::vector<std::function<std::vector<std::string>()>> others_;
  StatusMemory memory_;  // last: its thread uses the others
};

// As STATUS fails for it.
Error not_ready(const std::vector<std::string>& reasons);

}  // namespace railbed::agent
