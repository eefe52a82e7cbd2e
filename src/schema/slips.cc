// SPDX-License-Identifier: Apache-2.0
#include "schema/slips.h"

#include <algorithm>
#include <cctype>

namespace railbed::schema {

namespace {

// The words of "deviceType", in lower case.
std::vector<std::string> words_of_name(std::string_view name) {
  std::vector<std::string> words;
  bool upper = true;
  for (const unsigned char c : name) {
    const bool begins = std::isupper(c) != 0 && !upper;
    upper = std::isupper(c) != 0;
    if (words.empty() || begins) words.emplace_back();
    words.back() += static_cast<char>(std::tolower(c));
  }
  return words;
}

// "conf" of "config", "devType" of "deviceType": each word a beginning of the other's, or the same.
bool is_short_for(std::string_view name, std::string_view known) {
  constexpr size_t kShortest = 3;
  const std::vector<std::string> shorter = words_of_name(name);
  const std::vector<std::string> longer = words_of_name(known);
  return name.size() < known.size() && shorter.size() == longer.size() &&
         std::ranges::equal(
             shorter, longer,
             [](const std::string& one, const std::string& other) {
               return one == other || (one.size() >= kShortest && other.starts_with(one));
             });
}

}  // namespace

bool is_one_slip(std::string_view name, std::string_view known) {
  if (name.size() == known.size() + 1 && name.starts_with(known)) return name.back() == known.back();
  if (name.size() == known.size() + 1 && name.ends_with(known)) return name.front() == known.front();
  return doc::are_one_slip_apart(name, known);
}

std::string long_form_of(std::string_view name, const std::vector<std::string_view>& known) {
  std::string found;
  for (const std::string_view one : known) {
    if (!is_short_for(name, one)) continue;
    if (!found.empty()) return "";
    found = one;
  }
  return found;
}

void rename_key(doc::Diagnostic& finding, const doc::Value::Member& member, const std::string& key) {
  doc::Span span = member.key_span;
  if (!span.known() || span.length <= 0) return;
  const std::string_view written = std::string_view(span.source->text).substr(span.offset, span.length);
  const size_t at = written.find(member.key);
  if (at == std::string_view::npos || written.size() > member.key.size() + 4) return;
  span.offset += static_cast<uint32_t>(at);
  span.column += static_cast<int>(at);
  span.length = static_cast<int>(member.key.size());
  finding.with_edit(span, key);
}

}  // namespace railbed::schema
