// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "check/data_files.h"
#include "doc/yaml.h"

namespace railbed::check {

std::string_view data_file(std::string_view name) {
  const auto files = data_files();
  const auto found = std::ranges::find(files, name, &EmbeddedFile::name);
  return found == files.end() ? std::string_view() : found->text;
}

doc::Value data_document(std::string_view name) {
  doc::Diagnostics problems;
  auto documents = doc::parse_yaml(
      std::make_shared<doc::Source>(doc::Source{std::string(name), std::string(data_file(name))}), problems);
  return documents.empty() ? doc::Value() : std::move(documents.front());
}

}  // namespace railbed::check
