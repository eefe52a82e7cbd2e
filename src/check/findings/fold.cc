// SPDX-License-Identifier: Apache-2.0
#include "check/findings/fold.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "check/read/pods.h"
#include "doc/text.h"

namespace railbed::check {
namespace {

using doc::Diagnostic;

// What makes two findings of one place the same mistake: one that two rounds of repairs report, or a rule that comes to
// one place in several ways; the one that offers a repair is kept. Missing fields are all reported at their object.
using Mistake = std::tuple<doc::Layer, std::string, std::string>;
Mistake mistake(const Diagnostic& finding) {
  return {finding.layer, finding.id, finding.says == doc::Says::kMissingField ? finding.subject.field : ""};
}

void drop_twins(std::vector<Diagnostic>& findings) {
  std::map<std::tuple<Mistake, const doc::Source*, uint32_t>, size_t> first;
  std::vector<bool> dropped(findings.size());
  for (size_t i = 0; i < findings.size(); ++i) {
    Diagnostic& finding = findings[i];
    if (!finding.span.known()) continue;
    const auto key = std::tuple(mistake(finding), finding.span.source.get(), finding.span.offset);
    const auto [slot, fresh] = first.emplace(key, i);
    if (fresh) continue;
    dropped[i] = true;
    Diagnostic& kept = findings[slot->second];
    if (kept.edits.empty() && !finding.edits.empty()) std::swap(kept, finding);
  }
  size_t at = 0;
  std::erase_if(findings, [&](const Diagnostic&) { return dropped[at++]; });
}

// Whether an object with this finding is hidden from the rules.
bool breaks_its_object(const Diagnostic& finding) {
  if (!finding.span.known()) return false;
  if (finding.says == doc::Says::kUnknownKind) return true;
  if (finding.fails_where_applied) return false;
  return finding.severity == doc::Severity::kError && finding.missing.empty() && finding.layer != doc::Layer::kMeaning;
}

struct Region {
  size_t begin = 0;
  size_t end = 0;
};

std::string_view marked(const doc::Span& span) {
  return std::string_view(span.source->text).substr(span.offset, static_cast<size_t>(span.length));
}

// A finding that made its object unreadable, and the text of that object.
struct Cause {
  size_t finding = 0;
  doc::SourcePtr source;
  Region object;
};

// The document around a finding: from "---" (or a fence, or the next object in prose) to the next one.
Region document_around(const doc::Span& span) {
  const std::string_view text = span.source->text;
  const std::string_view line = doc::line_text(text, span.line);
  if (line.find("apiVersion:") < line.find("kind:") && line.find("kind:") != std::string_view::npos) {
    const auto at = static_cast<size_t>(line.data() - text.data());  // the whole text is one line
    return {at, at + line.size()};
  }
  const auto separator = [&](size_t at) {
    const std::string_view rest = text.substr(at);
    const std::string_view words = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
    return rest.starts_with("---") || rest.starts_with("```") || rest.starts_with("~~~") ||
           words.starts_with("apiVersion:") || words.starts_with("\"apiVersion\":");
  };
  size_t begin = std::min<size_t>(span.offset, text.size());
  while (begin > 0 && !((begin == text.size() || text[begin - 1] == '\n') && separator(begin))) --begin;
  size_t end = std::min<size_t>(span.offset, text.size());
  do end = std::min(text.find('\n', end), text.size() - 1) + 1;
  while (end < text.size() && !separator(end));
  return {begin, end};
}

// The kind of the object that a text is: that of the line which is indented least; empty where no line begins with it.
std::string_view kind_in(std::string_view text) {
  std::string_view kind;
  size_t least = std::string_view::npos;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos || first >= least) continue;
    line.remove_prefix(first);
    const std::string_view key = line.starts_with('"') ? "\"kind\":" : "kind:";
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    line.remove_prefix(std::min(line.find_first_not_of(" \t\"'"), line.size()));
    kind = line.substr(0, line.find_first_of(" \t\r\"',#"));
    least = first;
  }
  return kind;
}

// Whether an object only asks for networks and resources. A mistake in it hides none of them from others, although it
// names those that it asks for.
bool only_asks(std::string_view object) {
  return has_pods(kind_in(object));
}

// An unknown kind is reported once; notes mark the same word in the other objects.
void add_causes(const Diagnostic& finding, size_t number, std::vector<Cause>& causes) {
  causes.push_back({number, finding.span.source, document_around(finding.span)});
  if (finding.says != doc::Says::kUnknownKind) return;
  for (const Diagnostic::Note& note : finding.notes)
    if (note.span.known() && marked(note.span) == marked(finding.span))
      causes.push_back({number, note.span.source, document_around(note.span)});
}

bool is_name_byte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
}

bool holds_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !is_name_byte(text[at - 1]);
    const size_t end = at + word.size();
    if (begins && (end == text.size() || !is_name_byte(text[end]))) return true;
  }
  return false;
}

// The part of a name after its prefix or namespace.
std::string_view base(std::string_view name) {
  return name.substr(name.find('/') == std::string_view::npos ? 0 : name.rfind('/') + 1);
}

// Drops findings about missing fields in a sketch whose dots stand for omitted text.
void drop_what_dots_stand_for(std::vector<Diagnostic>& findings) {
  std::vector<std::pair<const doc::Source*, Region>> sketches;
  for (const Diagnostic& finding : findings)
    if (finding.says == doc::Says::kDots && finding.span.known())
      sketches.emplace_back(finding.span.source.get(), document_around(finding.span));
  const auto is_dots = [](const doc::Span& span) {
    return span.known() && std::string_view(span.source->text).substr(span.offset).starts_with("...");
  };
  std::erase_if(findings, [&](const Diagnostic& finding) {
    if (finding.layer != doc::Layer::kObject) return false;
    const bool dots_themselves = finding.says == doc::Says::kUnknownField || finding.says == doc::Says::kWrongType;
    if (dots_themselves && is_dots(finding.span)) return true;
    return is_missing(finding) && std::ranges::any_of(sketches, [&](const auto& sketch) {
             return finding.span.source.get() == sketch.first && finding.span.offset >= sketch.second.begin &&
                    finding.span.offset < sketch.second.end;
           });
  });
}

}  // namespace

bool is_missing(const Diagnostic& finding) {
  return finding.says == doc::Says::kMissingField || finding.says == doc::Says::kMisspeltField ||
         finding.says == doc::Says::kEmptyField;
}

void drop_second_placeholders(doc::Diagnostics& all) {
  std::vector<Diagnostic>& findings = all.mutable_all();
  std::set<std::pair<const doc::Source*, uint32_t>> reported;
  for (const Diagnostic& finding : findings)
    if (finding.is(doc::Layer::kText, doc::Says::kPlaceholder) && finding.span.known())
      reported.emplace(finding.span.source.get(), finding.span.offset);
  std::erase_if(findings, [&](const Diagnostic& finding) {
    return finding.says == doc::Says::kPlaceholder && finding.layer != doc::Layer::kText &&
           reported.contains({finding.span.source.get(), finding.span.offset});
  });
}

void fold(doc::Diagnostics& all) {
  std::vector<Diagnostic>& findings = all.mutable_all();
  drop_twins(findings);
  drop_what_dots_stand_for(findings);
  drop_second_placeholders(all);
  const bool anything_missing = std::ranges::any_of(findings, [](const Diagnostic& f) { return !f.missing.empty(); });
  if (!anything_missing) return;
  std::vector<Cause> causes;
  for (size_t i = 0; i < findings.size(); ++i)
    if (breaks_its_object(findings[i])) add_causes(findings[i], i, causes);
  std::erase_if(causes, [](const Cause& cause) {
    const std::string_view text = cause.source->text;
    return only_asks(text.substr(cause.object.begin, cause.object.end - cause.object.begin));
  });
  if (causes.empty()) return;
  std::set<size_t> folded;
  for (size_t i = 0; i < findings.size(); ++i) {
    Diagnostic& finding = findings[i];
    if (finding.missing.empty()) continue;
    const auto cause = std::ranges::find_if(causes, [&](const Cause& c) {
      const doc::SourcePtr& source = c.source;
      const bool inside =
          finding.span.source == source && finding.span.offset >= c.object.begin && finding.span.offset < c.object.end;
      const std::string_view text = source->text;
      const std::string_view object = text.substr(c.object.begin, c.object.end - c.object.begin);
      return !inside && holds_word(object, base(finding.missing));
    });
    if (cause == causes.end()) continue;
    findings[cause->finding].note(finding.span, "because of it: " + finding.message);
    folded.insert(i);
  }
  size_t at = 0;
  std::erase_if(findings, [&](const Diagnostic&) { return folded.contains(at++); });
}

}  // namespace railbed::check
