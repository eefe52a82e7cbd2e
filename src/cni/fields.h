// SPDX-License-Identifier: Apache-2.0
// Members of a JSON object that came from a runtime or a plugin, by name and kind.
//
// Why: every message about one says file:line:column, the member's name, and what it should have been. Null counts as
// absent, as the reference library has it. Threading: pure. Failure: the code that the reader was made with.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cni/failure.h"
#include "doc/value.h"

namespace railbed::cni {

// JSON text as an object; `name` stands for the text in messages. Code 6.
Outcome<doc::Value> read_object(const std::string& json, std::string_view name);

class Fields {
 public:
  // `where` is the object's name in messages ("ips[0]"); empty for the outermost.
  Fields(const doc::Value& object, std::string where, int code)
      : object_(object), where_(std::move(where)), code_(code) {}

  const doc::Value* find(std::string_view key) const;     // null also where the member is null
  Outcome<std::string> text(std::string_view key) const;  // empty where absent
  Outcome<std::optional<int>> number(std::string_view key) const;
  Outcome<std::vector<std::string>> texts(std::string_view key) const;
  Outcome<const doc::Value::Array*> array(std::string_view key) const;  // null where absent
  Outcome<const doc::Value*> object(std::string_view key) const;        // null where absent
  Outcome<bool> flag(std::string_view key) const;  // true, false, "true", "false"; false where absent

  std::string name_of(std::string_view key) const;
  // "stdin:3:5: ips[0].address: " and the message.
  std::unexpected<Failure> wrong(const doc::Value& at, std::string_view key, std::string_view message) const;

 private:
  const doc::Value& object_;
  std::string where_;
  int code_;
};

}  // namespace railbed::cni
