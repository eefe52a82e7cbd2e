// SPDX-License-Identifier: Apache-2.0
// The schemas of APIs in manifests and beside them: CustomResourceDefinitions and OpenAPI documents.
//
// Why: they are most of the values in the tree of a controller's repository (nine tenths of kserve's), no rule looks
// into them, and a value takes ten times its text. So a schema is replaced by its hash as soon as its file is read:
// objects with different schemas still differ.
// Threading: pure functions.
// Failure: none.
#pragma once

#include "doc/value.h"

namespace railbed::check {

// Replaces the schemas in a definition or an OpenAPI document by texts; any other value stays as it is.
void drop_api_schemas(doc::Value& document);

}  // namespace railbed::check
