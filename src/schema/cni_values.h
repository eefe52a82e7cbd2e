// SPDX-License-Identifier: Apache-2.0
// What is wrong with the values of a CNI plugin's configuration, by the table of types alone (cni_types.h).
//
// Why without a schema: attaching looks at single keys and reads no data files; it rejects a value in the words in
// which `check` reports it. What a schema cannot say (addresses, reserved numbers, an empty text that is required,
// pairs of keys) is found here for both. Threading: pure functions. Failure: sentences, or findings of the family of
// `fields`.
#pragma once

#include <string>
#include <string_view>

#include "doc/fields.h"
#include "schema/cni_types.h"

namespace railbed::schema {

// The value of one key of a configuration; its type, too, unless the family of `fields` is after_schema().
void check_key(doc::Fields& fields, const CniKey& key);
// Keys of one plugin that do not go together.
void check_pairs(std::string_view type, const doc::Value& config, doc::Fields& fields);

// What is wrong with the value that `config` has for `key`, as check says it ("max_tx_rate must be 0 to 1000000, found
// 2000000"), or that it is missing; empty where it is right.
std::string key_problem(const doc::Value& config, const CniKey& key);
// The same of keys that do not go together.
std::string pair_problem(std::string_view type, const doc::Value& config);

}  // namespace railbed::schema
