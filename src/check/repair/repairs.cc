// SPDX-License-Identifier: Apache-2.0
#include "check/repair/repairs.h"

#include <algorithm>
#include <map>
#include <set>

#include "check/read/blanks.h"
#include "check/read/bundle.h"
#include "doc/json.h"

namespace railbed::check {
namespace {

using doc::Diagnostic;
using doc::Edit;
using doc::SourcePtr;
using doc::Value;

constexpr std::string_view kBlanksAndBreaks = " \t\r\n";

// The text without indentation, blanks and line ends.
std::string without_any_blanks(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with(kNoBreak))
      ++i;
    else if (kBlanksAndBreaks.find(text[i]) == std::string_view::npos)
      out += text[i];
  }
  return out;
}

// A line without the blanks around its content.
std::string_view without_margins(std::string_view line) {
  for (;;) {
    const size_t before = line.size();
    line.remove_prefix(std::min(line.find_first_not_of(kBlanksAndBreaks), line.size()));
    if (line.starts_with(kNoBreak)) line.remove_prefix(kNoBreak.size());
    if (line.size() == before) break;
  }
  return line.substr(0, line.find_last_not_of(kBlanksAndBreaks) + 1);
}

// How often each line with content occurs in a text; no-break spaces count as blanks.
std::map<std::string, int> contents(std::string_view text) {
  std::map<std::string, int> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line(without_margins(text.substr(at, end - at)));
    for (size_t i = line.find(kNoBreak); i != std::string::npos; i = line.find(kNoBreak, i))
      line.replace(i, kNoBreak.size(), " ");
    if (!line.empty()) ++lines[std::move(line)];
    at = end + 1;
  }
  return lines;
}

std::string_view written(const Edit& edit) {
  return std::string_view(edit.source->text).substr(edit.offset, edit.length);
}

// Whether the edit replaces words; other edits move or indent lines.
bool changes_words(const Edit& edit) {
  if (edit.origin) return false;
  if (edit.length == 0 || edit.text.empty())
    return edit.length == 0 && edit.text.find_first_not_of(kBlanksAndBreaks) != std::string::npos;
  return without_any_blanks(written(edit)) != without_any_blanks(edit.text);
}

bool is_plain_word(std::string_view text) {
  return !text.empty() && text.find_first_of(" \t\r\n\"'#[]{}") == std::string_view::npos;
}

// Whether the edit is after `kind:` on its line.
bool is_of_kind(const Edit& edit) {
  const std::string_view text = edit.source->text;
  const size_t begin = edit.offset == 0 ? 0 : text.rfind('\n', edit.offset - 1) + 1;  // npos + 1 is 0
  std::string_view line = text.substr(begin, edit.offset - begin);
  line.remove_prefix(std::min(line.find_first_not_of(" \t-{\"'"), line.size()));
  if (!line.starts_with("kind")) return false;
  line.remove_prefix(4);
  return line.find_first_not_of("\"' \t") != std::string_view::npos && line[line.find_first_not_of("\"' \t")] == ':';
}

// Whether the finding announces this change of words, so that it loses nothing unnoticed.
bool is_announced(const Edit& edit, const Diagnostic& finding) {
  const std::string_view old = written(edit);
  if (edit.text.find('\n') != std::string::npos || old.find('\n') != std::string_view::npos) return false;
  if (is_of_kind(edit)) return false;
  if (old.empty()) return edit.text == "\"" || edit.text == "# ";
  const bool wrapped = edit.text.size() == old.size() + 2 && edit.text.substr(1, old.size()) == old &&
                       (edit.text.front() == '"' || edit.text.front() == '[');
  const bool unwrapped = old.size() == edit.text.size() + 2 && old.substr(1, edit.text.size()) == edit.text &&
                         (old.front() == '"' || old.front() == '\'');
  const bool renamed =
      is_plain_word(old) && is_plain_word(edit.text) && finding.fix.find(edit.text) != std::string::npos;
  return wrapped || unwrapped || renamed;
}

// Counts all keys, and all scalars with their types. Texts count without blanks, because their lines may be indented.
void count_parts(const Value& value, std::map<std::string, int>& parts) {
  if (const Value::Object* members = value.as_object()) {
    for (const Value::Member& member : *members) {
      ++parts["key " + member.key];
      count_parts(member.value, parts);
    }
  } else if (const Value::Array* items = value.as_array()) {
    for (const Value& item : *items) count_parts(item, parts);
  } else if (const std::string* text = value.as_string()) {
    ++parts["text " + without_any_blanks(*text)];
  } else if (!value.is_null()) {  // `key:` is null while its content is in another place
    ++parts["value " + doc::to_json(value)];
  }
}

// The parts of all documents; nullopt when a document cannot be read.
std::optional<std::map<std::string, int>> counted_parts(const SourcePtr& source) {
  doc::Diagnostics problems;
  const Bundle bundle = read_bundle({source}, problems);
  for (const Diagnostic& problem : problems.all())
    if (problem.layer == doc::Layer::kText) return std::nullopt;
  std::map<std::string, int> parts;
  for (const Document& document : bundle.documents) {
    if (document.rebuilt) return std::nullopt;  // the object is only a guess
    count_parts(document.value, parts);
  }
  for (const Value& value : bundle.without_kind) count_parts(value, parts);
  return parts;
}

// Findings with repairs.
using Offers = std::vector<Diagnostic*>;

// Findings about one text whose repairs change words only as announced.
Offers with_repairs(doc::Diagnostics& findings, doc::Applicability least) {
  Offers out;
  for (Diagnostic& finding : findings.mutable_all()) {
    if (!is_repairable(finding, least)) continue;
    const SourcePtr& source = finding.edits.front().source;
    const bool allowed = std::ranges::all_of(finding.edits, [&](const Edit& edit) {
      return edit.source == source && (!changes_words(edit) || is_announced(edit, finding));
    });
    if (allowed)
      out.push_back(&finding);
    else
      finding.edits.clear();
  }
  return out;
}

// The lines between the first and the last edit of a finding that moves lines.
struct Reach {
  size_t begin = 0;
  size_t end = 0;
};
std::optional<Reach> reach_of(const Diagnostic& finding) {
  if (std::ranges::all_of(finding.edits, changes_words)) return std::nullopt;
  Reach reach{SIZE_MAX, 0};
  for (const Edit& edit : finding.edits) {
    reach.begin = std::min(reach.begin, edit.offset);
    reach.end = std::max(reach.end, edit.offset + edit.length);
  }
  return reach;
}

// Findings whose repairs do not overlap: two moves of the same lines may each be right, but not both.
Offers apart(const Offers& findings) {
  std::map<size_t, size_t> taken;  // begin → end
  Offers out;
  for (Diagnostic* finding : findings) {
    const auto reach = reach_of(*finding);
    if (reach) {
      const auto next = taken.upper_bound(reach->end);
      if (next != taken.begin() && std::prev(next)->second >= reach->begin) continue;
      taken.emplace(reach->begin, reach->end);
    }
    out.push_back(finding);
  }
  return out;
}

doc::EditedText edited(const SourcePtr& source, const Offers& findings) {
  std::vector<doc::EditedText::Group> groups;
  for (const Diagnostic* finding : findings) groups.push_back(finding->edits);
  return {source, std::span<const doc::EditedText::Group>(groups)};
}

// Drops repairs that lose something: if all together keep everything they stay, otherwise each half is tested by
// itself. `budget` bounds how often a text is read for this.
Offers that_keep(const SourcePtr& source, const Offers& findings, int& budget) {
  if (findings.empty()) return {};
  const doc::EditedText text = edited(source, findings);
  Offers taken;
  for (size_t i = 0; i < findings.size(); ++i)
    if (text.took(i)) taken.push_back(findings[i]);
  if (--budget >= 0 && keeps_everything(source, text.after(), {taken.begin(), taken.end()})) return taken;
  if (findings.size() == 1 || budget < 0) {
    for (Diagnostic* finding : findings) finding->edits.clear();
    return {};
  }
  const auto middle = findings.begin() + static_cast<long>(findings.size() / 2);
  Offers kept = that_keep(source, {findings.begin(), middle}, budget);
  const Offers rest = that_keep(source, {middle, findings.end()}, budget);
  kept.insert(kept.end(), rest.begin(), rest.end());
  return kept;
}

}  // namespace

bool keeps_everything(const SourcePtr& before, const SourcePtr& after, const std::vector<const Diagnostic*>& findings) {
  std::vector<Edit> words;
  for (const Diagnostic* finding : findings)
    std::ranges::copy_if(finding->edits, std::back_inserter(words), [](const Edit& edit) {
      return changes_words(edit) || written(edit) == kNoBreak;  // YAML reads no-break spaces as parts of words
    });
  const SourcePtr wanted = words.empty() ? before : doc::EditedText(before, words).after();
  if (contents(wanted->text) != contents(after->text)) return false;
  const auto wanted_parts = counted_parts(wanted);
  if (!wanted_parts) return true;
  const auto parts = counted_parts(after);
  return parts && *parts == *wanted_parts;
}

bool Texts::apply(doc::Diagnostics& findings, doc::Applicability least) {
  // Reading a text of some megabytes takes a second, so a text with many errors gets fewer repairs.
  int budget = 64;
  bool changed = false;
  const Offers all = with_repairs(findings, least);
  if (all.empty()) return false;
  for (SourcePtr& source : current_) {
    Offers its;
    std::ranges::copy_if(all, std::back_inserter(its),
                         [&](const Diagnostic* finding) { return finding->edits.front().source == source; });
    its = that_keep(source, apart(its), budget);
    if (its.empty()) continue;
    doc::EditedText text = edited(source, its);
    if (text.applied() == 0 || text.after()->text == source->text) continue;
    // Two halves that each keep everything may still lose something together.
    if (!keeps_everything(source, text.after(), {its.begin(), its.end()})) {
      for (size_t i = 1; i < its.size(); ++i) its[i]->edits.clear();
      text = edited(source, {its.front()});
    }
    source = text.after();
    history_.push_back(std::move(text));
    changed = true;
  }
  return changed;
}

doc::Span Texts::back(doc::Span span) const {
  for (size_t i = history_.size(); i-- > 0;) span = history_[i].back(span);
  return span;
}

void Texts::to_given(doc::Diagnostics& findings) const {
  for (Diagnostic& finding : findings.mutable_all()) {
    finding.span = back(finding.span);
    for (Diagnostic::Note& note : finding.notes) note.span = back(note.span);
  }
}

std::vector<Repair> Texts::repairs() const {
  std::vector<Repair> out;
  for (size_t i = 0; i < given_.size(); ++i)
    if (current_[i] != given_[i] && current_[i]->text != given_[i]->text) out.push_back({given_[i], current_[i]});
  return out;
}

}  // namespace railbed::check
