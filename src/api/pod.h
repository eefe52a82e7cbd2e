// SPDX-License-Identifier: Apache-2.0
// Pod: the parts that networks, resources and placement need.
//
// Threading: pure functions. Failure: diagnostics (compare.h).
#pragma once

#include "api/objects.h"
#include "base/well_known.h"
#include "doc/diagnostic.h"

namespace railbed::api {

using railbed::kNetworksAnnotation;

// Of an object that was compared with its schema, or that an API server accepted; its networks annotation is read here.
Pod read_pod(const doc::Value& object, doc::Diagnostics& out);

}  // namespace railbed::api
