// SPDX-License-Identifier: Apache-2.0
// Networks for tests, from the JSON of their plugins. Only included by tests.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "attach/attach.h"
#include "doc/json.h"

namespace railbed::attach {

inline doc::Value json(const std::string& text) {
  doc::Diagnostics diagnostics;
  auto source = std::make_shared<doc::Source>(doc::Source{.name = "test", .text = text});
  auto value = doc::parse_json(source, diagnostics);
  EXPECT_TRUE(value.has_value()) << text;
  return value.value_or(doc::Value());
}

// Interface `name` on the network default/<name>.
inline InterfaceWanted wanted(const std::string& name, const std::vector<std::string>& plugins,
                              std::optional<plan::PoolVf> vf = std::nullopt) {
  InterfaceWanted one{.name = IfName{name}, .network = "default/" + name, .device = vf};
  for (const std::string& text : plugins) {
    doc::Value config = json(text);
    one.config.plugins.push_back({*config.find("type")->as_string(), config});
  }
  return one;
}

// A change of an interface that is there, by one plugin.
inline InterfaceWanted chained(const std::string& name, const std::string& plugin) {
  InterfaceWanted one = wanted(name, {plugin});
  one.chained = true;
  return one;
}

inline std::string message(const auto& result) {
  return result.has_value() ? "" : result.error().to_string();
}

}  // namespace railbed::attach
