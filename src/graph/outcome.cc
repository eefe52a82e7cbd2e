// SPDX-License-Identifier: Apache-2.0
#include "graph/outcome.h"

namespace railbed::graph {

std::string_view outcome_name(PolicyOutcome::State state) {
  switch (state) {
    case PolicyOutcome::State::kApplied:
      return "applied";
    case PolicyOutcome::State::kPartly:
      return "partly";
    case PolicyOutcome::State::kShadowed:
      return "shadowed";
    case PolicyOutcome::State::kNoMatch:
      return "no match";
    case PolicyOutcome::State::kOtherNode:
      return "other node";
    case PolicyOutcome::State::kRefused:
      return "refused";
    case PolicyOutcome::State::kIgnored:
      return "ignored";
  }
  return "?";
}

}  // namespace railbed::graph
