// SPDX-License-Identifier: Apache-2.0
#include "check/rules/maturity.h"

#include <map>

#include "check/data_files.h"
#include "doc/members.h"

namespace railbed::check {
namespace {

using MaturityTable = std::map<std::string, Maturity, std::less<>>;

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
      one.right = doc::number_in(row, "right");
      one.wrong = doc::number_in(row, "wrong");
      one.repositories = doc::number_in(row, "repositories");
      one.promoted = doc::text_in(row, "promoted");
    }
    return table;
  }();
  return kTable;
}

}  // namespace

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
  if (!one.promoted.empty()) return fmt::format("stable since {}: {}", one.since, one.promoted);
  if (one.right + one.wrong == 0) return fmt::format("stable since {}", one.since);
  return fmt::format("stable since {} ({})", one.since, counts);
}

}  // namespace railbed::check
