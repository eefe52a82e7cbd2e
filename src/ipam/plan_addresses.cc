// SPDX-License-Identifier: Apache-2.0
#include "ipam/assign.h"

namespace railbed::ipam {
namespace {

// Sets aside the addresses of the answer. Also used for pods that ask for addresses explicitly.
void note_taken(Taken& taken, const Owner& owner, const Result<std::vector<Assigned>>& answer) {
  if (!answer.has_value()) return;
  for (const Assigned& one : *answer)
    if (!one.pool.empty()) taken[one.pool].emplace(one.address.address, owner);
}

}  // namespace

std::map<Owner, Result<std::vector<Assigned>>> plan_addresses(const std::vector<Wish>& wishes,
                                                              const std::vector<state::AddressLease>& leases) {
  Taken taken = taken_by(leases);
  std::map<Owner, Result<std::vector<Assigned>>> answers;
  for (bool asks_by_name : {true, false})
    for (const Wish& wish : wishes) {
      if (wish.requested.empty() == asks_by_name) continue;
      auto answer = assign(wish.config, wish.network, taken, wish.requested, wish.owner);
      note_taken(taken, wish.owner, answer);
      answers.emplace(wish.owner, std::move(answer));
    }
  return answers;
}

}  // namespace railbed::ipam
