// SPDX-License-Identifier: Apache-2.0
// What the operator serves over HTTP: metrics and health. Threading: pure functions. Failure: none.
#pragma once

#include <string>
#include <vector>

#include "controller/operator.h"

namespace railbed {

// In Prometheus' text format. `now` is when the snapshot was taken.
std::string operator_metrics(const controller::OperatorSnapshot& snapshot, kube::Instant now);
// Why it cannot do its work, a line each; empty: it can. One that does not lead is ready to.
std::vector<std::string> operator_troubles(const controller::OperatorSnapshot& snapshot);

}  // namespace railbed
