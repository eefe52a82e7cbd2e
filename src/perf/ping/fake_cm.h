// SPDX-License-Identifier: Apache-2.0
// For tests: the RDMA connection manager in memory, over the devices of fake_verbs.h.
//
// Why: as there. fake_cm_test.cc defines the functions of librdmacm that this library calls. All ids are of one
// machine, 127.0.0.1.
// Threading: all functions from any thread, under the mutex of the devices.
// Failure: as the test configures it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include <rdma/rdma_cma.h>

namespace railbed::perf {

struct FakeCm {
  bool library_missing = false;
  std::map<std::string, int> refuses;  // a function's errno
  // What comes instead of the usual event of a function: its type and status.
  std::map<std::string, std::pair<rdma_cm_event_type, int>> answers;
  std::set<std::string> silent;  // functions whose event never comes
  int open_ids = 0;
  int open_channels = 0;
};

FakeCm& fake_cm();

}  // namespace railbed::perf
