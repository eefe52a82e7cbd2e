// SPDX-License-Identifier: Apache-2.0
#include "check/findings/unread_lines.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace railbed::check {
namespace {

bool is_yaml_file(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".yml");
}

// A document of a file: from its "---" to the next one, without blank lines at the end.
struct DocumentLines {
  size_t begin = 0;
  size_t end = 0;
  int first = 0;  // lines, from 1
  int last = 0;
};

// All documents of a text, in one pass: a hostile file has tens of thousands.
std::vector<DocumentLines> document_lines_of(std::string_view text) {
  std::vector<DocumentLines> all;
  all.push_back({.begin = 0, .end = text.size(), .first = 1, .last = 1});
  int number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t next = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, next - at);
    ++number;
    if (line.starts_with("---")) {
      all.back().end = at;
      all.push_back({.begin = at, .end = text.size(), .first = number + 1, .last = number});
    }
    if (line.find_first_not_of(" \t\r\n") != std::string_view::npos) all.back().last = number;
    at = next;
  }
  return all;
}

// The one around a place.
const DocumentLines& document_at(const std::vector<DocumentLines>& all, size_t place) {
  const auto next = std::ranges::upper_bound(all, place, {}, &DocumentLines::begin);
  return next == all.begin() ? all.front() : *std::prev(next);
}

// Where the documents begin that were read, by source.
std::map<const doc::Source*, std::set<size_t>> begins_of(const Bundle& bundle) {
  std::map<const doc::Source*, std::set<size_t>> begins;
  const auto add = [&](const doc::Value& value) {
    if (value.span.known()) begins[value.span.source.get()].insert(value.span.offset);
  };
  for (const Document& document : bundle.documents) add(document.value);
  for (const Document& document : bundle.aside) add(document.value);
  for (const doc::Value& value : bundle.without_kind) add(value);
  return begins;
}

}  // namespace

void note_unread_lines(const Bundle& bundle, doc::Diagnostics& findings) {
  std::map<const doc::Source*, std::set<size_t>> begins;
  std::map<const doc::Source*, std::vector<DocumentLines>> documents;
  std::set<std::pair<const doc::Source*, size_t>> reported;
  for (doc::Diagnostic& finding : findings.mutable_all()) {
    const bool of_yaml = finding.layer == doc::Layer::kText && finding.severity == doc::Severity::kError;
    if (!of_yaml || !finding.span.known() || !is_yaml_file(finding.span.source->name)) continue;
    const doc::Source* source = finding.span.source.get();
    if (documents.empty()) begins = begins_of(bundle);
    if (!documents.contains(source)) documents.emplace(source, document_lines_of(source->text));
    const DocumentLines& lines = document_at(documents.at(source), finding.span.offset);
    if (lines.first >= lines.last || !reported.emplace(source, lines.begin).second) continue;
    const std::set<size_t>& read = begins[source];
    const auto first = read.lower_bound(lines.begin);
    if (first != read.end() && *first < lines.end) continue;
    finding.note(finding.span,
                 fmt::format("lines {} to {} are not checked until this is right", lines.first, lines.last));
  }
}

}  // namespace railbed::check
