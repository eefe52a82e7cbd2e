// SPDX-License-Identifier: Apache-2.0
// The fields of every kind that railbed understands: which there are, of which type, with which values.
//
// Why: the API server drops a field that it does not know, and a policy without `isRdma` gives out VFs
// without RDMA; nobody is told. Schemas are data (src/check/data/schema/*.yaml, one block per kind), read
// once. Types and words follow the CRDs of the operators. Threading: immutable after the first call; any
// thread. Failure: findings with the ids of the family API (docs/manifests.md): RB-API-002 unknown field
// (with the nearest name), 003 a field of another object ("belongs one level up"), 004 wrong type, 005 value
// not allowed, 006 missing.
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

namespace railbed::check {

enum class FieldType : uint8_t {
  kAny,
  kText,
  kInteger,
  kNumber,
  kFlag,
  kIntegerOrText,  // "25%", 1
  kQuantity,       // "64Gi", 2
  kObject,         // `fields`
  kMap,            // any key → `items`
  kList,           // of `items`
  kJson,           // a text that holds JSON of the shape `items`
  kYaml,           // a text that holds YAML of the shape `items`
};

struct Schema {
  FieldType type = FieldType::kAny;
  std::vector<std::string> choices;  // of a text; empty: any
  std::optional<int64_t> min;
  std::optional<int64_t> max;
  bool required = false;
  std::map<std::string, const Schema*, std::less<>> fields;  // of kObject; empty: any
  const Schema* items = nullptr;
};

// The schema of a kind; null when it is not known. A kind of the same name in another group is not known.
const Schema* find_schema(std::string_view api_version, std::string_view kind);
// The fields of a pod's spec, for templates wherever they stand.
const Schema& pod_spec_schema();
// The configuration of a CNI plugin ("sriov") or of an IPAM type ("whereabouts"); null when not known.
const Schema* find_plugin_schema(std::string_view type);

// Compares `value` with `schema`; `path` is how messages name it ("spec", empty at the top).
void check_schema(const doc::Value& value, const Schema& schema, const std::string& path,
                  doc::Diagnostics& out);

}  // namespace railbed::check
