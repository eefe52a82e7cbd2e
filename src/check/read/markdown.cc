// SPDX-License-Identifier: Apache-2.0
#include "check/read/markdown.h"

#include <algorithm>
#include <optional>

namespace railbed::check {

namespace {

struct Fence {
  char mark = '`';  // or '~', or '-' for an AsciiDoc listing
  size_t length = 0;
  size_t indent = 0;
  std::string_view info;
};

std::string_view trimmed_line(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// "yaml" from "yaml", "{.yaml}", "yaml:file.yaml" or "yaml title=x".
std::string_view language_word(std::string_view info) {
  info = trimmed_line(info);
  while (!info.empty() && (info[0] == '{' || info[0] == '.')) info.remove_prefix(1);
  return info.substr(0, info.find_first_of(" \t,:}{"));
}

std::optional<Fence> opening(std::string_view line) {
  const size_t indent = line.find_first_not_of(" \t");
  if (indent == std::string_view::npos || (line[indent] != '`' && line[indent] != '~')) return std::nullopt;
  const char mark = line[indent];
  const size_t last = std::min(line.find_first_not_of(mark, indent), line.size());
  if (last - indent < 3) return std::nullopt;
  const std::string_view info = line.substr(last);
  if (mark == '`' && info.find('`') != std::string_view::npos) return std::nullopt;
  return Fence{mark, last - indent, indent, language_word(info)};
}

// The language in `[source,yaml]` or `[,yaml]`, which may be empty.
std::optional<std::string_view> listing_attributes(std::string_view line) {
  line = trimmed_line(line);
  if (!line.starts_with("[") || !line.ends_with("]")) return std::nullopt;
  line = line.substr(1, line.size() - 2);
  const size_t comma = line.find(',');
  const std::string_view style = trimmed_line(line.substr(0, comma));
  if (!style.empty() && !style.starts_with("source") && !style.starts_with("listing")) return std::nullopt;
  return comma == std::string_view::npos ? std::string_view() : language_word(line.substr(comma + 1));
}

bool is_dashes(std::string_view line) {
  line = trimmed_line(line);
  return line.size() >= 4 && line.find_first_not_of('-') == std::string_view::npos;
}

bool closes(const Fence& fence, std::string_view line) {
  line = trimmed_line(line);
  const bool only_marks = !line.empty() && line.find_first_not_of(fence.mark) == std::string_view::npos;
  return only_marks && (fence.mark == '-' ? line.size() == fence.length : line.size() >= fence.length);
}

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  std::vector<Block> split() {
    for (size_t at = 0; at < text_.size();) {
      const PageLine line = line_at(text_, at, text_.size());
      at = line.next;
      if (fence_) {
        if (closes(*fence_, line.text)) close(line.begin, line.next);
        continue;
      }
      if (auto fence = opens(line.text)) open(*fence, line);
      attributes_ = listing_attributes(line.text);
    }
    if (fence_) {
      blocks_.back().end = text_.size();
      blocks_.back().closed = false;
    } else {
      end_of_text(text_.size());
    }
    return std::move(blocks_);
  }

 private:
  std::optional<Fence> opens(std::string_view line) const {
    if (auto fence = opening(line)) return fence;
    if (!attributes_ || !is_dashes(line)) return std::nullopt;
    return Fence{'-', trimmed_line(line).size(), std::min(line.find('-'), line.size()), *attributes_};
  }

  void open(const Fence& fence, const PageLine& line) {
    end_of_text(line.begin);
    fence_ = fence;
    blocks_.push_back({.begin = line.next,
                       .end = line.next,
                       .fence = true,
                       .indent = fence.indent,
                       .info = fence.info,
                       .opening = line.begin + fence.indent});
  }

  void close(size_t end, size_t next) {
    blocks_.back().end = end;
    fence_.reset();
    text_begin_ = next;
  }

  void end_of_text(size_t end) {
    if (end > text_begin_) blocks_.push_back({.begin = text_begin_, .end = end});
  }

  std::string_view text_;
  size_t text_begin_ = 0;
  std::optional<Fence> fence_;
  std::optional<std::string_view> attributes_;  // of the previous line
  std::vector<Block> blocks_;
};

}  // namespace

PageLine line_at(std::string_view text, size_t at, size_t end) {
  const size_t stop = std::min(text.substr(0, end).find('\n', at), end);
  std::string_view line = text.substr(at, stop - at);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return {line, at, std::min(stop + 1, end)};
}

std::vector<Block> split_page(std::string_view text) {
  return Splitter(text).split();
}

bool has_fence(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const PageLine line = line_at(text, at, text.size());
    if (opening(line.text)) return true;
    at = line.next;
  }
  return false;
}

BlockLanguage language_of(std::string_view info) {
  std::string word(info);
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto is_one_of = [&](auto... names) { return ((word == names) || ...); };
  if (is_one_of("yaml", "yml", "json", "jsonc", "kubernetes", "k8s", "ansible", "yaml+jinja"))
    return BlockLanguage::kManifest;
  if (is_one_of("sh", "bash", "shell", "zsh", "ksh")) return BlockLanguage::kShell;
  if (is_one_of("console", "shell-session", "shellsession", "sh-session", "terminal", "bash-session"))
    return BlockLanguage::kConsole;
  if (is_one_of("", "text", "txt", "plain", "plaintext", "output", "log", "none", "code"))
    return BlockLanguage::kUnsaid;
  return BlockLanguage::kOther;
}

}  // namespace railbed::check
