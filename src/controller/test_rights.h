// SPDX-License-Identifier: Apache-2.0
// What the operator declares that it needs in the API server. For tests.
#pragma once

#include <string>
#include <vector>

#include "controller/operator.h"
#include "kube/fake/api_server.h"
#include "kube/fake/clock.h"

namespace railbed::controller::testing {

inline std::vector<kube::Right> operator_rights() {
  kube::fake::ApiServer server;
  kube::fake::FakeClock clock;
  const Operator work(server, clock, {.ns = "op", .identity = "me"}, [](Importance, const std::string&) {});
  return work.rights();
}

}  // namespace railbed::controller::testing
