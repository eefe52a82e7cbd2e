// SPDX-License-Identifier: Apache-2.0
#include "api/kinds.h"

#include <map>

#include <gtest/gtest.h>

namespace railbed::api {
namespace {

TEST(KindParsers, EachKindInDeployHasOneOrAReason) {
  const std::map<std::string_view, std::string_view> without{
      {"AddressCell", "agents and the operator write it, no manifest: address_cell.h reads it from the API server"},
      {"SriovNetworkPoolConfig", "it says nothing of one machine: operator_config.h reads it from the API server"},
      {"SriovOperatorConfig", "it says nothing of one machine: operator_config.h reads it from the API server"},
      {"SriovNetworkNodeState", "the operator and agents write it: node_state.h reads it from the API server"},
  };
  for (const Kind& kind : kinds()) {
    if (kind.defined != KindDefined::kInDeploy) continue;
    const bool has_parser = parser_of(kind) != nullptr;
    EXPECT_TRUE(has_parser || without.contains(kind.name)) << kind.name << " has no parser (kParsers in kinds.cc)";
    EXPECT_FALSE(has_parser && without.contains(kind.name)) << kind.name << " has a parser: take it off this list";
  }
}

}  // namespace
}  // namespace railbed::api
