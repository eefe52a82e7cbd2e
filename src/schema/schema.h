// SPDX-License-Identifier: Apache-2.0
// The fields of every kind that railbed supports: names, types and values.
//
// Why: the API server silently drops a field that it does not know, and a policy without `isRdma` provides VFs without
// RDMA. This is the only validator of types, values, unknown, misplaced and missing fields: `check`, `plan`, the
// operator and the definitions in deploy/crds say the same of a field. Schemas are data (src/schema/data/*.yaml, one
// block per kind; the head of core.yaml explains the notation), read once. Types and words follow the CRDs of the
// operators. Threading: immutable after the first call; any thread. Failure: findings with the ids of the family API
// (docs/check/schema.md): RB-API-002 unknown field (with the nearest name), 003 a field of another object ("belongs one
// level up"), 004 wrong type, 005 value not allowed, 006 missing; the same numbers in the families CNI and IPAM for the
// configurations of plugins, and 001 for an unknown type.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doc/diagnostic.h"
#include "doc/value.h"

namespace railbed::schema {

enum class FieldType : uint8_t {
  kAny,
  kText,
  kInteger,
  kNumber,
  kFlag,
  kIntegerOrText,  // "25%", 1
  kQuantity,       // "64Gi", 2
  kNetworks,       // a text: networks of a pod, in the short form or as JSON
  kObject,         // `fields`
  kMap,            // any key → `items`
  kList,           // of `items`
  kOneOrMany,      // `items`, or a list of them
  kJson,           // a text that holds JSON of the shape `items`
  kJsonList,       // a text that holds JSON values of the shape `items` with commas between them
  kYaml,           // a text that holds YAML of the shape `items`
};

struct Schema {
  // Another object whose fields are written here by mistake.
  struct Other {
    std::string name;  // "SriovNetwork"
    const Schema* schema = nullptr;
  };

  FieldType type = FieldType::kAny;
  std::string name;    // how messages call the object where its place does not say: "SriovNetwork"
  std::string path;    // how messages call the object from here on: "ipam"; empty: by its place
  std::string family;  // of the ids from here on: "RB-CNI"; empty: that of the object around it

  std::vector<std::string> choices;  // of a text; empty: any; "HugePages-*": all that begin so
  bool labels = false;               // of kMap: keys and texts are those of labels
  std::optional<int64_t> min;
  std::optional<int64_t> max;

  std::map<std::string, const Schema*, std::less<>> fields;  // of kObject; empty: any
  const Schema* items = nullptr;                 // of kObject: what keys that are not in `fields` hold, if any may
  std::vector<std::string> required;             // of kObject: in all versions of the definition
  std::vector<std::string> required_in_some;     // of kObject: not in all of them
  std::vector<std::vector<std::string>> one_of;  // of kObject: one of each group must be there
  std::string unless;                            // nothing is required where this field is
  bool may_be_empty = false;                     // {} needs none of the required fields
  std::vector<Other> also;

  // Of kObject, where a field says which fields there are (`type` of a plugin).
  std::string by;
  std::map<std::string, const Schema*, std::less<>> variants;
  std::vector<std::string> others;  // values that are known, and whose fields are not
  std::string what;                 // "CNI plugin"
  // Of kObject: another schema where the field `when` is there.
  std::string when;
  const Schema* then = nullptr;
};

// The schema of a kind; null when it is not known. A kind of the same name in another group is not known;
// without an apiVersion the name alone decides.
const Schema* find_schema(std::string_view api_version, std::string_view kind);
// The configuration of a CNI plugin ("sriov") or of an IPAM type ("whereabouts"); null when not known.
const Schema* find_plugin_schema(std::string_view type);
// The schema of the objects in `schema`: through lists, maps and embedded texts; null for other values.
const Schema* object_in(const Schema* schema);

// All kinds with a schema: "SriovNetwork", "Pod", …
std::vector<std::string> schema_kinds();

struct CheckOptions {
  // Reports what is wrong in a text of type kNetworks, whose grammar a room above knows; null: nothing does.
  void (*networks)(const doc::Value& text, doc::Diagnostics& out) = nullptr;
  bool status = true;  // the status of an object, too
};
// Compares `value` with `schema`; `path` is how messages name it ("spec", empty at the top). True: nothing but its
// status has errors. Objects are compared by api/compare.h, which knows all grammars.
bool check_schema(const doc::Value& value, const Schema& schema, const std::string& path, doc::Diagnostics& out,
                  const CheckOptions& options = {});

}  // namespace railbed::schema
