// SPDX-License-Identifier: Apache-2.0
#include "doc/text.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace railbed::doc {

namespace {
// The length of the valid UTF-8 sequence at the start of `text`, 0 if there is none (Unicode 15, table 3-7).
size_t sequence_length(std::string_view text) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  auto within = [&](size_t i, int low, int high) { return byte(i) >= low && byte(i) <= high; };
  const int first = byte(0);
  if (first < 0x80) return text.empty() ? 0 : 1;
  if (first >= 0xC2 && first <= 0xDF) return within(1, 0x80, 0xBF) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const int low = first == 0xE0 ? 0xA0 : 0x80;
    const int high = first == 0xED ? 0x9F : 0xBF;
    return within(1, low, high) && within(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const int low = first == 0xF0 ? 0x90 : 0x80;
    const int high = first == 0xF4 ? 0x8F : 0xBF;
    return within(1, low, high) && within(2, 0x80, 0xBF) && within(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}
}  // namespace

std::optional<size_t> first_invalid_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    // Skips eight bytes of ASCII at once, which nearly all of a manifest is.
    if (uint64_t eight = 0; i + sizeof eight <= text.size()) {
      std::memcpy(&eight, text.data() + i, sizeof eight);
      if ((eight & 0x8080808080808080) == 0) {
        i += sizeof eight;
        continue;
      }
    }
    const size_t length = sequence_length(text.substr(i, 4));
    if (length == 0) return i;
    i += length;
  }
  return std::nullopt;
}

void append_utf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

std::string as_utf8(std::string_view text) {
  std::string out;
  while (const std::optional<size_t> invalid = first_invalid_utf8(text)) {
    out.append(text.substr(0, *invalid)).append("\xEF\xBF\xBD");
    text.remove_prefix(*invalid + 1);
  }
  return out.append(text);
}

std::string printable(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const size_t length = sequence_length(text.substr(i, 4));
    const bool c1_control = length == 2 && c == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (length == 0)
      out += "\xEF\xBF\xBD";
    else if ((c < 0x20 && c != '\t') || c == 0x7F)
      out += fmt::format("\\x{:02x}", c);
    else if (c1_control)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i + 1]));
    else
      out += text.substr(i, length);
    i += std::max<size_t>(length, 1);
  }
  return out;
}

LineIndex::LineIndex(SourcePtr source) : source_(std::move(source)), line_starts_{0} {
  const std::string& text = source_->text;
  for (size_t i = text.find('\n'); i != std::string::npos; i = text.find('\n', i + 1))
    line_starts_.push_back(static_cast<uint32_t>(i + 1));
}

Span LineIndex::at(size_t offset, size_t length) const {
  const std::string& text = source_->text;
  offset = std::min(offset, text.size());
  auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), static_cast<uint32_t>(offset));
  size_t end = next == line_starts_.end() ? text.size() : *next - 1;
  if (end > offset && text[end - 1] == '\r') --end;
  const auto line = next - line_starts_.begin();
  const size_t start = *(next - 1);
  return {source_, static_cast<int>(line), static_cast<int>(offset - start + 1),
          static_cast<int>(std::min(length, end < offset ? 0 : end - offset)), static_cast<uint32_t>(offset)};
}

std::string_view line_text(std::string_view text, int line) {
  for (int i = 1; i < line; ++i) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

std::optional<size_t> KeyIndex::find(const Value::Object& object, std::string_view key) {
  if (object.size() <= 16) {
    for (size_t i = 0; i < object.size(); ++i)
      if (object[i].key == key) return i;
    return std::nullopt;
  }
  for (; indexed_ < object.size(); ++indexed_) positions_.emplace(object[indexed_].key, indexed_);
  auto found = positions_.find(std::string(key));
  if (found == positions_.end()) return std::nullopt;
  return found->second;
}

}  // namespace railbed::doc
