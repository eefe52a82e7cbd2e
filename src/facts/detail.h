// SPDX-License-Identifier: Apache-2.0
// How much of a node is read.
//
// Why: a third of the data of a small machine is only for people, and for comparing machines: slots, link speeds,
// firmware versions, modules that no label depends on.
// Threading, failure: a value.
#pragma once

#include <cstdint>

namespace railbed::facts {

enum class Detail : uint8_t {
  kAll,
  kForPlans,  // what graph, rules and plan look at
};

}  // namespace railbed::facts
