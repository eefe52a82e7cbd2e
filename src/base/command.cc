// SPDX-License-Identifier: Apache-2.0
#include "base/command.h"

#include <algorithm>
#include <cstdint>

namespace railbed {
namespace {

struct CodePoint {
  uint32_t value = 0;
  size_t bytes = 0;  // 0: not UTF-8
};

// Of the first character (RFC 3629: no overlong forms, no surrogates, up to U+10FFFF).
CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](size_t i) -> uint32_t { return static_cast<unsigned char>(text[i]); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  uint32_t value = lead & (0x7FU >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3F);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[bytes] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return {};
  return {value, bytes};
}

// What a terminal obeys or shows as nothing, and what makes a line look like another one (CVE-2021-42574).
bool deceives(uint32_t c) {
  const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0);
  const bool invisible = c == 0xAD || c == 0x61C || (c >= 0x200B && c <= 0x200F) || c == 0xFEFF;
  const bool separator = c == 0x2028 || c == 0x2029;
  const bool direction = (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F);
  const bool tag = c >= 0xE0000 && c <= 0xE007F;
  return control || invisible || separator || direction || tag;
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
}

// In double quotes; what cannot be typed as "\x0a" per byte.
std::string escaped(std::string_view word) {
  std::string out = "\"";
  while (!word.empty()) {
    const CodePoint c = first_code_point(word);
    const size_t bytes = std::max<size_t>(c.bytes, 1);
    if (c.bytes != 0 && !deceives(c.value))
      out += word.substr(0, bytes);
    else
      for (const char one : word.substr(0, bytes)) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(one));
    word.remove_prefix(bytes);
  }
  return out + '"';
}

}  // namespace

bool can_be_typed(std::string_view word) {
  while (!word.empty()) {
    const CodePoint c = first_code_point(word);
    if (c.bytes == 0 || deceives(c.value)) return false;
    word.remove_prefix(c.bytes);
  }
  return true;
}

std::string shell_quoted(std::string_view word) {
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string_view("'\\''") : std::string_view(&c, 1);
  return out + '\'';
}

Command& Command::operand(std::string_view name) {
  if (name.starts_with('-') && !ended_) {
    argv_.emplace_back("--");
    ended_ = true;
  }
  return value(name);
}

Command& Command::path(std::string_view name) {
  return value(name.starts_with('-') ? fmt::format("./{}", name) : std::string(name));
}

Command& Command::option(std::string_view name, std::string_view value) {
  argv_.push_back(fmt::format("{}={}", name, value));
  return *this;
}

Command& Command::words(std::initializer_list<std::string_view> more) {
  argv_.insert(argv_.end(), more.begin(), more.end());
  return *this;
}

Command& Command::value(std::string_view word) {
  argv_.emplace_back(word);
  return *this;
}

std::string Command::to_string() const {
  std::string line;
  for (const std::string& word : argv_) {
    if (!can_be_typed(word)) return fmt::format("name cannot be typed: {}", escaped(word));
    line += fmt::format("{}{}", line.empty() ? "" : " ", shell_quoted(word));
  }
  return line;
}

}  // namespace railbed
