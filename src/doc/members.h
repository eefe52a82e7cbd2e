// SPDX-License-Identifier: Apache-2.0
// Members of objects that railbed itself wrote, or that are worth reading only if they have the expected type: a member
// of another type counts as absent.
//
// Why: records in the state, notes and output of tools are read in many places, one member at a time, and no user can
// correct them. Input of users or peers is read with Fields (fields.h), which reports errors. The writer omits empty
// values: empty texts, zero, false, empty lists.
// Threading: pure.
// Failure: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doc/value.h"

namespace railbed::doc {

// Of a value that is no object, all of these find nothing.
std::string text_in(const Value& object, std::string_view key);
int number_in(const Value& object, std::string_view key);
bool flag_in(const Value& object, std::string_view key);
// The texts of a list; what is no text in it is passed over.
std::vector<std::string> texts_in(const Value& object, std::string_view key);
// Null where there is no such object (list).
const Value* object_in(const Value& object, std::string_view key);
const Value::Array* list_in(const Value& object, std::string_view key);
// Absent is told apart from zero and false; numbers that are no int are absent.
std::optional<int> optional_number(const Value& object, std::string_view key);
std::optional<bool> optional_flag(const Value& object, std::string_view key);

Value texts(const std::vector<std::string>& items);  // as a list
void put_text(Value& object, std::string_view key, const std::string& text);
void put_number(Value& object, std::string_view key, int64_t number);
void put_flag(Value& object, std::string_view key, bool flag);
void put_texts(Value& object, std::string_view key, const std::vector<std::string>& items);
void put_optional(Value& object, std::string_view key, const std::optional<int>& number);
void put_optional(Value& object, std::string_view key, const std::optional<bool>& flag);

}  // namespace railbed::doc
