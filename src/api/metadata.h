// SPDX-License-Identifier: Apache-2.0
// metadata of every object.
//
// Threading: pure functions. Failure: diagnostics about names; what the schema reports is absent here.
#pragma once

#include "api/objects.h"
#include "doc/diagnostic.h"

namespace railbed::api {

// `metadata` of `object`.
Metadata read_metadata(const doc::Value& object, doc::Diagnostics& out);

}  // namespace railbed::api
