// SPDX-License-Identifier: Apache-2.0
#include "check/read/templates.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "check/read/shell.h"
#include "doc/text.h"
#include "doc/yaml.h"

namespace railbed::check {
namespace {

constexpr std::string_view kBlanksOfLine = " \t\r";

bool contains(std::string_view text, std::string_view what) {
  return text.find(what) != std::string_view::npos;
}

// In quotes it is a value, which Ansible fills in.
bool has_outside_of_quotes(std::string_view line, std::string_view what) {
  const size_t at = line.find(what);
  if (at == std::string_view::npos) return false;
  const auto quotes = [&](char quote) { return std::ranges::count(line.substr(0, at), quote); };
  return quotes('"') % 2 == 0 && quotes('\'') % 2 == 0;
}

// Whether an object of Kubernetes or a task of Ansible is meant: a line begins with one of its words.
bool has_words_of_manifest(std::string_view text) {
  static constexpr std::string_view kWords[] = {"apiVersion:", "kind:",        "\"apiVersion\"",
                                                "\"kind\"",    "'apiVersion'", "'kind'",
                                                "metadata:",   "spec:",        "kubernetes.core.k8s:"};
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    line.remove_prefix(std::min(line.find_first_not_of(" \t-{,"), line.size()));
    if (std::ranges::any_of(kWords, [&](std::string_view word) { return line.starts_with(word); })) return true;
    at = end + 1;
  }
  return false;
}

// Whether the first line is what a person typed; "# " begins a comment.
bool begins_with_prompt(std::string_view text) {
  return !text.starts_with('#') && prompt_length(text.substr(0, text.find('\n'))) > 0;
}

// Whether a command stands before an object, as in notes of what was shown or done: "cat pod.yaml", "oc get pod -o
// yaml".
bool has_commands_before_objects(std::string_view text) {
  bool command = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.find_first_not_of(kBlanksOfLine) == std::string_view::npos) continue;
    if (command && (line.starts_with("apiVersion:") || line.starts_with("kind:") || line.starts_with("---")))
      return true;
    const bool words = contains(line, " ") && !contains(line, ": ") && line.find_first_of(" \t#-\"'{[") != 0;
    command = (words && looks_like_command(line)) || (line[0] != '#' && prompt_length(line) > 0);
  }
  return false;
}

// Whether a line is nothing but a statement of a template in braces: conditions and loops come with it.
bool has_statements(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    line.remove_prefix(std::min(line.find_first_not_of(kBlanksOfLine), line.size()));
    if (line.starts_with("{{") || line.starts_with("{%") || line.starts_with("{#")) return true;
    at = end + 1;
  }
  return false;
}

// The first mark outside of quotes; empty: none.
std::string_view mark_outside_of_quotes(std::string_view line) {
  for (size_t from = 0; from < line.size();) {
    const auto mark = find_mark(line.substr(from));
    if (!mark) break;
    const std::string_view before = line.substr(0, from + mark->begin);
    if (std::ranges::count(before, '"') % 2 == 0 && std::ranges::count(before, '\'') % 2 == 0)
      return line.substr(from + mark->begin, mark->end - mark->begin);
    from += mark->end;
  }
  return {};
}

// The part of a line that an engine fills in; empty: none.
std::string_view marked_in(std::string_view line) {
  const size_t tag = line.find('!');
  if (tag != std::string_view::npos && tag_length(line.substr(tag)) > 0) return line.substr(tag);
  // Shortcodes of Hugo have quotes of their own inside those around them.
  for (const std::string_view open : {"{{%", "{{<"})
    if (const size_t at = line.find(open); at != std::string_view::npos) return line.substr(at);
  for (const std::string_view open : {"{%", "{#", "{{"})
    if (has_outside_of_quotes(line, open)) return line.substr(line.find(open));
  return mark_outside_of_quotes(line);
}

constexpr std::string_view kShellVariable = "${";

// Whether the line is an error, too, where words stand in the places of all ${…}: then none of them is its cause. A
// line that is nothing but one may become any text.
bool is_wrong_without_variables(const doc::Source& source, int line) {
  const std::string_view content = trimmed(doc::line_text(source.text, line));
  if (content.starts_with(kShellVariable) && content.find('}') + 1 == content.size()) return false;
  std::string words = source.text;
  for (size_t at = words.find(kShellVariable); at != std::string::npos; at = words.find(kShellVariable, at + 1)) {
    const size_t end = words.find_first_of("}\n", at);
    if (end != std::string::npos && words[end] == '}') words.replace(at, end - at + 1, end - at + 1, 'x');
  }
  doc::Diagnostics found;
  doc::parse_yaml(std::make_shared<const doc::Source>(doc::Source{source.name, std::move(words)}), found);
  return std::ranges::any_of(found.all(), [&](const doc::Diagnostic& one) {
    return one.severity == doc::Severity::kError && one.span.line == line;
  });
}

}  // namespace

std::string Unreadable::message() const {
  return command.empty() ? "not read: " + why
                         : fmt::format("not read: {}; check what is rendered from it: {}", why, command);
}

std::string template_of(const Engine& engine) {
  const std::string& name = engine.name;
  return name.starts_with("a ") || name.starts_with("an ") ? name : "a template of " + name;
}

Unreadable why_not_read(const doc::Source& source, const doc::Diagnostics& found) {
  if (!found.has_errors()) return {};
  const std::string_view text = source.text;
  const bool statements = has_statements(text);
  for (const doc::Diagnostic& one : found.all()) {
    const std::string_view line = doc::line_text(text, one.span.line);
    const bool braces = has_outside_of_quotes(line, "{%") || has_outside_of_quotes(line, "{#") ||
                        has_outside_of_quotes(line, "{{") || (statements && contains(line, "{{"));
    if (!braces) continue;
    const Engine* engine = engine_of_mark(contains(line, "{%") ? "{% x %}" : "{{ x }}", text);
    if (engine != nullptr) return {template_of(*engine), engine->advice(), true};
  }
  if (contains(text, "AWSTemplateFormatVersion") || contains(text, "AWS::"))
    return {"a template of CloudFormation, not of Kubernetes", ""};
  if (text.starts_with("#cloud-config") || text.starts_with("## template: jinja")) return {"a file of cloud-init", ""};
  if (begins_with_prompt(text)) return {"output of a command, not a manifest", ""};
  if (has_commands_before_objects(text)) return {"notes with commands between objects", ""};
  if (!has_words_of_manifest(text)) return {"not a manifest, and not valid YAML or JSON", ""};
  return {};
}

const Engine* drop_errors_on_marks(const doc::Source& source, std::string_view part, doc::Diagnostics& found) {
  const Engine* engine = nullptr;
  const Engine* of_lines = found.has_errors() ? engine_of_lines(part) : nullptr;
  std::erase_if(found.mutable_all(), [&](const doc::Diagnostic& one) {
    if (one.layer != doc::Layer::kText) return false;
    const std::string_view line = doc::line_text(source.text, one.span.line);
    const std::string_view mark = marked_in(line);
    if (mark.empty() && of_lines == nullptr) return false;
    if (of_lines == nullptr && mark.starts_with(kShellVariable) && part.size() == source.text.size() &&
        is_wrong_without_variables(source, one.span.line))
      return false;
    if (engine == nullptr) engine = of_lines != nullptr ? of_lines : engine_of_mark(mark, source.text);
    return engine != nullptr;
  });
  return engine;
}

namespace {

// What a block shows of an object: its two keys, and how many lines beside them are keys.
class BlockLines {
 public:
  void add(std::string_view line) {
    const size_t indent = line.find_first_not_of(" \t\r-");
    if (indent == std::string_view::npos) return;
    const std::string_view content = trimmed(line.substr(indent));
    const std::string_view key = content.starts_with('"') || content.starts_with('\'') ? content.substr(1) : content;
    braces_ = braces_ || (!any_ && (content[0] == '{' || content[0] == '['));
    any_ = true;
    if (key.starts_with("apiVersion")) version_ = version_.value_or(indent);
    if (key.starts_with("kind")) kind_ = kind_.value_or(indent);
    if (content[0] == '#' || indent > version_.value_or(0)) return;
    const bool yaml = contains(content, ": ") || content.ends_with(':') || contains("{}[]|>", content.substr(0, 1));
    ++(yaml || line[0] == '-' ? keys_ : words_);
  }
  // An object, but for a slip or a few: its keys in one column (or slipped by a few blanks), and more keys than words
  // at the margin.
  bool is_object() const {
    if (braces_) return true;
    if (!kind_ || keys_ < words_) return false;
    if (!version_) return true;
    const size_t apart = std::max(*version_, *kind_) - std::min(*version_, *kind_);
    return apart <= 4;
  }

 private:
  std::optional<size_t> version_;  // their columns
  std::optional<size_t> kind_;
  size_t keys_ = 0;  // lines at the margin
  size_t words_ = 0;
  bool any_ = false;
  bool braces_ = false;
};

}  // namespace

std::string why_block_not_read(std::string_view block) {
  bool kind = false;
  BlockLines lines;
  for (size_t at = 0; at < block.size();) {
    const size_t end = std::min(block.find('\n', at), block.size());
    const std::string_view line = block.substr(at, end - at);
    if (has_outside_of_quotes(line, "{{") || has_outside_of_quotes(line, "{%"))
      return "a template; check what is rendered from it";
    const std::string_view content = trimmed(line.substr(std::min(line.find_first_not_of(" \t-"), line.size())));
    kind = kind || content.starts_with("kind:") || content.starts_with("\"kind\"");
    lines.add(line);
    at = end + 1;
  }
  if (leaves_lines_out(block)) return "parts of it are left out";
  if (!kind) return "a part of a manifest";
  return lines.is_object() ? "" : "not a manifest as a whole";
}

std::string_view written_at(const doc::Span& span) {
  if (!span.known() || span.length <= 0 || span.offset >= span.source->text.size()) return {};
  return std::string_view(span.source->text).substr(span.offset, static_cast<size_t>(span.length));
}

std::string_view rest_of_line(const doc::Span& span) {
  if (!span.known() || span.offset >= span.source->text.size()) return {};
  const std::string_view rest = std::string_view(span.source->text).substr(span.offset);
  return rest.substr(0, rest.find('\n'));
}

namespace {

// The bytes of the line before a place.
std::string_view line_before(const doc::Span& span) {
  const std::string_view text = span.source->text;
  const size_t column = std::min(static_cast<size_t>(std::max(span.column, 1)) - 1, size_t{span.offset});
  return text.substr(span.offset - column, column);
}

// "!Ref Vfs": the tag before a value; empty: none.
std::string_view tag_before(const doc::Span& span) {
  const std::string_view before = line_before(span);
  const size_t tag = before.rfind('!');
  if (tag == std::string_view::npos || tag_length(before.substr(tag)) == 0) return {};
  const std::string_view between = before.substr(tag + tag_length(before.substr(tag)));
  return between.find_first_not_of(" \t") == std::string_view::npos ? before.substr(tag) : std::string_view();
}

}  // namespace

std::string_view mark_at(const doc::Span& span) {
  if (!span.known() || span.offset > span.source->text.size()) return {};
  const std::string_view written = written_at(span);
  if (const auto mark = find_mark(written)) return written.substr(mark->begin, mark->end - mark->begin);
  if (const std::string_view tag = tag_before(span); !tag.empty()) return tag;
  std::string_view rest = rest_of_line(span);
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t:"), rest.size()));
  // A mark that YAML takes for a list: "[[ vfs ]]".
  const auto mark = rest.starts_with("[[") || rest.starts_with("((") ? find_mark(rest) : std::nullopt;
  if (mark && mark->begin == 0) return rest.substr(0, mark->end);
  // An empty value, and the comment beside it.
  for (const std::string_view empty : {"\"\"", "''", "{}", "[]", "null", "~"})
    if (rest.starts_with(empty)) {
      rest.remove_prefix(empty.size());
      break;
    }
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  return is_marked_comment(rest) ? rest : std::string_view();
}

}  // namespace railbed::check
