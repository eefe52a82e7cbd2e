// SPDX-License-Identifier: Apache-2.0
#include "check/read/api_schemas.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/fnv1a.h"
#include "doc/json.h"
#include "doc/members.h"

namespace railbed::check {
namespace {

void replace_by_hash(doc::Value& schema) {
  doc::Value hash(fmt::format("schema {:016x}", fnv1a(doc::to_json(schema))));
  hash.span = schema.span;
  schema = std::move(hash);
}

// `spec.versions[].schema.openAPIV3Schema`, and `spec.validation` of v1beta1.
void drop_schemas_of_definition(doc::Value& definition) {
  doc::Value* spec = definition.find("spec");
  if (spec == nullptr || !spec->is_object()) return;
  if (doc::Value* validation = spec->find("validation")) replace_by_hash(*validation);
  doc::Value* versions = spec->find("versions");
  if (versions == nullptr || !versions->is_array()) return;
  for (doc::Value& version : *versions->as_array())
    if (doc::Value* schema = version.find("schema")) replace_by_hash(*schema);
}

}  // namespace

void drop_api_schemas(doc::Value& document) {
  if (doc::text_in(document, "kind") == "CustomResourceDefinition") return drop_schemas_of_definition(document);
  if (document.find("swagger") == nullptr && document.find("openapi") == nullptr) return;
  for (const char* part : {"paths", "definitions", "components"})
    if (doc::Value* schemas = document.find(part)) replace_by_hash(*schemas);
}

}  // namespace railbed::check
