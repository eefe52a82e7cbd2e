// SPDX-License-Identifier: Apache-2.0
#include "check/read/text_parts.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>

#include "base/text.h"

namespace railbed::check {
namespace {

// Whether a line ends a part: between documents, at a fence of a page.
bool ends_a_part(std::string_view line) {
  const std::string_view content = trimmed(line);
  return content.starts_with("---") || content.starts_with("```") || content.starts_with("~~~");
}

bool begins_an_object(std::string_view content) {
  return (content.starts_with("apiVersion:") || content.starts_with("\"apiVersion\"")) &&
         content.find("kustomize.config.k8s.io/") == std::string_view::npos;
}

}  // namespace

std::vector<TextParts::Part> TextParts::parts_of(const doc::Source& source) {
  constexpr size_t kNone = std::numeric_limits<size_t>::max();
  const std::string_view text = source.text;
  std::vector<Part> parts{{.begin = 0, .column = kNone}};
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const size_t first = std::min(line.find_first_not_of("{- \t"), line.size());
    if (ends_a_part(line)) parts.push_back({.begin = at, .column = kNone});
    if (begins_an_object(line.substr(first))) parts.back().column = std::min(parts.back().column, first);
    at = end + 1;
  }
  return parts;
}

bool TextParts::is_in_an_object(const doc::Span& place) {
  if (!place.known()) return false;
  auto found = parts_.find(place.source.get());
  if (found == parts_.end()) found = parts_.emplace(place.source.get(), parts_of(*place.source)).first;
  const std::vector<Part>& parts = found->second;  // the first one begins with the text
  const auto next = std::ranges::upper_bound(parts, size_t{place.offset}, {}, &Part::begin);
  return std::prev(next)->column <= static_cast<size_t>(std::max(place.column - 1, 0));
}

}  // namespace railbed::check
