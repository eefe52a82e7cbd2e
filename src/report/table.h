// SPDX-License-Identifier: Apache-2.0
// A typed table: filled once, printed as text for people or as JSON for programs.
//
// Why: every verb prints tables; one place handles alignment, UTF-8 widths, colours and absent values. Cells may
// contain external input (names of devices, hosts, pods): in text, control characters are shown as escapes
// (doc::printable). Text is column-aligned and never truncated, since it is also piped into grep; colours are used only
// if the caller says that there is a terminal.
// Threading: plain value.
// Failure: none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/paint.h"
#include "doc/value.h"

namespace railbed::report {

enum class Align : uint8_t { kLeft, kRight };
using railbed::Colour;
using railbed::Paint;

struct Column {
  std::string title;  // "PCI ADDRESS"
  std::string key;    // of the JSON members; empty: text only
  Align align = Align::kLeft;
};

// One value of a row. An absent value prints as "-" and is left out of JSON.
struct Cell {
  std::variant<std::monostate, std::string, int64_t, double> value;
  Paint paint = Paint::kNone;

  Cell() = default;
  Cell(std::string text, Paint how = Paint::kNone) : paint(how) {
    if (!text.empty()) value = std::move(text);
  }
  Cell(std::string_view text, Paint how = Paint::kNone) : Cell(std::string(text), how) {}
  Cell(const char* text, Paint how = Paint::kNone) : Cell(std::string(text), how) {}
  Cell(int number, Paint how = Paint::kNone) : value(int64_t{number}), paint(how) {}
  Cell(int64_t number, Paint how = Paint::kNone) : value(number), paint(how) {}
  Cell(double number, Paint how = Paint::kNone) : value(number), paint(how) {}

  std::string text() const;  // "-" when absent; doubles in the shortest form that parses to the same value
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Missing cells at the end count as absent. Cells beyond the last column are a defect and are ignored.
  void row(std::vector<Cell> cells);
  size_t rows() const { return rows_.size(); }
  bool empty() const { return rows_.empty(); }

  // A line of titles, then a line per row, each ending in a newline and without blanks before it. Columns without any
  // value are left out. Every line begins with `indent` blanks.
  std::string to_text(Colour colour = Colour::kNo, int indent = 0) const;
  // An array of objects, by the columns' keys.
  doc::Value to_value() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// How many terminal columns a UTF-8 text takes: combining marks none, East Asian wide characters two. Invalid bytes
// count one each.
size_t display_width(std::string_view text);

}  // namespace railbed::report
