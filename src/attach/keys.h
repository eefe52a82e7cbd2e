// SPDX-License-Identifier: Apache-2.0
// Typed reading of a plugin's configuration keys, as defined in the table of types.
//
// Why: limits and allowed values are in the table once (schema/cni_types.h), and errors here have the same text as in
// `check`. Absent, null and "" are the same: no value. Slightly more is accepted than in `check`, since clusters use
// it: "on" and "true" for a flag, true for "on".
// Threading: pure.
// Failure: Invalid, naming network, plugin and key; Internal for a key that the table lacks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/objects.h"
#include "base/error.h"
#include "schema/cni_types.h"

namespace railbed::attach {

// Whether a key has a value: absent, null and "" are none.
bool is_given(const doc::Value* value);

// A word of a key's choices, and what it means.
template <typename Meaning>
struct Word {
  std::string_view text;
  Meaning meaning;
};

class Keys {
 public:
  // All must outlive this.
  Keys(const schema::CniType& type, const api::Plugin& plugin, const std::string& network)
      : type_(type), plugin_(plugin), network_(network) {}

  // Whether all keys are there that the type cannot do without, and no two contradict each other.
  Result<void> complete() const;

  const doc::Value* value(std::string_view key) const { return plugin_.config.find(key); }
  Result<std::optional<std::string>> text(std::string_view key) const;
  Result<std::optional<int>> number(std::string_view key) const;
  Result<std::optional<bool>> boolean(std::string_view key) const;
  // What the value means, one of the key's choices. A choice without a word is Internal (a test names it).
  template <typename Meaning, size_t N>
  Result<std::optional<Meaning>> choice(std::string_view key, const Word<Meaning> (&words)[N]) const {
    const std::optional<std::string> text = TRY(chosen(key));
    if (!text.has_value()) return std::optional<Meaning>{};
    for (const Word<Meaning>& word : words)
      if (word.text == *text) return std::optional<Meaning>(word.meaning);
    return fail(Code::kInternal, "type {} has no meaning for {} {}", type_.name, key, *text);
  }
  Result<const doc::Value*> object(std::string_view key) const;  // null where it is absent
  // Of a list; none where it is absent.
  Result<std::vector<std::string>> texts(std::string_view key) const;
  Result<std::optional<MacAddress>> mac(std::string_view key) const;

  // "network default/rail0, plugin sriov: …"
  Error invalid(const std::string& what) const;

 private:
  // The value, which is one of the key's choices.
  Result<std::optional<std::string>> chosen(std::string_view key) const;
  // The key's value; null where there is none.
  Result<const doc::Value*> given(std::string_view key) const;
  std::unexpected<Error> refused(std::string_view key) const;

  const schema::CniType& type_;
  const api::Plugin& plugin_;
  const std::string& network_;
};

}  // namespace railbed::attach
