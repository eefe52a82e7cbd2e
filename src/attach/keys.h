// SPDX-License-Identifier: Apache-2.0
// Typed reading of a plugin's configuration keys. Threading: pure. Failure: Invalid, naming network, plugin,
// key and what the value should look like.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/objects.h"
#include "base/error.h"

namespace railbed::attach {

class Keys {
 public:
  // Both must outlive this.
  Keys(const api::Plugin& plugin, const std::string& network) : plugin_(plugin), network_(network) {}

  bool has(std::string_view key) const { return plugin_.config.find(key) != nullptr; }
  const doc::Value* value(std::string_view key) const { return plugin_.config.find(key); }
  // Absent, null and "" are the same: no value.
  Result<std::optional<std::string>> text(std::string_view key) const;
  Result<std::optional<int>> number(std::string_view key, int least, int most) const;
  Result<std::optional<bool>> boolean(std::string_view key) const;  // also "on" and "off"
  // The position of the value in `choices`.
  Result<std::optional<size_t>> choice(std::string_view key, const std::vector<std::string>& choices) const;
  Result<std::optional<MacAddress>> mac(std::string_view key) const;

  // "network default/rail0, plugin sriov: …"
  Error invalid(const std::string& what) const;

 private:
  const api::Plugin& plugin_;
  const std::string& network_;
};

}  // namespace railbed::attach
