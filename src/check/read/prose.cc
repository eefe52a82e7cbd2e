// SPDX-License-Identifier: Apache-2.0
#include "check/read/prose.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "check/read/blanks.h"
#include "check/read/page.h"
#include "check/read/rebuild.h"
#include "check/read/shell.h"
#include "check/read/tools.h"

namespace railbed::check {

namespace {

constexpr std::string_view kObjectKey = "apiVersion:";

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

// The length of a character that a page shows as nothing, at the beginning of a text: private use (U+E000 to U+F8FF,
// signs of a word processor), zero width (U+200B to U+200D, U+2060, U+FEFF), separators of lines, a no-break space. 0:
// another.
size_t invisible_length(std::string_view text) {
  if (text.starts_with(kNoBreak)) return kNoBreak.size();
  if (text.size() < 3) return 0;
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned code = (byte(0) & 0x0FU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU);
  const bool three = (byte(0) & 0xF0U) == 0xE0 && (byte(1) & 0xC0U) == 0x80 && (byte(2) & 0xC0U) == 0x80;
  const bool invisible = (code >= 0xE000 && code <= 0xF8FF) || (code >= 0x200B && code <= 0x200D) || code == 0x2028 ||
                         code == 0x2029 || code == 0x2060 || code == 0xFEFF;
  return three && invisible ? 3 : 0;
}

// The columns of what stands before an object on its line: blanks and dashes, or invisible characters alone, which have
// none: the manifest behind those is intact. Otherwise nothing.
std::optional<size_t> columns_before(std::string_view before) {
  if (before.find_first_not_of(" \t-") == std::string_view::npos) return before.size();
  while (!before.empty()) {
    const size_t length = invisible_length(before);
    if (length == 0) return std::nullopt;
    before.remove_prefix(length);
  }
  return 0;
}

// Whether a line could be part of a YAML block: a key, a list item, a comment.
bool reads_like_yaml(std::string_view content) {
  if (content.starts_with("- ") || content == "-" || content.starts_with("#")) return true;
  const size_t colon = content.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  if (colon + 1 < content.size() && !is_blank(content[colon + 1])) return false;
  return content.substr(0, colon).find_first_of(" \t") == std::string_view::npos;
}

// Where a sentence follows a command without a blank ("node-1The output shows …"): copied pages lose line breaks.
size_t glue(std::string_view text) {
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    const bool boundary = is_upper(text[i]) && (is_lower(text[i - 1]) || text[i - 1] == '>' || text[i - 1] == '/' ||
                                                std::isdigit(static_cast<unsigned char>(text[i - 1])) != 0);
    if (!boundary) continue;
    size_t end = i + 1;
    while (end < text.size() && is_lower(text[end])) ++end;
    if (end + 1 < text.size() && text[end] == ' ' && is_lower(text[end + 1])) return i;
  }
  return text.size();
}

class ProseReader {
 public:
  ProseReader(const doc::SourcePtr& source, const doc::LineIndex& index, doc::Region region, ProseOf kind,
              Bundle& bundle, std::vector<Document>& documents, doc::Diagnostics& out)
      : source_(source),
        text_(source->text),
        index_(index),
        region_(region),
        kind_(kind),
        bundle_(bundle),
        documents_(documents),
        out_(out) {}

  void read() {
    for (size_t at = region_.begin; at < region_.end;) {
      const PageLine line = line_at(text_, at, region_.end);
      const size_t object = object_in(line);
      if (object == std::string_view::npos) {
        plain(line);
        at = line.next;
        continue;
      }
      plain({line.text.substr(0, object), line.begin, line.begin + object});
      at = read_object(line, line.begin + object);
    }
  }

 private:
  // Where an object begins in a line: `apiVersion:` with a value, and `kind:` after it or on the next line.
  size_t object_in(const PageLine& line) const {
    for (size_t at = line.text.find(kObjectKey); at != std::string_view::npos;
         at = line.text.find(kObjectKey, at + 1)) {
      const std::string_view rest = line.text.substr(at + kObjectKey.size());
      if (rest.size() < 3 || !is_blank(rest[0])) continue;
      const PageLine next = line_at(text_, line.next, region_.end);
      const bool here = rest.substr(0, 100).find(" kind: ") != std::string_view::npos;
      const bool below = next.text.substr(indent_of(next.text)).starts_with("kind:") ||
                         next.text.substr(indent_of(next.text)).starts_with("metadata:");
      if (here || below) return at;
    }
    return std::string_view::npos;
  }

  // Returns the offset at which the text continues.
  size_t read_object(const PageLine& line, size_t begin) {
    const std::string_view before = line.text.substr(0, begin - line.begin);
    if (const auto columns = columns_before(before)) {
      doc::Region block = indented_block(line, *columns);
      if (block.end > block.begin) {
        if (*columns < before.size()) block.begin = begin;
        for (doc::Value& value : doc::parse_yaml(source_, index_, block, out_)) add(std::move(value), false);
        return block.end;
      }
    }
    const size_t next = text_.substr(0, region_.end).find(kObjectKey, begin + kObjectKey.size());
    Rebuilt rebuilt = rebuild_object(source_, index_, begin, std::min(next, region_.end));
    if (rebuilt.whole)
      out_.error("RB-DOC-001", index_.at(begin, kObjectKey.size() - 1),
                 rebuilt.one_line ? "this manifest lost its line breaks and is not valid YAML"
                                  : "this manifest lost its indentation and is not valid YAML")
          .with_fix("copy it again from its source; the findings here take the nesting from the schema of its kind");
    add(std::move(rebuilt.value), true);
    return std::max(rebuilt.end, begin + kObjectKey.size());
  }

  // The lines of an object that kept their indentation; empty when none is indented deeper than the first.
  doc::Region indented_block(const PageLine& first, size_t column) const {
    doc::Region region{first.begin, first.next, column};
    bool nested = false;
    size_t blank_since = 0;
    for (size_t at = first.next; at < region_.end;) {
      const PageLine line = line_at(text_, at, region_.end);
      at = line.next;
      const size_t indent = indent_of(line.text);
      if (indent == line.text.size()) {
        if (blank_since == 0) blank_since = line.begin;
        continue;
      }
      const std::string_view content = line.text.substr(indent);
      const bool belongs = indent > column || (indent == column && reads_like_yaml(content) &&
                                               (blank_since == 0 || !content.starts_with("- ")));
      // Stop at the next object: reading across it would make the time for many objects quadratic.
      if (!belongs || (indent == column && content.starts_with("apiVersion:"))) break;
      nested |= indent > column;
      blank_since = 0;
      region.end = line.next;
    }
    return nested ? region : doc::Region{};
  }

  void add(doc::Value value, bool rebuilt) {
    Document document{.value = std::move(value), .origin = Origin::kProse, .rebuilt = rebuilt};
    describe(document);
    if (!document.kind.empty()) documents_.push_back(std::move(document));
  }

  void plain(const PageLine& line) {
    const size_t first = indent_of(line.text);
    if (first == line.text.size()) return;
    if (kind_ == ProseOf::kPlainText || first >= 4) {
      if (commands(line)) return;
    } else {
      where_.clear();
      code_spans(line);
    }
    say(line.begin + first, line.begin + line.text.size());
  }

  void say(size_t begin, size_t end) {
    if (begin < end) bundle_.prose.push_back({text_.substr(begin, end - begin), index_.at(begin, end - begin)});
  }

  static bool is_sentence(std::string_view line) {
    return line.ends_with('.') && line.size() > 1 &&
           std::isalpha(static_cast<unsigned char>(line[line.size() - 2])) != 0;
  }

  // Adds the commands of a line, which may have several prompts; false when it has none.
  bool commands(const PageLine& line) {
    std::vector<size_t> starts = prompts(line.text);
    const size_t first = indent_of(line.text);
    if (starts.empty() && !is_sentence(line.text) && line.text[first] != '#' && looks_like_command(line.text))
      starts.push_back(first);
    if (starts.empty()) {
      where_.clear();
      return false;
    }
    if (starts[0] > first) say(line.begin + first, line.begin + starts[0]);
    for (size_t i = 0; i < starts.size(); ++i) {
      const size_t end = i + 1 < starts.size() ? starts[i + 1] : line.text.size();
      const std::string_view part = line.text.substr(starts[i], end - starts[i]);
      const size_t stop = glue(part);
      read_shell(
          source_, index_, {line.begin + starts[i], line.begin + starts[i] + stop}, ShellText::kScript, bundle_,
          [](doc::Region, const Applied&) {}, where_);
      if (stop < part.size()) say(line.begin + starts[i] + stop, line.begin + end);
    }
    return true;
  }

  // Where prompts are in a line: at its beginning, and after blanks where lines were joined. Comments between commands
  // ("# On the server") count as well, because they end the command before.
  static std::vector<size_t> prompts(std::string_view line) {
    std::vector<size_t> starts;
    bool command = false;
    for (size_t at = indent_of(line); at < line.size(); at = line.find(' ', at)) {
      while (at < line.size() && is_blank(line[at])) ++at;
      const std::string_view rest = line.substr(at);
      const bool mark = rest.starts_with("$ ") || rest.starts_with("sh-") || rest.starts_with("# ");
      if (!mark) continue;
      const bool prompt = prompt_length(rest) > 0;
      if (!prompt && !(rest[0] == '#' && !starts.empty())) continue;
      if (rest[0] == '$' && !is_program(next_word(rest))) continue;
      starts.push_back(at);
      command |= prompt;
    }
    return command ? starts : std::vector<size_t>();
  }

  static std::string_view next_word(std::string_view rest) {
    const std::string_view behind = rest.substr(std::min(rest.find_first_not_of("$ "), rest.size()));
    return behind.substr(0, behind.find(' '));
  }

  // Commands in the running text of a page: `ib_write_bw -d mlx5_0`.
  void code_spans(const PageLine& line) {
    for (size_t open = line.text.find('`'); open != std::string_view::npos; open = line.text.find('`', open)) {
      const size_t close = line.text.find('`', open + 1);
      if (close == std::string_view::npos) return;
      const std::string_view code = line.text.substr(open + 1, close - open - 1);
      const std::string_view program = code.substr(0, code.find(' '));
      if (program.size() < code.size() && find_tool(program) != nullptr && looks_like_command(code))
        read_shell(
            source_, index_, {line.begin + open + 1, line.begin + close}, ShellText::kFile, bundle_,
            [](doc::Region, const Applied&) {}, where_);
      open = close + 1;
    }
  }

  const doc::SourcePtr& source_;
  std::string_view text_;
  const doc::LineIndex& index_;
  doc::Region region_;
  ProseOf kind_;
  Bundle& bundle_;
  std::vector<Document>& documents_;
  doc::Diagnostics& out_;
  std::string where_;
};

}  // namespace

void read_prose(const doc::SourcePtr& source, const doc::LineIndex& index, doc::Region region, ProseOf kind,
                Bundle& bundle, std::vector<Document>& documents, doc::Diagnostics& out) {
  ProseReader(source, index, region, kind, bundle, documents, out).read();
}

}  // namespace railbed::check
