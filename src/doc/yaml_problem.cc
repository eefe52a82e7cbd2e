// SPDX-License-Identifier: Apache-2.0
#include "doc/yaml_problem.h"

#include <algorithm>
#include <cstdlib>

namespace railbed::doc {

namespace {

// The parts of a line of block YAML that the guesses below need.
struct Line {
  int number = 0;
  size_t offset = 0;  // of its first byte in the source
  std::string_view text;

  size_t indent() const { return std::min(text.find_first_not_of(' '), text.size()); }
  std::string_view content() const { return text.substr(indent()); }
  bool is_empty() const { return content().find_first_not_of(" \t") == std::string_view::npos; }
  bool is_comment() const { return content().starts_with('#'); }
};

// The key at the start of `content`: the text before ": " or before a ':' at the end; nullopt without one.
std::optional<std::string_view> key_of(std::string_view content) {
  if (content.empty() || std::string_view("\"'{}[]#|>%@`").find(content[0]) != std::string_view::npos)
    return std::nullopt;
  for (size_t i = content.find(':'); i != std::string_view::npos; i = content.find(':', i + 1))
    if (i + 1 == content.size() || content[i + 1] == ' ') return content.substr(0, i);
  return std::nullopt;
}

std::vector<Line> numbered_lines(std::string_view text, size_t from, size_t to, int first_number) {
  std::vector<Line> lines;
  for (size_t at = from; at <= to && at <= text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back({first_number++, at, line});
    at = end + 1;
  }
  return lines;
}

// The column of an enclosing map or list, and the line that shows it.
struct Level {
  size_t indent = 0;
  int line = 0;
  std::string key;
};

// The columns open before the last line, the innermost first.
std::vector<Level> open_levels(const std::vector<Line>& lines) {
  std::vector<Level> levels;
  size_t lowest = std::string::npos;
  const auto add = [&](size_t indent, int line, std::string_view key) {
    if (indent >= lowest) return;
    lowest = indent;
    levels.push_back({indent, line, std::string(key)});
  };
  for (size_t i = lines.size() - 1; i-- > 0 && lowest > 0;) {
    const Line& line = lines[i];
    if (line.is_empty() || line.is_comment() || line.text.starts_with("---")) continue;
    std::string_view content = line.content();
    size_t dash = 0;
    while (content.substr(dash).starts_with("- "))
      dash = std::min(content.find_first_not_of(' ', dash + 1), content.size());
    if (auto key = key_of(content.substr(dash))) add(line.indent() + dash, line.number, *key);
    if (content.starts_with("- ") || content == "-") add(line.indent(), line.number, "-");
  }
  return levels;
}

class Explainer {
 public:
  Explainer(const YamlProblem& problem, const SourcePtr& source, const LineIndex& index, Diagnostics& out)
      : problem_(problem), source_(source), index_(index), out_(out), text_(source->text) {
    const int first = index.at(problem.document_offset, 0).line;
    lines_ = numbered_lines(text_, problem.document_offset, std::min(problem.offset, text_.size()), first);
    if (lines_.empty()) lines_.push_back({first, problem.document_offset, {}});
  }

  void explain() {
    const bool found = tab() || open_quote() || wrong_start() || template_braces() || dots() || indentation() ||
                       second_colon() || placeholder() || after_quote() || missing_colon() || flow();
    if (!found) in_its_own_words();
  }

 private:
  bool says(std::string_view words) const { return problem_.problem.find(words) != std::string::npos; }
  bool reading(std::string_view words) const { return problem_.context.find(words) != std::string::npos; }
  Diagnostic& error(std::string_view id, size_t offset, size_t length, std::string message) {
    return out_.error(id, index_.at(offset, length), std::move(message)).of(Layer::kText);
  }
  const Line& last() const { return lines_.back(); }
  char here() const { return problem_.offset < text_.size() ? text_[problem_.offset] : '\0'; }

  bool tab() {
    const size_t blanks = std::min(last().text.find_first_not_of(" \t"), last().text.size());
    size_t at = last().text.substr(0, blanks).find('\t');
    if (at == std::string_view::npos) {
      if (!says("tab") && here() != '\t') return false;
      at = problem_.offset - last().offset;
    }
    error("RB-YAML-005", last().offset + at, 1, "a tab is used to indent; YAML indents with blanks only")
        .with_fix("replace the tab by blanks");
    return true;
  }

  bool open_quote() {
    if (!reading("quoted scalar") || !problem_.context_offset) return false;
    if (!says("end of stream") && !says("document indicator")) return false;
    const char quote = text_[std::min(*problem_.context_offset, text_.size() - 1)];
    error("RB-YAML-006", *problem_.context_offset, 1, "the quoted text that begins here is never closed")
        .with_fix(fmt::format("add the closing {}", quote));
    return true;
  }

  bool wrong_start() {
    if (reading("an alias") || reading("an anchor")) {
      if (!says("alphabetic or numeric")) return false;
      const size_t at = problem_.context_offset.value_or(problem_.offset);
      error("RB-YAML-001", at, 1,
            fmt::format("a value that begins with '{}' is {} in YAML", text_[at],
                        text_[at] == '*' ? "a reference" : "an anchor"))
          .with_fix("put the value in double quotes");
      return true;
    }
    if (!says("cannot start any token")) return false;
    error("RB-YAML-001", problem_.offset, 1, fmt::format("a value cannot begin with '{}'", here()))
        .with_fix("put the value in double quotes");
    return true;
  }

  bool template_braces() {
    const Span context = index_.at(problem_.context_offset.value_or(problem_.offset), 0);
    for (const Line& line : lines_) {
      if (line.number != context.line && line.number != last().number) continue;
      const size_t at = line.text.find("{{");
      if (at == std::string_view::npos) continue;
      error("RB-YAML-001", line.offset + at, 2, "'{{' is a template, not YAML")
          .with_fix("render the template first (helm template, kustomize build), or put the value in quotes");
      return true;
    }
    return false;
  }

  // A line of dots for omitted text: YAML reads it as a value, after which the next key is an error.
  bool dots() {
    if (!says("expected key") && !says("mapping values") && !says("expected ':'")) return false;
    for (size_t i = lines_.size() - 1; i-- > 0;) {
      const Line& line = lines_[i];
      if (line.is_empty() || line.is_comment()) continue;
      const std::string_view content = line.content().substr(0, line.content().find_last_not_of(' ') + 1);
      if (line.indent() == 0 || (content != ".." && content != "..." && content != "\xE2\x80\xA6")) return false;
      Diagnostic& reported = error("RB-YAML-001", line.offset + line.indent(), content.size(),
                                   "'...' in place of omitted content is not valid YAML")
                                 .with_fix("write what belongs here, or make the line a comment: '# ...'")
                                 .that_says(Says::kDots);
      reported.edits.push_back(Edit{source_, line.offset + line.indent(), 0, "# ", {}});
      return true;
    }
    return false;
  }

  // The line begins at a column where none of the enclosing maps and lists is.
  bool indentation() {
    if (!says("expected key") && !says("mapping values") && !says("'-' indicator") && !says("block sequence entries") &&
        !says("<document start>"))
      return false;
    if (problem_.offset < last().offset + last().indent() || opens_a_level()) return false;
    std::string_view content = last().content();
    const bool item = content.starts_with("- ");
    const auto key = item ? std::optional<std::string_view>("-") : key_of(content);
    if (!key) return false;
    const size_t indent = last().indent();
    if (first_line_is_off(indent)) return true;
    const std::vector<Level> levels = open_levels(lines_);
    const auto distance = [&](const Level& level) {
      return std::abs(static_cast<long>(level.indent) - static_cast<long>(indent));
    };
    if (levels.empty() || std::ranges::find(levels, indent, &Level::indent) != levels.end()) return false;
    const Level& sibling = *std::ranges::min_element(levels, {}, distance);
    const long move = static_cast<long>(sibling.indent) - static_cast<long>(indent);
    Diagnostic& reported =
        error("RB-YAML-002", last().offset + indent, key->size(),
              fmt::format("'{}' begins at column {}, but its neighbour '{}' (line {}) at column {}", *key, indent + 1,
                          sibling.key, sibling.line, sibling.indent + 1))
            .with_fix(fmt::format("indent it by {} blank{} {}, to column {}", std::abs(move),
                                  std::abs(move) == 1 ? "" : "s", move > 0 ? "more" : "less", sibling.indent + 1))
            .that_says(Says::kBadIndentation);
    move_lines(reported, indent, sibling.indent);
    return true;
  }

  // Whether the last line is the first one below a key or a '-', so that any deeper column would be right.
  bool opens_a_level() const {
    for (size_t i = lines_.size() - 1; i-- > 0;) {
      const Line& line = lines_[i];
      if (line.is_empty() || line.is_comment()) continue;
      std::string_view content = line.content();
      content = content.substr(0, content.find(" #"));
      content = content.substr(0, content.find_last_not_of(' ') + 1);
      return last().indent() > line.indent() && (content.ends_with(':') || content == "-");
    }
    return false;
  }

  // The first line of a map is indented more than this line and those below it: that first line is wrong.
  bool first_line_is_off(size_t indent) {
    std::vector<const Line*> above;  // the nearest first
    for (auto line = lines_.rbegin() + 1; line != lines_.rend() && above.size() < 2; ++line)
      if (!line->is_empty() && !line->is_comment()) above.push_back(&*line);
    if (above.size() < 2) return false;
    const Line& first = *above[0];
    const auto key = key_of(first.content());
    const bool opens = above[1]->content().ends_with(':') && above[1]->indent() < indent;
    if (!key || !opens || first.indent() <= indent || first.content().size() <= key->size() + 1) return false;
    const size_t below = line_end(last().offset);
    const std::string_view next = text_.substr(below, line_end(below) - below);
    if (below >= text_.size() || next.find_first_not_of(" \t\r\n") != indent) return false;
    error("RB-YAML-002", first.offset + first.indent(), key->size(),
          fmt::format("'{}' begins at column {}, but its neighbours below at column {}", *key, first.indent() + 1,
                      indent + 1))
        .with_fix(fmt::format("indent it by {} blank{} less, to column {}", first.indent() - indent,
                              first.indent() - indent == 1 ? "" : "s", indent + 1))
        .that_says(Says::kBadIndentation)
        .edits.push_back(Edit{source_, first.offset, first.indent() - indent, "", {}});
    return true;
  }

  // Adds the edits that move the last line from column `from` to column `to`, together with the lines below that belong
  // to it if they would otherwise not be deeper.
  void move_lines(Diagnostic& reported, size_t from, size_t to) {
    const auto shift = [&](size_t offset) {
      if (to > from)
        reported.edits.push_back(Edit{source_, offset, 0, std::string(to - from, ' '), {}});
      else
        reported.edits.push_back(Edit{source_, offset, from - to, "", {}});
    };
    shift(last().offset);
    std::string_view content = last().content();
    content = content.substr(0, content.find(" #"));
    content = content.substr(0, content.find_last_not_of(" \r") + 1);
    if (const auto key = key_of(content); key && content.size() > key->size() + 1) {
      const std::string_view value = content.substr(key->size() + 1);
      const size_t first = value.find_first_not_of(' ');
      // The line has its own value, so the lines below belong to something else.
      if (std::string_view("|>&!").find(value[first]) == std::string_view::npos) return;
    }
    std::optional<size_t> first_below;  // indentation of the first line below
    for (size_t at = line_end(last().offset); at < text_.size(); at = line_end(at)) {
      const std::string_view line = text_.substr(at, line_end(at) - at);
      const size_t indent = line.find_first_not_of(" \t\r\n");
      if (indent == std::string_view::npos) continue;
      if (!first_below) first_below = indent;
      if (*first_below <= from || *first_below > to || indent < *first_below) return;
      shift(at);
    }
  }

  size_t line_end(size_t at) const { return std::min(text_.find('\n', at), text_.size() - 1) + 1; }

  bool second_colon() {
    if (!says("mapping values are not allowed")) return false;
    if (text_without_key()) return true;
    error("RB-YAML-001", problem_.offset, 1, "a second ': ' on this line; a plain value cannot contain it")
        .with_fix("put the value in double quotes");
    return true;
  }

  // The ':' is the first one on its line: the lines above have no key, and YAML takes all of them for one text.
  bool text_without_key() {
    const auto key = key_of(last().content());
    if (!key || last().offset + last().indent() + key->size() != problem_.offset) return false;
    const Line* stray = nullptr;
    for (auto line = lines_.rbegin() + 1; line != lines_.rend(); ++line) {
      if (line->is_empty() || line->is_comment()) continue;
      if (key_of(line->content()) || line->content().starts_with("-")) break;
      stray = &*line;
    }
    if (stray == nullptr) return false;
    error("RB-YAML-001", stray->offset + stray->indent(), stray->content().size(),
          fmt::format("text without a key; YAML joins it with '{}' below into one text", *key))
        .with_fix("remove this line, make it a comment with '#', or write 'key: value'");
    return true;
  }

  // `image: {REGISTRY}/name`: YAML reads the placeholder as a map with text after it.
  bool placeholder() {
    if (!says("expected key") && !says("expected node content") && !says("',' or '}'")) return false;
    const size_t colon = last().text.find(": {");
    const size_t brace = colon == std::string_view::npos ? colon : last().text.find('}', colon);
    if (brace == std::string_view::npos || last().offset + brace >= problem_.offset) return false;
    const std::string_view name = last().text.substr(colon + 2, brace - colon - 1);
    Diagnostic& reported =
        error("RB-YAML-001", last().offset + colon + 2, name.size(),
              fmt::format("{} looks like a placeholder; YAML reads a value that begins with '{{' as a map", name))
            .with_fix("write the real value, or put the whole value in double quotes")
            .that_says(Says::kPlaceholder);
    const std::string_view line = text_.substr(last().offset, line_end(last().offset) - last().offset);
    std::string_view value = line.substr(colon + 2);
    value = value.substr(0, value.find(" #"));
    value = value.substr(0, value.find_last_not_of(" \t\r\n") + 1);
    if (value.find_first_of("\"\\") == std::string_view::npos) {
      const size_t begin = last().offset + colon + 2;
      reported.edits.push_back(Edit{source_, begin, 0, "\"", {}});
      reported.edits.push_back(Edit{source_, begin + value.size(), 0, "\"", {}});
    }
    return true;
  }

  bool after_quote() {
    if (!says("expected key") || problem_.offset <= last().offset) return false;
    const std::string_view before = text_.substr(last().offset, problem_.offset - last().offset);
    const size_t at = before.find_last_not_of(' ');
    if (at == std::string_view::npos || (before[at] != '"' && before[at] != '\'')) return false;
    if (opened_above(before[at])) return true;
    error("RB-YAML-001", problem_.offset, 1, "text after the closing quote of the value")
        .with_fix("put the whole value inside the quotes");
    return true;
  }

  // The quote before the problem ends a string of a line above, whose closing quote is missing: of the line directly
  // above, or of one further up when keys stand between.
  bool opened_above(char quote) {
    if (lines_.size() < 2) return false;
    size_t at = lines_.size() - 2;
    bool keys = false;
    while (at > 0 && lines_[at].text.find(quote) == std::string_view::npos)
      keys |= key_of(lines_[at--].content()).has_value();
    const Line& above = lines_[at];
    const size_t open = above.text.find(quote);
    if (std::ranges::count(above.text, quote) != 1 || (at + 2 < lines_.size() && !keys)) return false;
    const std::string_view before = above.text.substr(0, open);
    if (!before.ends_with(": ") && !before.ends_with("- ")) return false;
    error("RB-YAML-006", above.offset + open, 1, "the quoted text that begins here is not closed on its line")
        .with_fix(fmt::format("add the closing {}", quote));
    return true;
  }

  bool missing_colon() {
    if (!says("could not find expected ':'")) return false;
    const size_t at = problem_.context_offset.value_or(problem_.offset);
    const size_t end = std::min(text_.find_first_of("\r\n", at), text_.size());
    const std::string_view line = text_.substr(at, end - at);
    const size_t colon = line.find(':');
    Diagnostic& d = error("RB-YAML-001", at, line.size(), "a key without ': ' after it");
    if (colon != std::string_view::npos && colon > 0 && colon + 1 < line.size())
      d.with_fix(fmt::format("write a space after the colon: '{}: {}'", line.substr(0, colon), line.substr(colon + 1)));
    return true;
  }

  bool flow() {
    if (!problem_.context_offset || !reading("flow")) return false;
    const auto bracket = open_bracket();
    if (!bracket) return false;
    const char open = text_[*bracket];
    error("RB-YAML-001", problem_.offset, 1,
          fmt::format("expected ',' or '{}' in what '{}' opened", open == '{' ? '}' : ']', open))
        .note(index_.at(*bracket, 1), "it was opened here");
    return true;
  }

  // The bracket that is open at the problem. libyaml gives its position only for some problems.
  std::optional<size_t> open_bracket() const {
    int closed = 0;
    for (size_t at = std::min(problem_.offset, text_.size()); at-- > problem_.document_offset;) {
      if (text_[at] == ']' || text_[at] == '}') ++closed;
      if (text_[at] != '[' && text_[at] != '{') continue;
      if (closed-- == 0) return at;
    }
    return std::nullopt;
  }

  void in_its_own_words() {
    std::string message = problem_.problem;
    if (!problem_.context.empty()) message += " " + problem_.context;
    Diagnostic& d = error("RB-YAML-001", problem_.offset, 1, std::move(message));
    if (problem_.context_offset && index_.at(*problem_.context_offset, 1).line != d.span.line)
      d.note(index_.at(*problem_.context_offset, 1), "it begins here");
  }

  const YamlProblem& problem_;
  const SourcePtr& source_;
  const LineIndex& index_;
  Diagnostics& out_;
  std::string_view text_;
  std::vector<Line> lines_;  // of this document, up to the one with the problem
};

}  // namespace

void explain(const YamlProblem& problem, const SourcePtr& source, const LineIndex& index, Diagnostics& diagnostics) {
  Explainer(problem, source, index, diagnostics).explain();
}

}  // namespace railbed::doc
