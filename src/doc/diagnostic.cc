// SPDX-License-Identifier: Apache-2.0
#include "doc/diagnostic.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "doc/render.h"
#include "doc/text.h"

namespace railbed::doc {

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "?";
}

std::string_view confidence_name(Confidence confidence) {
  static constexpr std::string_view kNames[] = {"low", "medium", "high"};
  return kNames[static_cast<size_t>(confidence)];
}

std::string_view applicability_name(Applicability applicability) {
  static constexpr std::string_view kNames[] = {"none", "suggested", "safe"};
  return kNames[static_cast<size_t>(applicability)];
}

Diagnostic& Diagnostic::note(Span where, std::string text) {
  notes.push_back({std::move(where), std::move(text)});
  return *this;
}

Diagnostic& Diagnostic::with_fix(std::string text) {
  fix = std::move(text);
  return *this;
}

Diagnostic& Diagnostic::with_edit(Span where, std::string text) {
  edits.push_back({where.source, where.offset, static_cast<size_t>(where.length), std::move(text), {}});
  return *this;
}

Diagnostic& Diagnostic::looks_for(std::string name) {
  missing = std::move(name);
  return *this;
}

Diagnostic& Diagnostic::of(Layer where) {
  layer = where;
  return *this;
}

Diagnostic& Diagnostic::that_says(Says what) {
  says = what;
  return *this;
}

Diagnostic& Diagnostic::that_explains(Says what) {
  explains = what;
  return *this;
}

Diagnostic& Diagnostic::about_field(std::string path) {
  subject.field = std::move(path);
  return *this;
}

Diagnostic& Diagnostic::for_one_machine() {
  audience = Audience::kOneMachine;
  return *this;
}

Diagnostic& Diagnostic::that_fails_where_applied() {
  fails_where_applied = true;
  return *this;
}

Diagnostic& Diagnostic::rests_on(Span where) {
  grounds.push_back(std::move(where));
  return *this;
}

Diagnostic& Diagnostic::rests_on_itself() {
  alone = true;
  return *this;
}

Diagnostic& Diagnostic::at_most(Confidence most, std::string reason) {
  if (confidence <= most) return *this;
  confidence = most;
  why = std::move(reason);
  return *this;
}

std::string Subject::to_string() const {
  std::string text = object.empty() ? kind : fmt::format("{} {}", kind, object);
  return field.empty() ? text : fmt::format("{}: {}", text, field);
}

Diagnostic& Diagnostics::error(std::string_view id, Span span, std::string message) {
  return all_.emplace_back(Diagnostic{std::string(id), Severity::kError, std::move(span), std::move(message)});
}

Diagnostic& Diagnostics::warning(std::string_view id, Span span, std::string message) {
  return all_.emplace_back(Diagnostic{std::string(id), Severity::kWarning, std::move(span), std::move(message)});
}

Diagnostic& Diagnostics::note(std::string_view id, Span span, std::string message) {
  return all_.emplace_back(Diagnostic{std::string(id), Severity::kNote, std::move(span), std::move(message)});
}

bool Diagnostics::has_errors() const {
  return count(Severity::kError) > 0;
}

size_t Diagnostics::count(Severity severity) const {
  return static_cast<size_t>(std::ranges::count_if(all_, [&](const Diagnostic& d) { return d.severity == severity; }));
}

void Diagnostics::append(Diagnostics other) {
  std::ranges::move(other.all_, std::back_inserter(all_));
}

void Diagnostics::sort() {
  using Key = std::tuple<bool, std::string_view, int, int, size_t>;
  std::vector<Key> order;
  for (const Diagnostic& d : all_) {
    const std::string_view name = d.span.source ? std::string_view(d.span.source->name) : "";
    order.emplace_back(!d.span.known(), name, d.span.line, d.span.column, order.size());
  }
  std::ranges::sort(order);
  std::vector<Diagnostic> sorted;
  for (const Key& key : order) sorted.push_back(std::move(all_[std::get<size_t>(key)]));
  all_ = std::move(sorted);
}

namespace {
constexpr size_t kMaxShownBytes = 100;

// The visible part of a line, split at the marked bytes.
struct Excerpt {
  std::string before, marked, after;
};

Excerpt cut_around(std::string_view line, size_t column, size_t length) {
  const size_t start = std::min(column - 1, line.size());
  length = std::min({length, line.size() - start, kMaxShownBytes / 2});
  size_t from = 0;
  size_t to = line.size();
  if (line.size() > kMaxShownBytes) {
    from = start + length > kMaxShownBytes - 20 ? start - std::min(start, kMaxShownBytes / 3) : 0;
    to = std::min(line.size(), from + kMaxShownBytes);
    while (from > 0 && is_utf8_continuation(line[from])) --from;
    while (to < line.size() && is_utf8_continuation(line[to])) ++to;
  }
  Excerpt excerpt{printable(line.substr(from, start - from)), printable(line.substr(start, length)),
                  printable(line.substr(start + length, to - start - length))};
  if (from > 0) excerpt.before = "…" + excerpt.before;
  if (to < line.size()) excerpt.after += "…";
  return excerpt;
}

// As many blanks as the text has characters, with its tabs, so that the caret is below the right character.
std::string blanks_for(std::string_view text) {
  std::string out;
  for (char c : text)
    if (!is_utf8_continuation(c)) out += c == '\t' ? '\t' : ' ';
  return out;
}

// The part of the line around a span that can be shown: a line may be as long as the file.
struct Surroundings {
  std::string_view text;
  size_t column = 1;  // of the span in it
};

Surroundings around(const Span& span) {
  constexpr size_t kReach = 3 * kMaxShownBytes;
  const std::string_view text = span.source->text;
  const auto column = static_cast<size_t>(span.column);
  const bool has_offset = (span.offset > 0 || span.line == 1) && span.offset < text.size() && span.offset + 1 >= column;
  if (!has_offset) return {line_text(text, span.line), column};
  const size_t back = std::min(column - 1, kReach);
  std::string_view part = text.substr(span.offset - back);
  part = part.substr(0, back + static_cast<size_t>(std::max(span.length, 0)) + kReach);
  const size_t end = part.find('\n', back);
  if (end != std::string_view::npos) part = part.substr(0, end);
  if (part.ends_with('\r')) part.remove_suffix(1);
  return {part, back + 1};
}

std::string excerpt_lines(const Span& span, Paint paint, Colour colour) {
  const Surroundings line = around(span);
  const Excerpt e = cut_around(line.text, line.column, static_cast<size_t>(std::max(span.length, 0)));
  const size_t width = std::max<size_t>(blanks_for(e.marked).size(), 1);
  return fmt::format("{:>6} | {}{}{}\n       | {}{}\n", span.line, e.before, e.marked, e.after, blanks_for(e.before),
                     painted("^" + std::string(width - 1, '~'), paint, colour));
}

Paint paint_of(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return Paint::kBad;
    case Severity::kWarning:
      return Paint::kWarning;
    case Severity::kNote:
      return Paint::kDim;
  }
  return Paint::kNone;
}
}  // namespace

std::string render(const Diagnostic& d, Colour colour) {
  const Paint paint = paint_of(d.severity);
  std::string place;
  if (!d.span.known() && !d.subject.kind.empty())
    place = printable(d.subject.to_string()) + ":";
  else if (d.span.source != nullptr)
    place = printable(d.span.to_string()) + ":";
  std::string out = place.empty() ? "" : painted(place, Paint::kStrong, colour) + " ";
  out += painted(fmt::format("{}:", severity_name(d.severity)), paint, colour) + " " + printable(d.message);
  out += d.id.empty() ? "\n" : painted(fmt::format(" [{}]", d.id), Paint::kDim, colour) + "\n";
  if (d.span.known()) out += excerpt_lines(d.span, paint, colour);
  for (const Diagnostic::Note& n : d.notes) {
    const std::string other = n.span.source ? printable(n.span.to_string()) + ": " : "";
    out += fmt::format("  {} {}{}\n", painted("note:", Paint::kDim, colour), other, printable(n.text));
    if (n.span.known()) out += excerpt_lines(n.span, Paint::kDim, colour);
  }
  if (d.confidence != Confidence::kHigh)
    out += fmt::format("  {} {}{}{}\n", painted("confidence:", Paint::kDim, colour), confidence_name(d.confidence),
                       d.why.empty() ? "" : "; ", printable(d.why));
  else if (!d.why.empty())
    out += fmt::format("  {} {}\n", painted("why:", Paint::kDim, colour), printable(d.why));
  if (!d.fix.empty()) out += fmt::format("  {} {}\n", painted("fix:", Paint::kGood, colour), printable(d.fix));
  return out;
}

std::string render(const Diagnostics& diagnostics, Colour colour) {
  std::string out;
  for (const Diagnostic& d : diagnostics.all()) out += render(d, colour);
  return out;
}

std::string render(const Diagnostic& diagnostic) {
  return render(diagnostic, Colour::kNo);
}
std::string render(const Diagnostics& diagnostics) {
  return render(diagnostics, Colour::kNo);
}

}  // namespace railbed::doc
