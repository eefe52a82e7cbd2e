// SPDX-License-Identifier: Apache-2.0
#include "check/read/block_text.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "check/read/shell.h"

namespace railbed::check {
namespace {

// Calls `see` with each line that has content, until it returns true.
template <typename See>
bool any_line(std::string_view text, See see) {
  for (size_t at = 0; at < text.size();) {
    const PageLine line = line_at(text, at, text.size());
    at = line.next;
    const std::string_view content = trimmed(line.text);
    if (!content.empty() && see(content, line)) return true;
  }
  return false;
}

// Whether a line of `text` begins with `key`, ignoring blanks and the dash of a list item.
bool has_line_with(std::string_view text, std::string_view key) {
  for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    size_t first = at;
    while (first > 0 && (text[first - 1] == ' ' || text[first - 1] == '\t' || text[first - 1] == '-')) --first;
    if (first == 0 || text[first - 1] == '\n') return true;
  }
  return false;
}

bool is_comment_line(std::string_view content) {
  return content.starts_with('#') || content.starts_with("//") || content.starts_with("<!--");
}

// The first line that is no comment.
std::string_view first_content(std::string_view text) {
  std::string_view first;
  any_line(text, [&](std::string_view content, const PageLine&) {
    if (is_comment_line(content) || content == "---" || content.starts_with("%YAML")) return false;
    first = content;
    return true;
  });
  return first;
}

bool is_difference(std::string_view text) {
  size_t all = 0;
  size_t added = 0;
  size_t removed = 0;
  size_t kept = 0;  // as `diff -u` writes lines that are in both
  bool head = false;
  any_line(text, [&](std::string_view content, const PageLine& line) {
    ++all;
    head |= content.starts_with("@@ ") || content.starts_with("diff --git ") || line.text.starts_with("+++ ");
    added += line.text.starts_with("+");
    removed += line.text.starts_with("-") && !line.text.starts_with("---");
    kept += line.text.starts_with(" ");
    return false;
  });
  return head || (added > 0 && ((added + removed) * 2 >= all || added + removed + kept == all));
}

bool is_request_line(std::string_view line) {
  if (line.starts_with("HTTP/1.") || line.starts_with("HTTP/2")) return true;
  for (const std::string_view method : {"GET ", "POST ", "PUT ", "PATCH ", "DELETE ", "HEAD ", "OPTIONS "})
    if (line.starts_with(method)) {
      const std::string_view target = trimmed(line.substr(method.size()));
      return target.starts_with("/") || target.starts_with("http");
    }
  return false;
}

bool begins_object(std::string_view first) {
  while (first.starts_with("- ")) first = trimmed(first.substr(2));
  for (const std::string_view key : {"apiVersion:", "kind:", "\"apiVersion\"", "'apiVersion'", "\"kind\""})
    if (first.starts_with(key)) return true;
  return false;
}

bool has_kind_in_json(std::string_view text) {
  return text.find("\"kind\"") != std::string_view::npos || text.find("\"apiVersion\"") != std::string_view::npos;
}

bool begins_manifest(std::string_view text, std::string_view first, BlockLanguage language) {
  const bool braces = first.starts_with('{') || first.starts_with('[');
  const bool object = braces ? has_kind_in_json(text) : begins_object(first);
  if (language != BlockLanguage::kOther || !object) return object;
  // A block of another language has to be quite sure.
  return braces
             ? text.find("\"kind\"") != std::string_view::npos && text.find("\"apiVersion\"") != std::string_view::npos
             : has_line_with(text, "apiVersion:") && has_line_with(text, "kind:");
}

// Whether a script with a here-document comes before any object: `cat <<EOF | kubectl apply -f -`.
bool begins_with_script(std::string_view text) {
  static constexpr std::string_view kPrograms[] = {"cat ", "kubectl ", "oc ", "tee ", "sudo ", "ssh ", "k "};
  bool script = false;
  any_line(text, [&](std::string_view content, const PageLine&) {
    if (content.starts_with("$")) content = trimmed(content.substr(1));
    if (content.starts_with("apiVersion:") || content.starts_with("kind:")) return true;
    const bool program = std::ranges::any_of(kPrograms, [&](std::string_view one) { return content.starts_with(one); });
    script = program && content.find("<<") != std::string_view::npos;
    return script;
  });
  return script;
}

// Whether the first line with content is a command. `comments`: "# ls" may be one, behind a prompt of root.
bool is_console(std::string_view text, bool comments) {
  bool command = false;
  any_line(text, [&](std::string_view content, const PageLine& line) {
    if (content.starts_with('#') && !comments) return false;
    command = prompt_length(line.text) > 0;
    if (command || content.starts_with('#')) return command;
    command = looks_like_command(content);
    return true;
  });
  return command;
}

// Whether a line that is indented no further than the first one has a prompt: what a terminal showed, from there on.
bool has_prompt_at_margin(std::string_view text) {
  std::optional<size_t> margin;
  return any_line(text, [&](std::string_view content, const PageLine& line) {
    const auto indent = static_cast<size_t>(content.data() - line.text.data());
    margin = std::min(indent, margin.value_or(indent));
    if (indent > *margin || content.starts_with('#') || content.starts_with('+')) return false;
    return prompt_length(line.text) > 0;
  });
}

// Whether words that are no YAML stand before the first line of an object: a page's source, what a program said. A
// first key that lost its ':' is a mistake.
bool begins_with_words(std::string_view text) {
  static constexpr std::string_view kKeys[] = {"apiVersion", "kind", "metadata", "spec", "data", "kubernetes.core.k8s"};
  bool words = false;
  any_line(text, [&](std::string_view content, const PageLine&) {
    while (content.starts_with("- ")) content = trimmed(content.substr(2));
    if (std::ranges::any_of(kKeys, [&](std::string_view key) { return content.starts_with(key); })) return true;
    const bool yaml = content.find(": ") != std::string_view::npos || content.ends_with(':') || content == "---" ||
                      is_comment_line(content) || content.starts_with("- ") || content.starts_with("{{") ||
                      content.starts_with("{%");
    words |= !yaml;
    return words;
  });
  return words;
}

// Whether the first line is one that `set -x` printed: "+ oc create -f -".
bool begins_with_trace(std::string_view text) {
  bool trace = false;
  any_line(text, [&](std::string_view, const PageLine& line) {
    trace = line.text.starts_with('+') && prompt_length(line.text) > 0;
    return true;
  });
  return trace;
}

}  // namespace

BlockText block_text(std::string_view text, BlockLanguage language) {
  if (begins_with_trace(text)) return BlockText::kCommands;
  if (language == BlockLanguage::kDifference || is_difference(text)) return BlockText::kOther;
  const std::string_view first = first_content(text);
  if (is_request_line(first)) return BlockText::kRequest;
  if (begins_manifest(text, first, language)) return BlockText::kManifest;
  if (language == BlockLanguage::kOther) return BlockText::kOther;
  if (begins_with_script(text) || is_console(text, language != BlockLanguage::kManifest) || has_prompt_at_margin(text))
    return BlockText::kCommands;
  switch (language) {
    case BlockLanguage::kManifest:
      return is_other_json(text) ? BlockText::kOther : BlockText::kManifest;
    case BlockLanguage::kShell:
    case BlockLanguage::kConsole:
      return BlockText::kCommands;
    case BlockLanguage::kUnsaid:
      return looks_like_manifest(text) && !begins_with_words(text) ? BlockText::kManifest : BlockText::kProse;
    case BlockLanguage::kDifference:
    case BlockLanguage::kOther:
      break;
  }
  return BlockText::kOther;
}

size_t body_of_request(std::string_view text) {
  size_t body = text.size();
  any_line(text, [&](std::string_view content, const PageLine& line) {
    if (!content.starts_with('{') && !content.starts_with('[')) return false;
    body = line.begin;
    return true;
  });
  return body;
}

bool looks_like_manifest(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  if (text[first] == '{') return text.find("\"kind\"") != std::string_view::npos;
  return has_line_with(text, "apiVersion:") || has_line_with(text, "kind:") ||
         has_line_with(text, "kubernetes.core.k8s:");
}

bool is_other_json(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return false;
  return !has_kind_in_json(text) && text.find("\"cniVersion\"") == std::string_view::npos;
}

}  // namespace railbed::check
