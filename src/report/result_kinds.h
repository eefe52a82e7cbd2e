// SPDX-License-Identifier: Apache-2.0
// The kinds of results that `railbed perf` writes, and how a report reads and shows each. The only list of them.
//
// Why: reading files, the page, the terminal and the test of docs/schemas go over these rows. So a new kind is a row
// here, a file with its section (section.h), a schema and a page of docs, and tests name what is forgotten.
// Threading: one owner.
// Failure: of reading, Code::kInvalid with the field's path.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "doc/value.h"
#include "perf/result_envelope.h"
#include "report/section.h"

namespace railbed::report {

// A result as it was read: of most kinds JSON, of others the bytes of a file of their own form. It outlives the call.
struct GivenResult {
  const doc::Value* json = nullptr;
  std::string_view bytes = {};
};

// The results of one kind, in the order in which they were read.
class ResultsOfKind {
 public:
  virtual ~ResultsOfKind() = default;
  virtual Result<void> add(const GivenResult& given) = 0;
  virtual bool empty() const = 0;
  virtual Section section() const = 0;
  // Whether the form of the kind has a list of them, so that they can be saved as one result; and that, as JSON.
  virtual bool merges() const = 0;
  virtual std::string merged() const = 0;
};

struct ResultKind {
  perf::ResultName name;
  bool (*is_file)(std::string_view bytes) = nullptr;      // whether a file has its own form; null: it is JSON
  std::unique_ptr<ResultsOfKind> (*collect)() = nullptr;  // null: a report does not show them
  bool refuses_others = false;                            // says why a result of no row's kind cannot be read
};
std::span<const ResultKind> result_kinds();

// The results of all files of a report.
class Results {
 public:
  Results();
  // A file with one result, or with several as a page saves them.
  Result<void> add(std::string_view file);
  // One for each kind of which there are results, in the order of the rows; of nothing, one that says so.
  std::vector<Section> sections() const;
  // What the page saves: the only result, or an object with a list of `results`, which add() reads again. "": nothing.
  std::string json() const;

 private:
  Result<void> add_result(const doc::Value& result);

  std::vector<std::unique_ptr<ResultsOfKind>> of_kinds_;  // as result_kinds(); null where a report does not show them
  std::vector<std::string> unmerged_;                     // JSON, in the order in which it was read
};

}  // namespace railbed::report
