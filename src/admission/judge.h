// SPDX-License-Identifier: Apache-2.0
// Whether an object may be stored, by the rules of `railbed check`.
//
// Why: kubectl shows a refusal to the author of the mistake, before anything changes. A webhook that refuses too much
// locks objects that exist: labels, finalizers and deletions are UPDATEs, too, and an object that an older version
// admitted must stay movable. So only what the request itself brings in is refused: an error that is sure, that the
// object has by itself, and that the stored object did not have. Everything else is a warning. Pods and workloads are
// anybody's: what is found in them is never more than a warning.
// Threading: pure functions over values.
// Failure: none; what cannot be judged is allowed.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "admission/review.h"
#include "doc/value.h"
#include "facts/node_facts.h"

namespace railbed::admission {

// What the webhook knows beside the request.
struct World {
  std::string resource_prefix = "openshift.io";
  std::set<std::string, std::less<>> own_accounts = {};  // "system:serviceaccount:railbed:railbed-operator"
  // Stored objects that the rules compare with the one of the request: policies, networks, definitions. The object of
  // the request may be among them.
  std::vector<doc::Value> stored = {};
  std::vector<facts::NodeFacts> nodes = {};  // what node states say; empty: nothing is known
  // Whether the user may list what is in `stored`, so that warnings may name it.
  bool may_name_stored = false;
};

// Whether the rules of `check` are for this kind, and whether they refuse.
enum class Judged : uint8_t { kNot, kWarned, kRefused };
Judged judged_as(std::string_view group, std::string_view kind);

// Why a request passes unseen: "it changes nothing in spec"; empty where it is judged.
std::string_view why_passed(const Review& review, const World& world);

Answer judge(const Review& review, const World& world);

}  // namespace railbed::admission
