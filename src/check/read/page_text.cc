// SPDX-License-Identifier: Apache-2.0
#include "check/read/page_text.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

#include "base/text.h"
#include "check/read/asciidoc.h"
#include "check/read/block_text.h"
#include "check/read/engines.h"
#include "check/read/here_documents.h"
#include "check/read/placeholders.h"
#include "check/read/remarks.h"
#include "check/read/shell.h"

namespace railbed::check {
namespace {

constexpr std::string_view kLineBlanks = " \t\r";
// A comment of the same length: a line of blanks may not begin a block of text.
constexpr char kComment = '#';

// A text that is changed without changing its length.
class SameLength {
 public:
  explicit SameLength(const doc::SourcePtr& given) : given_(given), text_(given->text) {}

  std::string_view text() const { return text_; }
  void put(size_t at, char c) {
    changed_ |= text_[at] != c;
    text_[at] = c;
  }
  void fill(size_t begin, size_t end, char c) {
    for (size_t at = begin; at < end; ++at) put(at, c);
  }
  // Makes a comment of a line from its first byte with content on.
  void comment_out(const PageLine& line) {
    const size_t first = line.text.find_first_not_of(kLineBlanks);
    if (first == std::string_view::npos) return;
    put(line.begin + first, kComment);
    // What is left of a character of several bytes.
    for (size_t at = first + 1; at < line.text.size() && (line.text[at] & 0xC0) == 0x80; ++at)
      put(line.begin + at, '.');
  }
  doc::SourcePtr finish() {
    if (!changed_) return given_;
    return std::make_shared<const doc::Source>(doc::Source{.name = given_->name, .text = std::move(text_)});
  }

 private:
  const doc::SourcePtr& given_;
  std::string text_;
  bool changed_ = false;
};

// "<1>" or "<.>" at the end of a line, also several; its length with the blanks before it, 0 where there is none.
size_t callout_length(std::string_view line) {
  size_t end = line.find_last_not_of(kLineBlanks);
  size_t begin = line.size();
  while (end != std::string_view::npos && line[end] == '>') {
    const size_t open = line.rfind('<', end);
    if (open == std::string_view::npos || open == 0 || line[open - 1] != ' ') break;
    const std::string_view inside = line.substr(open + 1, end - open - 1);
    const bool number = !inside.empty() && std::ranges::all_of(inside, [](unsigned char c) { return std::isdigit(c); });
    if (!number && inside != ".") break;
    begin = open;
    end = line.find_last_not_of(kLineBlanks, open - 1);
  }
  return line.size() - begin;
}

// Words that say that lines are left out, in brackets, between dots or in a comment; or the end of such a sentence.
constexpr std::string_view kLeftOutWords[] = {"snip", "snipped", "cut",       "omitted",  "elided",
                                              "etc",  "rest",    "truncated", "and so on"};
constexpr std::string_view kLeftOutEnds[] = {" omitted",      " truncated", " snipped",   " left out",
                                             " elided",       " not shown", " go here",   " goes here",
                                             " omitted here", " unchanged", " as before", " for brevity"};

bool says_left_out(std::string_view words) {
  const std::string text = lower(words);
  return std::ranges::find(kLeftOutWords, text) != std::end(kLeftOutWords) ||
         std::ranges::any_of(kLeftOutEnds, [&](std::string_view end) { return text.ends_with(end); });
}

constexpr std::string_view kDots[] = {"…", "⋮", "⋯"};

// Whether a line of dots, brackets and dashes has dots enough to be an elision: "- ." is a path.
bool is_made_of_dots(std::string_view text) {
  return std::ranges::count(text, '.') >= 3 || text == "." || text == ".." ||
         std::ranges::any_of(kDots, [&](std::string_view dots) { return text.find(dots) != std::string_view::npos; });
}

// The length of a byte of decoration, or of dots, at the beginning or end of a text; 0: it is a word.
size_t decoration_length(std::string_view text, bool front) {
  constexpr std::string_view kBytes = " \t<>[](){}-=~*.,";
  if (text.empty()) return 0;
  if (kBytes.find(front ? text.front() : text.back()) != std::string_view::npos) return 1;
  for (const std::string_view dots : kDots)
    if (front ? text.starts_with(dots) : text.ends_with(dots)) return dots.size();
  return 0;
}

// The words of a line without dots, brackets and dashes around them.
std::string_view without_decoration(std::string_view text) {
  while (const size_t length = decoration_length(text, true)) text.remove_prefix(length);
  while (const size_t length = decoration_length(text, false)) text.remove_suffix(length);
  return text;
}

// How pages say that lines are left out: "...", "- ...", "[…]", "<snip>", "-- output omitted --", "{...}", ".".
bool is_left_out(std::string_view content) {
  constexpr size_t kLongest = 80;
  if (content.empty() || content.size() > kLongest) return false;
  const std::string_view words = without_decoration(content);
  if (words.empty()) return is_made_of_dots(content);
  const bool decorated = words.size() + 1 < content.size();
  const bool list_item = content.starts_with("- ") && words.size() + 2 == content.size();
  return decorated && !list_item && says_left_out(words);
}

// "# ...", "# ... more rails", "# snip", "# (other fields omitted)"; and what is left of an elision that became a
// comment.
bool is_comment_of_elision(std::string_view content) {
  content.remove_prefix(std::min(content.find_first_not_of("#/ \t"), content.size()));
  if (content.starts_with("..") || content.starts_with("…")) return true;
  const std::string_view words = without_decoration(content);
  return words.empty() ? is_made_of_dots(content) : says_left_out(words);
}

// A part of a line: "spec: {...}", "pfNames: [ ... ]", "ipam: …".
bool elides_inside(std::string_view content) {
  static constexpr std::string_view kParts[] = {"{...}", "{ ... }", "[...]", "[ ... ]", "{…}", "[…]", "<...>", ", ..."};
  return std::ranges::any_of(kParts, [&](std::string_view part) { return content.find(part) != content.npos; }) ||
         content.ends_with(": ...") || content.ends_with(": …");
}

// At the margin dots end a document of YAML.
bool is_elision(std::string_view line) {
  const size_t first = line.find_first_not_of(kLineBlanks);
  return first != std::string_view::npos && first > 0 && is_left_out(trimmed(line));
}

// What a program printed below a manifest: "sriovnetwork.sriovnetwork.openshift.io/rail0 created", "Success/Update
// image". At the margin of a map nothing is a text of several words; a key that lost its ':' is a mistake.
bool is_stray_output(std::string_view content) {
  static constexpr std::string_view kKeys[] = {"apiVersion", "kind", "metadata", "spec",       "data",
                                               "status",     "type", "rules",    "stringData", "roleRef"};
  const size_t blank = content.find(' ');
  if (blank == std::string_view::npos || std::isalnum(static_cast<unsigned char>(content[0])) == 0) return false;
  if (content.find(": ") != std::string_view::npos || content.ends_with(":")) return false;
  const std::string_view first = content.substr(0, blank);
  return std::ranges::find(kKeys, first) == std::end(kKeys);
}

// The end of a here-document whose beginning is not in the block.
bool is_end_of_here_document(std::string_view content) {
  static constexpr std::string_view kEnds[] = {"EOF", "_EOF_", "__EOF__", "EOT", "EOM", "EOL", "EOS", "END", "YAML"};
  return std::ranges::find(kEnds, content) != std::end(kEnds);
}

// The lines of a terminal in a manifest's fence: from a prompt to the next object.
class TerminalLines {
 public:
  bool takes(std::string_view content, bool margin, std::string_view line) {
    const bool begins = content.starts_with("apiVersion:") || content.starts_with("kind:") || content == "---";
    if (margin && begins) inside_ = false;
    if (margin && !content.starts_with('+') && prompt_length(line) > 0) inside_ = true;
    return inside_ || (margin && is_end_of_here_document(content));
  }

 private:
  bool inside_ = false;
};

// Whether a line of a manifest is marked as a new one, as a difference does it: "+   mtu: 9000". An item of a list has
// one blank behind its dash and no plus.
bool is_marked_as_new(std::string_view line) {
  return line.size() > 2 && line[0] == '+' && line[1] == ' ' && line.find_first_not_of(" +") != std::string_view::npos;
}
// "-   mtu: 1500", in a block that has new lines: it is taken out.
bool is_marked_as_old(std::string_view line) {
  return line.starts_with("-  ") && line.find_first_not_of(" -") != std::string_view::npos;
}

// "# second file: svc.yaml"
bool names_a_file(std::string_view comment) {
  return comment.find(".yaml") != std::string_view::npos || comment.find(".yml") != std::string_view::npos;
}

bool begins_an_object(std::string_view content) {
  return content.starts_with("apiVersion:") || content.starts_with("kind:");
}

// A line that a preprocessor replaces: AsciiDoc's conditions and inclusions, snippets of MkDocs, statements of Jinja,
// shortcodes of Hugo.
bool is_preprocessed(std::string_view content) {
  static constexpr std::string_view kDirectives[] = {
      "ifdef::", "ifndef::", "ifeval::", "endif::", "include::", "--8<--", ";--8<--", "<!--", "<<<"};
  if (std::ranges::any_of(kDirectives, [&](std::string_view one) { return content.starts_with(one); })) return true;
  static constexpr std::pair<std::string_view, std::string_view> kStatements[] = {
      {"{%", "%}"}, {"{#", "#}"}, {"{{<", ">}}"}, {"{{%", "%}}"}, {"<%", "%>"}};
  return std::ranges::any_of(
      kStatements, [&](const auto& pair) { return content.starts_with(pair.first) && content.ends_with(pair.second); });
}

// Whether all of the content is one mark of an engine, or a substitution of the shell: it stands for lines.
bool is_lone_mark(std::string_view content) {
  if (content.starts_with("#") || content.starts_with("\"") || content.starts_with("'")) return false;
  if (content.starts_with("$(") && content.ends_with(")")) return true;
  const auto mark = find_mark(content);
  return mark && mark->begin == 0 && mark->end == content.size();
}

// "<further fields>" alone on a line.
bool is_lone_placeholder(std::string_view content) {
  return content.starts_with('<') && content.ends_with('>') && content.find('>') + 1 == content.size() &&
         is_placeholder(content);
}

// Where the value of a line begins: behind "key: " and "- ".
std::optional<size_t> value_begin(std::string_view line) {
  size_t at = line.find_first_not_of(kLineBlanks);
  if (at == std::string_view::npos || line[at] == '#') return std::nullopt;
  bool value = false;
  while (line.substr(at).starts_with("- ")) {
    at = line.find_first_not_of(' ', at + 1);
    value = true;
    if (at == std::string_view::npos) return std::nullopt;
  }
  const size_t colon = line.find(": ", at);
  const std::string_view key = line.substr(at, colon == std::string_view::npos ? 0 : colon - at);
  const bool is_key = !key.empty() && std::ranges::all_of(key, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_./-\"'<>$").find(c) != std::string_view::npos;
  });
  if (is_key) return line.find_first_not_of(' ', colon + 1);
  return value ? std::optional(at) : std::nullopt;
}

// The end of "{word}", "{{ … }}", "|word|", "*word*" at the beginning of a value; 0: it begins otherwise.
size_t page_mark(std::string_view value, PageLanguage language) {
  const auto closed_by = [&](std::string_view close, size_t from) -> size_t {
    const size_t end = value.find(close, from);
    return end == std::string_view::npos || end == from ? 0 : end + close.size();
  };
  const auto is_word = [&](size_t end) {
    return end > 2 && std::ranges::all_of(value.substr(1, end - 2), [](char c) {
             return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == ' ';
           });
  };
  if (value.starts_with("{{")) return 0;  // a template
  if (value.starts_with("{")) {
    const size_t end = closed_by("}", 1);
    return is_word(end) && value.substr(0, end).find(' ') == std::string_view::npos ? end : 0;
  }
  const bool bold = value.starts_with("**");
  if (bold || (language == PageLanguage::kRst && (value.starts_with("|") || value.starts_with("*")))) {
    const std::string_view mark = value.substr(0, bold ? 2 : 1);
    const size_t end = closed_by(mark, mark.size());
    return bold || is_word(end) ? end : 0;
  }
  if (!value.starts_with("@") && !value.starts_with("%")) return 0;
  const auto found = find_mark(value);
  return found && found->begin == 0 ? found->end : 0;
}

// What stands at the beginning of a value and is no YAML becomes "<…>", a placeholder.
void replace_page_mark(const PageLine& line, size_t begin, PageLanguage language, SameLength& text) {
  const size_t length = page_mark(line.text.substr(begin), language);
  if (length < 3) return;
  text.put(line.begin + begin, '<');
  for (size_t i = 1; i + 1 < length; ++i) {
    const char c = line.text[begin + i];
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view(" _-.").find(c) != std::string_view::npos;
    if (!plain) text.put(line.begin + begin + i, '_');
  }
  text.put(line.begin + begin + length - 1, '>');
}

// "// a comment" in JSON, and not the "//" of a URL.
std::optional<size_t> slashes_of_comment(std::string_view line) {
  for (size_t at = line.find("//"); at != std::string_view::npos; at = line.find("//", at + 1)) {
    const bool begins = at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t';
    if (begins && std::ranges::count(line.substr(0, at), '"') % 2 == 0) return at;
  }
  return std::nullopt;
}

// Whether the shell reads the here-document that a line opens like a text in double quotes: its delimiter is not
// quoted.
bool is_expanded(std::string_view line) {
  const size_t at = line.find_first_not_of("-~ ", line.find("<<") + 2);
  return at != std::string_view::npos && std::string_view("'\"\\").find(line[at]) == std::string_view::npos;
}

// Takes the backslashes away that the shell takes away; what follows moves to the left, and blanks end the line.
void unescape(const PageLine& line, SameLength& text) {
  const std::string before(text.text().substr(line.begin, line.text.size()));
  size_t to = line.begin;
  for (size_t from = 0; from < before.size(); ++from) {
    const bool escapes = before[from] == '\\' && from + 1 < before.size() &&
                         std::string_view("$`\\").find(before[from + 1]) != std::string_view::npos;
    if (escapes) ++from;
    text.put(to++, before[from]);
  }
  text.fill(to, line.begin + before.size(), ' ');
}

// What a here-document is when its command reads it. Inside of one with a quoted delimiter there may be a script with
// its own.
void unescape_here_documents(std::string_view given, SameLength& text) {
  constexpr int kMostOpen = 8;  // bounds the time: each one without an end is searched for to the end of the text
  int open = 0;
  for (size_t at = 0; at < given.size() && open < kMostOpen;) {
    const PageLine opening = line_at(given, at, given.size());
    at = opening.next;
    const std::string_view delimiter = here_delimiter(opening.text);
    if (delimiter.empty() || !is_expanded(opening.text)) continue;
    size_t close = std::string_view::npos;
    for (size_t next = at; next < given.size() && close == std::string_view::npos;) {
      const PageLine line = line_at(given, next, given.size());
      if (trimmed(line.text) == delimiter) close = line.begin;
      next = line.next;
    }
    if (close == std::string_view::npos) {
      ++open;
      continue;
    }
    for (; at < close;) {
      const PageLine line = line_at(given, at, close);
      unescape(line, text);
      at = line.next;
    }
  }
}

bool has_manifest(std::string_view block) {
  return block.find("apiVersion") != std::string_view::npos || block.find("kind:") != std::string_view::npos ||
         block.find("\"kind\"") != std::string_view::npos;
}

// Whether content follows in a block: dots at its margin then stand for lines.
bool goes_on(std::string_view rest) {
  const size_t first = rest.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && !rest.substr(first).starts_with("---");
}

class PageEditor {
 public:
  PageEditor(const doc::SourcePtr& given, PageLanguage language)
      : text_(given), given_(given->text), language_(language) {}

  PageText edit(const std::vector<Block>& blocks) {
    for (const PageLine& line : lines(0, given_.size())) {
      if (is_elision(line.text))
        text_.comment_out(line);
      else if (const size_t length = callout_length(line.text))
        text_.fill(line.begin + line.text.size() - length, line.begin + line.text.size(), ' ');
    }
    for (const Block& block : blocks)
      if (block.fence && block.info != kPageComment &&
          has_manifest(given_.substr(block.begin, block.end - block.begin)))
        edit_block(block);
    unescape_here_documents(given_, text_);
    return {text_.finish(), std::move(partial_)};
  }

 private:
  std::vector<PageLine> lines(size_t begin, size_t end) const {
    std::vector<PageLine> out;
    for (size_t at = begin; at < end;) {
      out.push_back(line_at(given_, at, end));
      at = out.back().next;
    }
    return out;
  }

  // A comment between two objects that names a file: each is a file of its own, which a page shows in one block.
  void separate_files(const PageLine& comment, const Block& block) {
    if (comment.text.size() < 3 || comment.text[0] != '#') return;
    bool object = false;
    for (const PageLine& line : lines(block.begin, comment.begin)) object |= line.text.starts_with("metadata:");
    std::string_view next = given_.substr(comment.next, block.end - comment.next);
    next.remove_prefix(std::min(next.find_first_not_of(" \t\r\n"), next.size()));
    if (!object || !begins_an_object(next)) return;
    text_.fill(comment.begin, comment.begin + 3, '-');
    text_.fill(comment.begin + 3, comment.begin + comment.text.size(), ' ');
  }

  void edit_block(const Block& block) {
    const size_t first = given_.find_first_not_of(" \t\r\n", block.begin);
    const bool braces = first < block.end && (given_[first] == '{' || given_[first] == '[');
    const std::string_view text = given_.substr(block.begin, block.end - block.begin);
    const bool manifest = !braces && block_text(text, language_of(block.info)) == BlockText::kManifest;
    TerminalLines terminal;
    const std::vector<PageLine> all = lines(block.begin, block.end);
    const bool marked = manifest && std::ranges::any_of(all, is_marked_as_new, &PageLine::text);
    for (const PageLine& line : all) {
      const std::string_view content = trimmed(line.text);
      if (manifest && content.starts_with("#") && names_a_file(content)) separate_files(line, block);
      if (content.empty() || content.starts_with("#")) continue;
      if (marked && is_marked_as_new(line.text)) {
        text_.put(line.begin, ' ');
        continue;
      }
      const auto indent = static_cast<size_t>(content.data() - line.text.data());
      const bool margin = indent <= block.indent;
      const bool margin_dots =
          margin && is_left_out(content) && goes_on(given_.substr(line.next, block.end - line.next));
      if (is_left_out(content)) partial_.insert(block.begin);
      const size_t remark = manifest ? remark_begin(line.text) : line.text.size();
      text_.fill(line.begin + remark, line.begin + line.text.size(), ' ');
      if (manifest && (terminal.takes(content, margin, line.text) || (margin && is_stray_output(content)) ||
                       is_remark_line(content) || (marked && is_marked_as_old(line.text)))) {
        text_.comment_out(line);
      } else if (margin_dots || is_preprocessed(content) || is_lone_mark(content) || is_lone_placeholder(content)) {
        text_.comment_out(line);
        partial_.insert(block.begin);
      } else if (const auto slashes = braces ? slashes_of_comment(line.text) : std::nullopt) {
        text_.fill(line.begin + *slashes, line.begin + line.text.size(), ' ');
      } else if (const auto begin = value_begin(line.text); begin && *begin != std::string_view::npos) {
        replace_page_mark(line, *begin, language_, text_);
      } else if (language_ == PageLanguage::kRst && content.starts_with("*")) {
        replace_page_mark(line, indent, language_, text_);
      }
    }
  }

  SameLength text_;
  std::string_view given_;
  PageLanguage language_;
  std::set<size_t> partial_;
};

}  // namespace

PageText readable_page(const doc::SourcePtr& given, PageLanguage language, const std::vector<Block>& blocks) {
  return PageEditor(given, language).edit(blocks);
}

bool leaves_lines_out(std::string_view block) {
  for (size_t at = 0; at < block.size();) {
    const PageLine line = line_at(block, at, block.size());
    at = line.next;
    const std::string_view content = trimmed(line.text);
    if (content.starts_with(kComment) ? is_comment_of_elision(content) : is_left_out(content) || elides_inside(content))
      return true;
  }
  return false;
}

doc::SourcePtr readable_script(const doc::SourcePtr& given) {
  SameLength text(given);
  std::string_view delimiter;
  for (size_t at = 0; at < given->text.size();) {
    const PageLine line = line_at(given->text, at, given->text.size());
    at = line.next;
    const std::string_view content = trimmed(line.text);
    if (delimiter.empty())
      delimiter = here_delimiter(line.text);
    else if (content == delimiter)
      delimiter = {};
    else if (is_lone_mark(content))
      text.comment_out(line);
  }
  unescape_here_documents(given->text, text);
  return text.finish();
}

doc::SourcePtr without_marks(const doc::SourcePtr& given) {
  SameLength text(given);
  for (size_t at = 0; at < given->text.size();) {
    const PageLine line = line_at(given->text, at, given->text.size());
    at = line.next;
    const std::string_view content = trimmed(line.text);
    if (content.empty() || content.starts_with('#')) continue;
    if (!content.starts_with("{") && is_lone_mark(content)) {
      text.comment_out(line);
      continue;
    }
    const auto begin = value_begin(line.text);
    if (!begin || *begin == std::string_view::npos) continue;
    const std::string_view value = line.text.substr(*begin);
    if (const size_t tag = tag_length(value)) {
      text.fill(line.begin + *begin, line.begin + *begin + tag, ' ');
    } else if (value.starts_with("@") || value.starts_with("%")) {
      const auto mark = find_mark(value);
      if (mark && mark->begin == 0) text.fill(line.begin + *begin, line.begin + *begin + mark->end, 'x');
    }
  }
  return text.finish();
}

}  // namespace railbed::check
