// SPDX-License-Identifier: Apache-2.0
// check's schema of a kind, as the OpenAPI schema of a CustomResourceDefinition.
//
// Why: the API server itself rejects what check rejects, and keeps every field that check knows: both read the same
// data (src/schema/data).
// Spec: apiextensions.k8s.io/v1 JSONSchemaProps, "structural schemas": every level has a type, unless it keeps unknown
// fields (x-kubernetes-preserve-unknown-fields).
// Threading: pure.
// Failure: none.
#pragma once

#include "doc/value.h"
#include "schema/schema.h"

namespace railbed::controller {

// {type, properties, required, enum, minimum, …}; texts that hold JSON stay texts, which check alone looks into.
doc::Value structural_schema(const schema::Schema& schema);

// The schema of a field below `schema`, such as "spec.nicSelector"; null where there is none.
doc::Value* schema_at(doc::Value& schema, std::string_view path);

}  // namespace railbed::controller
