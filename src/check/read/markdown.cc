// SPDX-License-Identifier: Apache-2.0
#include "check/read/markdown.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace railbed::check {
namespace {

struct Fence {
  char mark = '`';  // or '~'
  size_t length = 0;
  size_t indent = 0;
  std::string_view info;
};

// `above`: the line before, which a row of ~ may underline.
std::optional<Fence> fence_in(std::string_view line, std::string_view above) {
  const size_t indent = line.find_first_not_of(" \t");
  if (indent == std::string_view::npos || (line[indent] != '`' && line[indent] != '~')) return std::nullopt;
  const char mark = line[indent];
  const size_t last = std::min(line.find_first_not_of(mark, indent), line.size());
  if (last - indent < 3) return std::nullopt;
  const std::string_view info = line.substr(last);
  if (mark == '`' && info.find('`') != std::string_view::npos) return std::nullopt;
  if (mark == '~' && last - indent > 3 && trimmed(info).empty() && is_underline(line, above)) return std::nullopt;
  return Fence{mark, last - indent, indent, language_word(info)};
}

bool ends_fence(const Fence& fence, std::string_view line) {
  return is_row_of_marks(line, fence.mark, fence.length);
}

}  // namespace

std::vector<Block> split_markdown(std::string_view text) {
  BlockList blocks(text);
  std::optional<Fence> fence;
  std::string_view above;
  for (size_t at = 0; at < text.size();) {
    const PageLine line = line_at(text, at, text.size());
    at = line.next;
    if (fence) {
      if (!ends_fence(*fence, line.text)) continue;
      blocks.close(line.begin, line.next);
      fence.reset();
      above = {};
      continue;
    }
    fence = fence_in(line.text, above);
    above = line.text;
    if (fence)
      blocks.open(line.begin, {.begin = line.next,
                               .end = line.next,
                               .indent = fence->indent,
                               .info = fence->info,
                               .opening = line.begin + fence->indent});
  }
  return blocks.finish();
}

bool has_fence(std::string_view text) {
  std::string_view above;
  for (size_t at = 0; at < text.size();) {
    const PageLine line = line_at(text, at, text.size());
    if (fence_in(line.text, above)) return true;
    above = line.text;
    at = line.next;
  }
  return false;
}

}  // namespace railbed::check
