// SPDX-License-Identifier: Apache-2.0
// Turns SIGINT and SIGTERM into a request to stop.
//
// Why: a run that is asked to end finishes the step at work, so that the journal is right. A second signal
// ends the process at once, as kill -9 would; the next run copes with that too. Threading: make it before any
// other thread, so that these inherit the blocked signals. Failure: none.
#pragma once

#include <stop_token>
#include <thread>

namespace railbed {

class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;
  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  int wake_;
  std::thread thread_;
};

}  // namespace railbed
