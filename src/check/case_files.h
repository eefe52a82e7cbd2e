// SPDX-License-Identifier: Apache-2.0
// For tests: files of testdata checked as `railbed check` does, with the machines that their first line names: `#
// facts: seed-six-cx7, lab` (Markdown: <!-- facts: … -->), machines of testdata/machines.
#pragma once

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/testdata.h"
#include "check/check.h"
#include "facts/fixture.h"

namespace railbed::check::testing_cases {

inline std::vector<facts::NodeFacts> facts_named_in(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  std::vector<facts::NodeFacts> nodes;
  const size_t at = line.find("facts: ");
  if (at == std::string::npos) return nodes;
  std::ranges::replace(line, ',', ' ');
  std::istringstream names(line.substr(at + 7));
  for (std::string name; names >> name && name != "-->";) {
    facts::NodeFacts node = facts::testing_fixture::facts_of(content(testdata() / "machines" / (name + ".machine")));
    node.node = name;
    node.labels["kubernetes.io/hostname"] = name;
    nodes.push_back(std::move(node));
  }
  return nodes;
}

inline Report report_of(const std::string& name, const std::string& text) {
  Settings settings;
  for (const char* network : {"10.128.0.0/14", "172.30.0.0/16"})
    settings.cluster_networks.push_back(IpPrefix::parse(network).value());
  return check({std::make_shared<doc::Source>(doc::Source{name, text})}, facts_named_in(text), settings);
}

inline std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::exists(folder))
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.is_regular_file()) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

}  // namespace railbed::check::testing_cases
