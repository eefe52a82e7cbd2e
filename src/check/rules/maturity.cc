// SPDX-License-Identifier: Apache-2.0
#include "check/rules/maturity.h"

#include <map>

#include "check/data_files.h"
#include "doc/members.h"

namespace railbed::check {
namespace {

using MaturityTable = std::map<std::string, Maturity, std::less<>>;

// Adds what each measurement found to the rules; one without a row is stable since the first version.
void add_judgements(MaturityTable& table) {
  const doc::Value data = data_document("judgements.yaml");
  const doc::Value::Array* measurements = doc::list_in(data, "measurements");
  if (measurements == nullptr) return;
  for (const doc::Value& measurement : *measurements) {
    const doc::Value::Array* rules = doc::list_in(measurement, "rules");
    if (rules == nullptr) continue;
    for (const doc::Value& row : *rules) {
      Maturity& one = table[doc::text_in(row, "id")];
      one.right += doc::number_in(row, "right");
      one.wrong += doc::number_in(row, "wrong");
      one.repositories += doc::number_in(row, "repositories");
    }
  }
}

const MaturityTable& maturity_table() {
  static const MaturityTable kTable = [] {
    MaturityTable table;
    const doc::Value data = data_document("maturity.yaml");
    const doc::Value::Array* rows = doc::list_in(data, "rules");
    if (rows == nullptr) return table;
    for (const doc::Value& row : *rows) {
      Maturity& one = table[doc::text_in(row, "id")];
      one.since = doc::text_in(row, "since");
      one.state = doc::text_in(row, "state") == "preview" ? RuleState::kPreview : RuleState::kStable;
      one.promoted = doc::text_in(row, "promoted");
    }
    add_judgements(table);
    for (auto& [id, one] : table)
      if (one.promoted.empty() && is_often_wrong(one)) one.state = RuleState::kPreview;
    return table;
  }();
  return kTable;
}

}  // namespace

bool is_often_wrong(const Maturity& one) {
  return one.right < kRightForStable && one.wrong * kMostWrong > one.right + one.wrong;
}

const Maturity& maturity_of(std::string_view id) {
  static const Maturity kFirst;
  const auto found = maturity_table().find(id);
  return found == maturity_table().end() ? kFirst : found->second;
}

std::string in_words(const Maturity& one) {
  const std::string counts =
      fmt::format("{} right, {} wrong in {} unseen repositories", one.right, one.wrong, one.repositories);
  if (one.state == RuleState::kPreview)
    return fmt::format("preview since {}: its errors are warnings until it was right {} times ({})", one.since,
                       kRightForStable, counts);
  const std::string stable = one.promoted.empty() ? fmt::format("stable since {}", one.since)
                                                  : fmt::format("stable since {}: {}", one.since, one.promoted);
  return one.right + one.wrong == 0 ? stable : fmt::format("{} ({})", stable, counts);
}

}  // namespace railbed::check
