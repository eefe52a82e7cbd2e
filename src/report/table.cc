// SPDX-License-Identifier: Apache-2.0
#include "report/table.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "doc/text.h"

namespace railbed::report {
namespace {

struct Range {
  uint32_t first;
  uint32_t last;
};
// The blocks that occur in names and messages, not all of Unicode.
constexpr std::array<Range, 5> kZeroWidth = {
    {{0x0300, 0x036f}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}}};
constexpr std::array<Range, 8> kWide = {{{0x1100, 0x115f},
                                         {0x2e80, 0xa4cf},
                                         {0xac00, 0xd7a3},
                                         {0xf900, 0xfaff},
                                         {0xfe30, 0xfe6f},
                                         {0xff00, 0xff60},
                                         {0x1f300, 0x1faff},
                                         {0x20000, 0x3fffd}}};

template <size_t N>
bool within(const std::array<Range, N>& ranges, uint32_t point) {
  return std::ranges::any_of(ranges, [&](Range r) { return point >= r.first && point <= r.last; });
}

// Removes the next code point from `text`; a byte that begins none counts as one.
uint32_t take_point(std::string_view& text) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  uint8_t lead = byte(0);
  size_t length = lead >= 0xf0 && lead < 0xf8 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (lead >= 0xf8 || (lead & 0xc0) == 0x80) length = 1;
  uint32_t point = length == 1 ? lead : lead & (0x7fU >> length);
  for (size_t i = 1; i < length; ++i) {
    if (i >= text.size() || (byte(i) & 0xc0) != 0x80) {
      length = 1;
      point = lead;
      break;
    }
    point = point << 6 | (byte(i) & 0x3f);
  }
  text.remove_prefix(length);
  return point;
}

// Without control characters: none may reach the terminal, end the row or shift the columns.
std::string one_line(std::string_view words) {
  std::string text = doc::printable(words);
  for (size_t tab = text.find('\t'); tab != std::string::npos; tab = text.find('\t', tab))
    text.replace(tab, 1, "\\x09");
  return text;
}

}  // namespace

std::string Cell::text() const {
  if (const auto* words = std::get_if<std::string>(&value)) return one_line(*words);
  if (const auto* whole = std::get_if<int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{:g}", *real);
  return "-";
}

void Table::row(std::vector<Cell> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::to_text(Colour colour, int indent) const {
  std::vector<size_t> widths(columns_.size());
  std::vector<bool> used(columns_.size());
  for (size_t c = 0; c < columns_.size(); ++c) {
    widths[c] = display_width(columns_[c].title);
    for (const std::vector<Cell>& cells : rows_) {
      used[c] = used[c] || !std::holds_alternative<std::monostate>(cells[c].value);
      widths[c] = std::max(widths[c], display_width(cells[c].text()));
    }
  }
  std::string out;
  auto line = [&](auto&& text_of, auto&& paint_of) {
    std::string blanks(static_cast<size_t>(indent), ' ');  // held back until more text follows
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (!used[c]) continue;
      std::string text = text_of(c);
      std::string padding(widths[c] - display_width(text), ' ');
      if (columns_[c].align == Align::kRight) blanks += padding;
      out += blanks + painted(text, paint_of(c), colour);
      blanks = (columns_[c].align == Align::kLeft ? padding : std::string()) + "  ";
    }
    out += '\n';
  };
  line([&](size_t c) { return columns_[c].title; }, [](size_t) { return Paint::kStrong; });
  for (const std::vector<Cell>& cells : rows_)
    line([&](size_t c) { return cells[c].text(); }, [&](size_t c) { return cells[c].paint; });
  return out;
}

doc::Value Table::to_value() const {
  doc::Value list = doc::Value::array();
  for (const std::vector<Cell>& cells : rows_) {
    doc::Value object = doc::Value::object();
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].key.empty()) continue;
      if (const auto* words = std::get_if<std::string>(&cells[c].value)) object.set(columns_[c].key, *words);
      if (const auto* whole = std::get_if<int64_t>(&cells[c].value)) object.set(columns_[c].key, *whole);
      if (const auto* real = std::get_if<double>(&cells[c].value)) object.set(columns_[c].key, *real);
    }
    list.push(std::move(object));
  }
  return list;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    uint32_t point = take_point(text);
    if (!within(kZeroWidth, point)) width += within(kWide, point) ? 2 : 1;
  }
  return width;
}

}  // namespace railbed::report
