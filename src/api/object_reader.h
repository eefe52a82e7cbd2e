// SPDX-License-Identifier: Apache-2.0
// Reads the members of one object, field by field, and tells about the rest.
//
// Why: every kind has the same questions to its fields: is it there, is its type right, is the value allowed,
// and which fields are there that nobody knows. A reader is made for an object, asked for each field, and
// finished; what was never asked for is unknown, and the message names what was probably meant.
// Ids are made of a family and a number that means the same in all of them (families RB-API, RB-CNI, RB-ANN,
// RB-IPAM): 002 unknown field, 003 field that belongs elsewhere, 004 wrong type, 005 value not allowed, 006
// field missing. Threading: values. Failure: diagnostics; a field with an error has its default value.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/field.h"
#include "doc/diagnostic.h"
#include "doc/value.h"

namespace railbed::api {

// A field that people write in the wrong object, and the sentence that says where it belongs.
struct Elsewhere {
  std::string_view key;
  std::string_view where;  // "is a field of spec, not of spec.nicSelector"
  std::string_view fix;
};

class ObjectReader {
 public:
  // `path` names the object in messages ("spec.nicSelector"); empty at the top.
  ObjectReader(const doc::Value& object, std::string path, std::string family, doc::Diagnostics& out);

  // The value of a field, which is known from now on; null where it is absent or null.
  const doc::Value* take(std::string_view key);
  Field<std::string> text(std::string_view key);
  Field<int> integer(std::string_view key, int min, int max, int otherwise = 0);
  Field<bool> boolean(std::string_view key, bool otherwise = false);
  // One of `allowed`, as written.
  Field<std::string> choice(std::string_view key, std::span<const std::string_view> allowed);
  Field<std::string> choice(std::string_view key, std::initializer_list<std::string_view> allowed) {
    return choice(key, std::span(allowed.begin(), allowed.size()));
  }
  const doc::Value* object(std::string_view key);
  const doc::Value::Array* list(std::string_view key);
  // A field that is known and of no interest here.
  void ignore(std::initializer_list<std::string_view> keys);

  // An error when the field is absent; it shows a field with nearly that name, if there is one.
  void require(std::string_view key);
  // An error with this message: none of the fields `keys` is there. It stands at a field with nearly such a
  // name, or at one of `foreign`, if there is one; that field is told with it and known from now on.
  void require_one_of(const std::vector<std::string_view>& keys, const std::vector<std::string_view>& foreign,
                      std::string message);
  doc::Diagnostic& error(int number, doc::Span span, std::string message);
  doc::Diagnostic& warning(int number, doc::Span span, std::string message);
  // "spec.numVfs"
  std::string path_of(std::string_view key) const;
  doc::Span span() const { return object_.span; }
  Field<std::string> text_of(const doc::Value& value, const std::string& name);
  // `key: value` in the language of the object, for a fix; `value` is the text as it is written there.
  std::string line(std::string_view key, std::string_view value) const;

  // Tells about the fields that were not asked for.
  void finish(const std::vector<Elsewhere>& elsewhere = {});

 private:
  doc::Diagnostic& typed(int number, doc::Diagnostic& told) const;
  void wrong_type(const doc::Value& value, const std::string& name, std::string_view expected, std::string fix = "");

  const doc::Value& object_;
  std::string path_;
  std::string family_;
  doc::Diagnostics& out_;
  std::vector<std::string_view> known_;
};

// What the finding with this number of a family says.
doc::Says said_by(int number);

// "a, b or c", each in quotes.
std::string alternatives(const std::vector<std::string_view>& names);

}  // namespace railbed::api
