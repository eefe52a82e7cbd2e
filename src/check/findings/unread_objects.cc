// SPDX-License-Identifier: Apache-2.0
#include "check/findings/unread_objects.h"

#include <algorithm>
#include <optional>
#include <string>

#include <fmt/core.h>

#include "base/text.h"

namespace railbed::check {
namespace {

constexpr std::string_view kBlanksOfYaml = " \t\r";

// A document's lines: what is between two lines of "---", or of a page's fence.
bool separates_documents(std::string_view line) {
  const std::string_view content = trimmed(line);
  return line.starts_with("---") || content.starts_with("```") || content.starts_with("~~~") || content == "EOF";
}

// The scalar behind "key:" without quotes and comments; nullopt where the line has another key.
std::optional<std::string_view> scalar_behind(std::string_view content, std::string_view key) {
  if (!content.starts_with(key) || content.size() == key.size() || content[key.size()] != ':') return std::nullopt;
  std::string_view value = content.substr(key.size() + 1);
  value = trimmed(value.substr(0, value.find(" #")));
  if (value.size() > 1 && (value[0] == '"' || value[0] == '\'') && value.back() == value[0])
    value = value.substr(1, value.size() - 2);
  return value;
}

// "name" in "{name: a, namespace: b}".
std::string_view member_of_flow(std::string_view flow, std::string_view key) {
  for (size_t at = flow.find(key); at != std::string_view::npos; at = flow.find(key, at + 1)) {
    const bool begins = at > 0 && std::string_view("{, ").find(flow[at - 1]) != std::string_view::npos;
    if (!begins) continue;
    const std::string_view rest = flow.substr(at);
    if (const auto value = scalar_behind(rest.substr(0, rest.find_first_of(",}")), key)) return *value;
  }
  return {};
}

// Reads the lines of one object after another, and keeps the last one that begins before the place.
class LinesOfObjects {
 public:
  // Whether the line ends the search: it begins another object behind the place.
  bool take(std::string_view line, bool before_place) {
    const size_t indent = line.find_first_not_of(kBlanksOfYaml);
    if (indent == std::string_view::npos) return false;
    std::string_view content = trimmed(line);
    const bool begins = content.starts_with("apiVersion:") || content.starts_with("kind:");
    if (!base_ && begins) base_ = indent;
    if (!base_) return false;
    if (indent == *base_) return take_key(content, before_place);
    if (inside_metadata_) take_metadata(content, indent);
    return false;
  }

  doc::Subject subject() const {
    doc::Subject out;
    out.kind = kind_;
    if (!kind_.empty() && !name_.empty())
      out.object = ns_.empty() || ns_ == "default" ? name_ : fmt::format("{}/{}", ns_, name_);
    return out;
  }

 private:
  bool take_key(std::string_view content, bool before_place) {
    inside_metadata_ = false;
    name_column_.reset();
    const bool again =
        (content.starts_with("apiVersion:") && has_version_) || (content.starts_with("kind:") && !kind_.empty());
    if (again && !before_place) return true;
    if (again) {
      kind_.clear();
      name_.clear();
      ns_.clear();
      has_version_ = false;
    }
    has_version_ |= content.starts_with("apiVersion:");
    if (const auto kind = scalar_behind(content, "kind")) kind_ = *kind;
    if (const auto metadata = scalar_behind(content, "metadata")) {
      inside_metadata_ = metadata->empty();
      name_ = member_of_flow(*metadata, "name");
      ns_ = member_of_flow(*metadata, "namespace");
    }
    return false;
  }

  void take_metadata(std::string_view content, size_t indent) {
    if (!name_column_) name_column_ = indent;
    if (indent != *name_column_) return;
    if (const auto name = scalar_behind(content, "name")) name_ = *name;
    if (const auto ns = scalar_behind(content, "namespace")) ns_ = *ns;
  }

  std::optional<size_t> base_;         // the column of the object's own keys
  std::optional<size_t> name_column_;  // and of those of its metadata
  bool inside_metadata_ = false;
  bool has_version_ = false;
  std::string kind_;
  std::string name_;
  std::string ns_;
};

constexpr size_t kMostRead = 16 << 10;  // bytes before and behind a place: there may be ten thousand places

// Where the document around a place begins, as far as it is looked for.
size_t begin_of_document(std::string_view text, size_t place) {
  size_t begin = 0;
  if (place > kMostRead) begin = std::min(text.find('\n', place - kMostRead), place - 1) + 1;
  for (size_t at = begin; at < place && at < text.size();) {
    const size_t next = std::min(text.find('\n', at), text.size() - 1) + 1;
    if (next > place) break;
    if (separates_documents(text.substr(at, next - at))) begin = next;
    at = next;
  }
  return begin;
}

}  // namespace

doc::Subject object_by_lines(std::string_view text, size_t place) {
  place = std::min(place, text.size());
  LinesOfObjects lines;
  const size_t begin = begin_of_document(text, place);
  for (size_t at = begin; at < text.size() && at < place + kMostRead;) {
    const size_t next = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, next - at);
    if (at > place && separates_documents(line)) break;
    if (lines.take(line, at <= place)) break;
    at = next;
  }
  return lines.subject();
}

}  // namespace railbed::check
