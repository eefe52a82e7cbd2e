// SPDX-License-Identifier: Apache-2.0
#include "check/read/asciidoc.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace railbed::check {
namespace {

// The language in `[source,yaml]`, `[source%nowrap,yaml]`, `[,yaml]` or `[listing]`, which may be empty; nullopt for
// attributes of another block.
std::optional<std::string_view> source_attributes(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with("[") || !line.ends_with("]")) return std::nullopt;
  line = line.substr(1, line.size() - 2);
  const size_t comma = line.find(',');
  const std::string_view style = trimmed(line.substr(0, comma));
  const bool source =
      style.empty() || style.starts_with("%") || style.starts_with("source") || style.starts_with("listing");
  if (!source) return std::nullopt;
  return comma == std::string_view::npos ? std::string_view() : language_word(line.substr(comma + 1));
}

bool is_attributes(std::string_view line) {
  line = trimmed(line);
  return line.starts_with("[") && line.ends_with("]");
}

// What may stand between attributes and their block.
bool is_beside_attributes(std::string_view line) {
  line = trimmed(line);
  const bool title = line.size() > 1 && line[0] == '.' && line[1] != '.' && line[1] != ' ';
  return title || is_attributes(line) || (line.starts_with("//") && !line.starts_with("////"));
}

// A row that opens a block; `mark` closes it.
struct Delimiter {
  std::string_view row;
  std::string_view info;
};

std::optional<Delimiter> delimiter_in(std::string_view line) {
  const std::string_view row = trimmed(line);
  for (const char mark : {'-', '.', '/', '+'})
    if (is_row_of_marks(row, mark, 4))
      return Delimiter{row, mark == '/' || mark == '+' ? kPageComment : std::string_view()};
  if (!row.starts_with("```")) return std::nullopt;
  const size_t end = std::min(row.find_first_not_of('`'), row.size());
  if (row.find('`', end) != std::string_view::npos) return std::nullopt;
  return Delimiter{row.substr(0, end), language_word(row.substr(end))};
}

class AsciiDocSplitter {
 public:
  explicit AsciiDocSplitter(std::string_view text) : text_(text), blocks_(text) {}

  std::vector<Block> split() {
    for (size_t at = 0; at < text_.size();) {
      const PageLine line = line_at(text_, at, text_.size());
      at = line.next;
      if (blocks_.is_open())
        inside(line);
      else
        outside(line);
    }
    if (paragraph_) blocks_.close(text_.size(), text_.size());
    return blocks_.finish();
  }

 private:
  void inside(const PageLine& line) {
    const std::string_view row = trimmed(line.text);
    if (paragraph_ ? !row.empty() : row != row_) return;
    paragraph_ = false;
    blocks_.close(line.begin, line.next);
    above_ = {};
  }

  void outside(const PageLine& line) {
    const std::string_view row = trimmed(line.text);
    if (const auto delimiter = delimiter_in(line.text);
        delimiter && (attributes_ || !is_underline(line.text, above_))) {
      row_ = delimiter->row;
      open(line, line.next, attributes_ && delimiter->info.empty() ? *attributes_ : delimiter->info);
    } else if (attributes_ && !row.empty() && !is_beside_attributes(row) && is_line_of_code(row)) {
      paragraph_ = true;
      open(line, line.begin, *attributes_);
    } else if (const auto found = source_attributes(line.text)) {
      attributes_ = found;
    } else if (!is_beside_attributes(row)) {
      attributes_.reset();
    }
    above_ = line.text;
  }

  // `[source,yaml]` may stand directly above its lines; `--` and `====` open blocks of text.
  static bool is_line_of_code(std::string_view row) {
    return row != "--" && row != "+" && !is_row_of_marks(row, '=', 4) && !is_row_of_marks(row, '*', 4) &&
           !is_row_of_marks(row, '_', 4) && !row.starts_with("|===");
  }

  void open(const PageLine& line, size_t begin, std::string_view info) {
    const size_t indent = std::min(line.text.find_first_not_of(" \t"), line.text.size());
    attributes_.reset();
    blocks_.open(line.begin,
                 {.begin = begin, .end = begin, .indent = indent, .info = info, .opening = line.begin + indent});
  }

  std::string_view text_;
  BlockList blocks_;
  std::string_view row_;                        // that closes the open block
  bool paragraph_ = false;                      // the open block ends at an empty line
  std::optional<std::string_view> attributes_;  // of the lines above
  std::string_view above_;
};

}  // namespace

std::vector<Block> split_asciidoc(std::string_view text) {
  return AsciiDocSplitter(text).split();
}

}  // namespace railbed::check
