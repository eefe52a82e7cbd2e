// SPDX-License-Identifier: Apache-2.0
// What a stored Pod says of where it runs and whether it has ended.
//
// Why: the operator and the agent read pods of others from lists and watches, and decide by the same two fields.
// Threading: pure.
// Failure: none; a Pod without the field is on no node, and has not ended.
#pragma once

#include <string>

#include "doc/value.h"

namespace railbed::kube {

std::string node_of_pod(const doc::Value& pod);  // spec.nodeName; empty before it is scheduled
bool has_ended(const doc::Value& pod);           // status.phase: it has no sandbox any more

}  // namespace railbed::kube
