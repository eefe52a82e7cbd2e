// SPDX-License-Identifier: Apache-2.0
#include "check/read/here_documents.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <string>

#include "base/text.h"
#include "check/read/block_text.h"
#include "check/read/page.h"
#include "check/read/shell_words.h"

namespace railbed::check {

using doc::Value;

namespace {

constexpr int kDeepestScript = 4;  // a playbook that writes a script that opens a here-document

// Where a here-document ends, by the line that opens it.
struct HereEnd {
  std::string_view text;  // empty: the line opens none
  bool whole = true;      // it is all of the line; otherwise its beginning
};

// "pod = '''": an odd number of such quotes opens a text.
bool opens_quotes(std::string_view line, std::string_view quotes) {
  size_t count = 0;
  for (size_t at = line.find(quotes); at != std::string_view::npos; at = line.find(quotes, at + quotes.size())) ++count;
  return count % 2 == 1;
}

HereEnd end_of_here_document(std::string_view line) {
  const std::string_view content = trimmed(line);
  if (content.starts_with("define ")) return {"endef"};
  for (const std::string_view quotes : {"'''", "\"\"\""})
    if (opens_quotes(content, quotes)) return {quotes, false};
  // "list << item" of Ruby has a blank.
  const size_t mark = line.find("<<");
  if (mark == std::string_view::npos || line.substr(mark + 2).starts_with(' ')) return {};
  return {here_delimiter(line)};
}

bool ends_here(const HereEnd& end, std::string_view line) {
  const std::string_view content = trimmed(line);
  return end.whole ? content == end.text : content.starts_with(end.text);
}

// The columns before all lines that have content.
size_t common_indent(std::string_view text) {
  std::optional<size_t> least;
  for (size_t at = 0; at < text.size();) {
    const PageLine line = line_at(text, at, text.size());
    at = line.next;
    const size_t first = line.text.find_first_not_of(" \t");
    if (first != std::string_view::npos) least = std::min(first, least.value_or(first));
  }
  return least.value_or(0);
}

// Whether a text begins with an object, and is no script that has one.
bool is_whole_manifest(std::string_view text) {
  return block_text(text, BlockLanguage::kOther) == BlockText::kManifest;
}

Applied applied_on_line(std::string_view text, const PageLine& line) {
  std::vector<Command> commands;
  const ShellLine read = ShellLexer(text, line.begin + line.text.size()).line(line.begin);
  for (const ShellWords& words : read.commands) {
    std::string where;
    Command command;
    for (size_t i = skip_leaders(words, where); i < words.size(); ++i) command.words.push_back({words[i].text, {}});
    if (!command.words.empty()) commands.push_back(std::move(command));
  }
  return applied_by(commands);
}

class HereDocumentFinder {
 public:
  explicit HereDocumentFinder(std::string_view text) : text_(text) {}

  std::vector<HeldManifest> find(doc::Region part, int depth) {
    std::vector<HeldManifest> found;
    int open = 0;
    for (size_t at = part.begin; at < part.end;) {
      const PageLine line = line_at(text_, at, part.end);
      at = line.next;
      const HereEnd end = open < kMostOpen ? end_of_here_document(line.text) : HereEnd();
      if (end.text.empty()) continue;
      const auto close = find_end(end, line.next, part.end);
      if (!close) {
        ++open;
        continue;
      }
      take({line.next, close->begin}, line, depth, found);
      at = close->next;
    }
    return found;
  }

 private:
  // Bounds the time: each one without an end is searched for to the end of the text.
  static constexpr int kMostOpen = 8;

  std::optional<PageLine> find_end(const HereEnd& end, size_t at, size_t limit) const {
    while (at < limit) {
      const PageLine line = line_at(text_, at, limit);
      if (ends_here(end, line.text)) return line;
      at = line.next;
    }
    return std::nullopt;
  }

  void take(doc::Region content, const PageLine& opening, int depth, std::vector<HeldManifest>& found) {
    const std::string_view text = text_.substr(content.begin, content.end - content.begin);
    if (!looks_like_manifest(text)) return;
    if (is_whole_manifest(text)) {
      content.indent = common_indent(text);
      found.push_back({content, applied_on_line(text_, opening)});
    } else if (depth < kDeepestScript) {
      std::vector<HeldManifest> inner = find(content, depth + 1);
      std::move(inner.begin(), inner.end(), std::back_inserter(found));
    }
  }

  std::string_view text_;
};

// Keys of texts that a program writes into a file as they are.
bool is_content_key(std::string_view key) {
  static constexpr std::string_view kKeys[] = {"content", "contents", "block"};
  return std::ranges::find(kKeys, key) != std::end(kKeys);
}

// What the reader of playbooks takes (ansible.h).
bool is_definition_key(std::string_view key) {
  return key == "definition" || key == "resource_definition" || key == "inline";
}

void find_in_texts(const Value& value, std::string_view key, std::string_view text, int depth,
                   std::vector<HeldManifest>& found) {
  constexpr int kDeepest = 64;
  if (depth > kDeepest || is_definition_key(key)) return;
  if (const Value::Array* items = value.as_array())
    for (const Value& item : *items) find_in_texts(item, key, text, depth + 1, found);
  if (const Value::Object* members = value.as_object())
    for (const Value::Member& member : *members) find_in_texts(member.value, member.key, text, depth + 1, found);
  const std::string* content = value.style == doc::Style::kLiteral ? value.as_string() : nullptr;
  if (content == nullptr || content->find("apiVersion") == std::string::npos) return;
  const auto region = doc::block_region(value);
  if (!region) return;
  if (is_content_key(key) && is_whole_manifest(*content)) {
    found.push_back({*region, {}});
    return;
  }
  std::vector<HeldManifest> inner = HereDocumentFinder(text).find(*region, 1);
  std::move(inner.begin(), inner.end(), std::back_inserter(found));
}

}  // namespace

std::string_view here_delimiter(std::string_view line) {
  const size_t at = line.find("<<");
  if (at == std::string_view::npos || line.substr(at).starts_with("<<<")) return {};
  const size_t begin = line.find_first_not_of("-~\"'\\ ", at + 2);
  if (begin == std::string_view::npos) return {};
  size_t end = begin;
  while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) != 0 || line[end] == '_')) ++end;
  return line.substr(begin, end - begin);
}

std::vector<HeldManifest> manifests_in_script(std::string_view text, doc::Region part) {
  return HereDocumentFinder(text).find(part, 0);
}

std::vector<HeldManifest> manifests_in_texts(const Value& document, std::string_view text) {
  std::vector<HeldManifest> found;
  find_in_texts(document, "", text, 0, found);
  return found;
}

}  // namespace railbed::check
