// SPDX-License-Identifier: Apache-2.0
// The findings that were accepted when a repository began to be checked: only those that are not among them count.
//
// Why: a repository with hundreds of old findings cannot fix all of them at once, and must not get new ones. Findings
// are recognized by their fingerprints (judgement.h), so lines may move and files may be renamed. The file is sorted
// and has a line per finding, so that people can review its changes. Threading: values; pure. Failure: an Error with
// the place in the file.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/error.h"
#include "check/check.h"

namespace railbed::check {

class Baseline {
 public:
  // Of all findings of a report, notes too.
  static Baseline of(const Report& report);
  static Result<Baseline> read(const doc::SourcePtr& source);
  std::string to_json() const;

  // Moves the findings that are in the baseline to the ignored ones, with `reason`. Of several equal ones as many as
  // the baseline has. Returns how many were moved; `left_over` gets the number of entries that no finding has any more.
  size_t remove_known(Report& report, std::string_view reason, size_t* left_over = nullptr) const;

 private:
  struct Entry {
    std::string id;       // for people
    std::string subject;  // for people
    int count = 0;
  };
  std::map<std::string, Entry> entries_;  // by fingerprint
};

}  // namespace railbed::check
