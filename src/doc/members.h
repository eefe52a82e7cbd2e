// SPDX-License-Identifier: Apache-2.0
// Members of objects that railbed itself wrote, that were compared with their schema, or that are worth reading only if
// they have the expected type: a member of another type counts as absent.
//
// Why: records in the state, notes and output of tools are read in many places, one member at a time, and no user can
// correct them. Input of users or peers that no schema describes is read with Fields (fields.h), which reports errors.
// The writer omits empty values: empty texts, zero, false, empty lists.
// Threading: pure.
// Failure: none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doc/field.h"
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
// Absent differs from zero and false; numbers that are no int are absent.
std::optional<int> optional_number(const Value& object, std::string_view key);
std::optional<bool> optional_flag(const Value& object, std::string_view key);

// The same with their places; an absent one has the place of the object.
Field<std::string> text_field(const Value& object, std::string_view key);
Field<int> number_field(const Value& object, std::string_view key, int otherwise = 0);
Field<bool> flag_field(const Value& object, std::string_view key);

// --- below objects

// The value at "spec.template.x"; null where a part of the path is absent. Keys with dots need Value::find.
const Value* at(const Value& value, std::string_view path);
// The same as text, number and flag; empty or nullopt for a value of another type. A number in quotes counts as a
// number.
std::string_view text_at(const Value& value, std::string_view path);
std::optional<int64_t> integer_at(const Value& value, std::string_view path);
std::optional<bool> flag_at(const Value& value, std::string_view path);
// The text `key`, which may have dots, of the object there: text_in(at(pod, "metadata.labels"),
// "app.kubernetes.io/name").
std::string text_in(const Value* object, std::string_view key);
// The texts of the map there, such as labels; what is no text is passed over.
std::map<std::string, std::string> text_map_at(const Value& value, std::string_view path);

// --- writing

Value texts(const std::vector<std::string>& items);  // as a list
void put_text(Value& object, std::string_view key, const std::string& text);
void put_number(Value& object, std::string_view key, int64_t number);
void put_flag(Value& object, std::string_view key, bool flag);
void put_texts(Value& object, std::string_view key, const std::vector<std::string>& items);

}  // namespace railbed::doc
