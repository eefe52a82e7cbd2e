// SPDX-License-Identifier: Apache-2.0
// How far each rule has come, and on what grounds: data/maturity.yaml, and the record in data/judgements.yaml.
//
// Why: new rules are where false errors come from. A rule that has not been right 30 times about unknown repositories
// is a preview, and its errors are warnings; so is an old one of which more than one error in ten was wrong. The
// numbers are in one table, so that everyone can see them, and the next measurement decides without a change of code.
// Threading: immutable. Failure: none; a test checks the table.
#pragma once

#include <string>
#include <string_view>

#include "check/rules/rule.h"

namespace railbed::check {

inline constexpr int kRightForStable = 30;
inline constexpr int kMostWrong = 10;  // one finding in so many may be wrong

struct Maturity {
  std::string since = "0.1";  // the version that has it first
  RuleState state = RuleState::kStable;
  int right = 0;  // findings on unseen repositories, in all measurements
  int wrong = 0;
  int repositories = 0;
  std::string promoted;  // why it is stable without those; may be empty
};

// Whether the record says that the rule is no ground for an error: too many were wrong, and too few were right.
bool is_often_wrong(const Maturity& maturity);

// Of an id that is not in the table: stable since the first version.
const Maturity& maturity_of(std::string_view id);

// "preview since 0.2: its errors are warnings until it was right 30 times on unseen repositories (12 right, 1 wrong in
// 5)".
std::string in_words(const Maturity& maturity);

}  // namespace railbed::check
