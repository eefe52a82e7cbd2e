// SPDX-License-Identifier: Apache-2.0
#include "check/read/templates.h"

#include <algorithm>
#include <cctype>

#include <fmt/core.h>

#include "check/read/jinja.h"
#include "check/read/shell.h"
#include "doc/text.h"

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

bool is_helm(std::string_view text) {
  static constexpr std::string_view kWords[] = {".Values.", ".Release.", ".Chart.",  "{{- ",         "{{ include ",
                                                "{{ if ",   "{{ range ", "{{ with ", "{{ template ", "{{/*"};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return contains(text, word); });
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

// "<1>" or "<.>" at the end of a line, also several; its length with the blanks before it, 0 where there is none.
size_t callout_length(std::string_view line) {
  size_t end = line.find_last_not_of(kBlanksOfLine);
  size_t begin = line.size();
  while (end != std::string_view::npos && line[end] == '>') {
    const size_t open = line.rfind('<', end);
    if (open == std::string_view::npos || open == 0 || line[open - 1] != ' ') break;
    const std::string_view inside = line.substr(open + 1, end - open - 1);
    const bool number = !inside.empty() && std::ranges::all_of(inside, [](unsigned char c) { return std::isdigit(c); });
    if (!number && inside != ".") break;
    begin = open;
    end = line.find_last_not_of(kBlanksOfLine, open - 1);
  }
  return line.size() - begin;
}

// A comment of the same length: a line of blanks may not begin a block of text.
constexpr char kElided = '#';

bool is_left_out(std::string_view content) {
  return content == "..." || content == "…" || content == "[...]" || content == "- ...";
}

bool is_elision(std::string_view line) {
  const size_t first = line.find_first_not_of(kBlanksOfLine);
  if (first == std::string_view::npos || first == 0) return false;  // at the margin it ends a document of YAML
  return is_left_out(line.substr(first, line.find_last_not_of(kBlanksOfLine) + 1 - first));
}

}  // namespace

std::string why_not_read(const doc::Source& source, const doc::Diagnostics& found) {
  if (!found.has_errors()) return "";
  const std::string_view text = source.text;
  for (const doc::Diagnostic& one : found.all()) {
    const std::string_view line = doc::line_text(text, one.span.line);
    if (has_outside_of_quotes(line, "{%") || has_outside_of_quotes(line, "{#"))
      return "a Jinja template; check what is rendered from it";
    if (!has_outside_of_quotes(line, "{{")) continue;
    return is_helm(text) ? "a Helm template; check what is rendered from it: railbed check --render CHART"
                         : "a template ({{ … }}); check what is rendered from it";
  }
  if (contains(text, "AWSTemplateFormatVersion") || contains(text, "AWS::"))
    return "a template of CloudFormation, not of Kubernetes";
  if (text.starts_with("#cloud-config") || text.starts_with("## template: jinja")) return "a file of cloud-init";
  if (begins_with_prompt(text)) return "output of a command, not a manifest";
  if (!has_words_of_manifest(text)) return "not a manifest, and not valid YAML or JSON";
  return "";
}

bool leaves_lines_out(std::string_view block) {
  static const std::string kMarks[] = {"...", "#..", "#...]", "# ..."};
  static const std::string kDots = std::string(1, kElided) + std::string("…").substr(1);
  for (size_t at = 0; at < block.size();) {
    const size_t end = std::min(block.find('\n', at), block.size());
    const std::string_view line = block.substr(at, end - at);
    const size_t first = std::min(line.find_first_not_of(kBlanksOfLine), line.size());
    const std::string_view content = line.substr(first, line.find_last_not_of(kBlanksOfLine) + 1 - first);
    if (content == kDots || std::ranges::find(kMarks, content) != std::end(kMarks)) return true;
    at = end + 1;
  }
  return false;
}

std::string why_block_not_read(std::string_view block) {
  bool kind = false;
  for (size_t at = 0; at < block.size();) {
    const size_t end = std::min(block.find('\n', at), block.size());
    const std::string_view line = block.substr(at, end - at);
    if (has_outside_of_quotes(line, "{{") || has_outside_of_quotes(line, "{%"))
      return "a template; check what is rendered from it";
    const size_t first = std::min(line.find_first_not_of(" \t-"), line.size());
    const std::string_view content = line.substr(first, line.find_last_not_of(kBlanksOfLine) + 1 - first);
    kind = kind || content.starts_with("kind:") || content.starts_with("\"kind\"");
    at = end + 1;
  }
  if (leaves_lines_out(block)) return "parts of it are left out";
  return kind ? "" : "a part of a manifest";
}

doc::SourcePtr without_callouts(const doc::SourcePtr& source) {
  std::string text = source->text;
  bool changed = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (is_elision(line)) {
      text[at + line.find_first_not_of(kBlanksOfLine)] = kElided;
      changed = true;
    } else if (const size_t length = callout_length(line)) {
      std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(end - length), length, ' ');
      changed = true;
    }
    at = end + 1;
  }
  if (!changed) return source;
  return std::make_shared<const doc::Source>(doc::Source{.name = source->name, .text = std::move(text)});
}

bool is_filled_in(const doc::Span& span) {
  return is_jinja(span) || is_shell_variable(span) || is_marked_name(span);
}

}  // namespace railbed::check
