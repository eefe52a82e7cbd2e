// SPDX-License-Identifier: Apache-2.0
// What a verb is doing, while it does it.
//
// Why: on a terminal one line that changes, elsewhere (CI, a log) plain lines that stay. Results go to standard output;
// this goes to standard error and leaves nothing on a terminal. Threading: one call at a time. Failure: none.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

namespace railbed {

class Progress {
 public:
  explicit Progress(FILE* out = stderr);
  ~Progress();  // erases the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void now(const std::string& text);   // the current step; on a terminal the next one replaces it
  void keep(const std::string& text);  // a line that stays, also on a terminal
  void wipe();

 private:
  FILE* out_;
  bool terminal_;
  bool dirty_ = false;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace railbed
