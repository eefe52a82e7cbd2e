// SPDX-License-Identifier: Apache-2.0
#include "check/read/blanks.h"

#include <cctype>
#include <string_view>
#include <vector>

namespace railbed::check {
namespace {

// Whether the line has "key: …" or "key:", which a manifest has and prose has not.
bool is_of_manifest(std::string_view content) {
  size_t end = 0;
  while (end < content.size() && (std::isalnum(static_cast<unsigned char>(content[end])) != 0 ||
                                  std::string_view("_./-").find(content[end]) != std::string_view::npos))
    ++end;
  if (end == 0 || end == content.size() || content[end] != ':') return false;
  const std::string_view rest = content.substr(end + 1);
  return rest.empty() || rest.starts_with(' ') || rest.starts_with(kNoBreak) || rest.starts_with('\r');
}

// The offsets of no-break spaces in the indentation of a line; empty if the line is not part of a manifest.
std::vector<size_t> no_breaks_in(std::string_view line) {
  std::vector<size_t> found;
  bool item = false;
  size_t at = 0;
  while (at < line.size()) {
    if (line[at] == ' ') {
      ++at;
    } else if (line.substr(at).starts_with(kNoBreak)) {
      found.push_back(at);
      at += kNoBreak.size();
    } else if (line.substr(at).starts_with("- ") || line.substr(at).starts_with("-\xC2\xA0")) {
      item = item || !found.empty();
      ++at;  // elements of a list begin the same way
    } else {
      break;
    }
  }
  if (!found.empty() && !item && !is_of_manifest(line.substr(at))) found.clear();
  return found;
}

}  // namespace

bool report_no_break_spaces(const doc::SourcePtr& source, doc::Diagnostics& out) {
  const std::string_view text = source->text;
  if (text.find(kNoBreak) == std::string_view::npos || text.find("apiVersion:") == std::string_view::npos) return false;
  doc::Diagnostic* reported = nullptr;
  int number = 1;
  for (size_t begin = 0; begin < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    for (const size_t at : no_breaks_in(text.substr(begin, end - begin))) {
      const size_t offset = begin + at;
      if (reported == nullptr)
        reported = &out.error("RB-YAML-005",
                              {source, number, static_cast<int>(at) + 1, static_cast<int>(kNoBreak.size()),
                               static_cast<uint32_t>(offset)},
                              "no-break spaces (U+00A0) are used to indent; YAML takes them for a part of the key")
                        .with_fix("replace them by blanks, here and below")
                        .of(doc::Layer::kText);
      reported->edits.push_back({source, offset, kNoBreak.size(), " ", {}});
    }
    begin = end + 1;
  }
  return reported != nullptr;
}

}  // namespace railbed::check
