// SPDX-License-Identifier: Apache-2.0
#include "check/repair/realign.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>

#include <fmt/core.h>

#include "doc/edits.h"
#include "doc/yaml.h"

namespace railbed::check {
namespace {

using doc::Diagnostic;
using doc::SourcePtr;
using doc::Value;

constexpr size_t kEnclosing = 6;       // lines around the place that is reported, from the inside out
constexpr size_t kMostLines = 3;       // that are shifted, besides a whole block
constexpr long kMostBlanks = 8;        // by which they are shifted
constexpr size_t kNear = 20;           // lines at whose columns they may belong
constexpr size_t kMostFindings = 8;    // of one part; more are not a slip of some lines
constexpr size_t kMaxPart = 64 << 10;  // a document that is read dozens of times

struct PlacedLine {
  size_t begin = 0;
  size_t end = 0;  // behind its '\n'
  size_t indent = 0;
  bool content = false;  // neither empty nor a comment
  std::string_view text;
};

std::vector<PlacedLine> placed_lines(std::string_view text) {
  std::vector<PlacedLine> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    const size_t first = line.find_first_not_of(" \t\r\n");
    const bool empty = first == std::string_view::npos;
    lines.push_back({at, end, empty ? 0 : line.find_first_not_of(' '), !empty && line[first] != '#', line});
    at = end;
  }
  return lines;
}

// The part of a text that is read by itself: a document between "---" lines, a block between fences, else all
// of it.
struct DocumentPart {
  size_t begin = 0;
  size_t end = 0;
  std::string name;
  bool yaml = false;
};

// The parts of a text, in its order. Text between fences is no manifest and has no part.
std::vector<DocumentPart> documents_of(const doc::Source& source) {
  const std::string_view text = source.text;
  const bool manifest = source.name.ends_with(".yaml") || source.name.ends_with(".yml");
  std::vector<DocumentPart> parts;
  DocumentPart part{0, 0, manifest ? source.name : "fence.yaml", true};
  bool inside = manifest;
  for (const PlacedLine& line : placed_lines(text)) {
    const std::string_view content = line.text.substr(std::min(line.indent, line.text.size()));
    const bool mark = !manifest && (content.starts_with("```") || content.starts_with("~~~"));
    if (!mark && !line.text.starts_with("---")) continue;
    part.end = line.begin;
    if (inside) parts.push_back(part);
    part.begin = line.end;
    if (mark) inside = !inside;
  }
  part.end = text.size();
  if (inside) parts.push_back(part);
  return parts;
}

// The part that contains `offset`; the whole text where none does.
DocumentPart part_at(const std::vector<DocumentPart>& parts, const doc::Source& source, size_t offset) {
  const auto next = std::ranges::upper_bound(parts, offset, {}, &DocumentPart::begin);
  if (next != parts.begin() && offset < (next - 1)->end) return *(next - 1);
  return {0, source.text.size(), source.name, false};
}

// Some lines, and the number of blanks that they gain or lose.
struct Way {
  size_t first = 0;
  size_t last = 0;
  long blanks = 0;
  size_t changed() const { return last - first + 1; }
};

std::string_view key_of(std::string_view content) {
  const size_t colon = content.find(':');
  return content.substr(0, content.starts_with("- ") ? 1 : std::min(colon, content.size()));
}

bool is_misplaced(const Diagnostic& finding) {
  return finding.is(doc::Layer::kObject, doc::Says::kMisplacedField);
}

// Whether a finding says that a field has no place where it stands, or is missing where it has its place.
bool is_about_places(const Diagnostic& finding) {
  static constexpr doc::Says kOfPlaces[] = {doc::Says::kUnknownField, doc::Says::kMisplacedField,
                                            doc::Says::kMissingField, doc::Says::kMisspeltField,
                                            doc::Says::kEmptyField};
  return std::ranges::find(kOfPlaces, finding.says) != std::end(kOfPlaces);
}

// All findings of one part: lines that were shifted together give a finding each, and one shift repairs them all.
class Realigner {
 public:
  Realigner(std::vector<Diagnostic*> findings, DocumentPart part, const TryText& read, size_t& bytes)
      : findings_(std::move(findings)),
        read_(read),
        bytes_(bytes),
        source_(findings_[0]->span.source),
        part_(std::move(part)) {}

  void run() {
    for (Diagnostic* finding : findings_) moves_.push_back(std::exchange(finding->edits, {}));
    if (part_.end - part_.begin > kMaxPart) return;
    text_ = std::string_view(source_->text).substr(part_.begin, part_.end - part_.begin);
    lines_ = placed_lines(text_);
    if (is_misplaced(*findings_[0])) {
      keep({}, std::string(text_));
      well_formed_ = !results_.empty();
      if (well_formed_) least_ = results_[0].score.of_all;
      results_.clear();
      try_moves();
    }
    for (const Way& way : ways())
      if (!well_formed_ || moves_what_is_misplaced(way)) keep({way, {}}, text_of(way));
    decide();
  }

 private:
  // Lines to shift, or the moves that some findings (by number) already offer.
  struct Repair {
    std::optional<Way> way;
    std::vector<size_t> moves;
  };
  // How well a repair fits: the findings about the shifted lines themselves, and all findings.
  struct Score {
    size_t of_the_lines = 0;
    size_t of_all = 0;
    friend auto operator<=>(const Score&, const Score&) = default;
  };
  struct Result {
    Repair repair;
    Score score;
    std::vector<Value> meaning;
    size_t objects = 0;
  };

  // Tries all moves together, and each alone.
  void try_moves() {
    std::vector<size_t> all;
    for (size_t i = 0; i < moves_.size(); ++i)
      if (!moves_[i].empty()) all.push_back(i);
    if (all.size() > 1) try_move(all);
    for (const size_t one : all) try_move({one});
  }

  void try_move(const std::vector<size_t>& moves) {
    std::vector<doc::EditedText::Group> groups;
    for (const size_t one : moves) groups.push_back(moves_[one]);
    const doc::EditedText edited(source_, std::span<const doc::EditedText::Group>(groups));
    for (size_t i = 0; i < groups.size(); ++i)
      if (!edited.took(i)) return;
    const std::string& after = edited.after()->text;
    const size_t end = after.size() - (source_->text.size() - part_.end);
    keep({std::nullopt, moves}, after.substr(part_.begin, end - part_.begin));
  }

  void keep(Repair repair, std::string text) {
    const size_t size = text.size();
    if (!may_read(size)) return;
    const auto source = std::make_shared<doc::Source>(doc::Source{part_.name, std::move(text)});
    if (part_.yaml && is_broken(source)) return;
    if (!may_read(8 * std::max<size_t>(size, 1024))) return;
    Trial trial = read_(source);
    Result result{std::move(repair), {0, trial.findings.all().size()}, {}};
    const bool as_it_stands = !result.repair.way && result.repair.moves.empty();
    for (const Diagnostic& finding : trial.findings.all()) {
      if (is_syntax(finding)) return;
      if (as_it_stands && has_no_place(finding)) homeless_.insert(static_cast<size_t>(finding.span.line) - 1);
      result.score.of_the_lines += result.repair.way && is_of(*result.repair.way, finding);
    }
    result.objects = trial.bundle.documents.size();
    for (Document& document : trial.bundle.documents) result.meaning.push_back(std::move(document.value));
    for (Value& value : trial.bundle.without_kind) result.meaning.push_back(std::move(value));
    for (Value& value : result.meaning) {
      result.score.of_all += oddities(value);
      sort_members(value);
    }
    const auto same = std::ranges::find_if(results_, [&](const Result& r) { return r.meaning == result.meaning; });
    if (same == results_.end()) results_.push_back(std::move(result));
  }

  // Reading a short text has a minimum cost as well.
  bool may_read(size_t bytes) {
    bytes = std::max<size_t>(bytes, 1024);
    if (bytes_ < bytes) spent_ = true;
    if (!spent_) bytes_ -= bytes;
    return !spent_;
  }

  static bool is_syntax(const Diagnostic& finding) { return finding.layer == doc::Layer::kText; }
  static bool is_broken(const SourcePtr& source) {
    doc::Diagnostics problems;
    doc::parse_yaml(source, problems);
    return std::ranges::any_of(problems.all(), is_syntax);
  }

  // The order of fields has no meaning: a moved field may come after others.
  static void sort_members(Value& value) {
    if (Value::Array* items = value.as_array())
      for (Value& item : *items) sort_members(item);
    if (Value::Object* members = value.as_object()) {
      for (Value::Member& member : *members) sort_members(member.value);
      std::ranges::sort(*members, {}, &Value::Member::key);
    }
  }

  // Whether a finding says that a shifted line is still in a wrong place.
  bool is_of(const Way& way, const Diagnostic& finding) const {
    const auto line = static_cast<size_t>(finding.span.line) - 1;
    if (!finding.span.known() || line < way.first || line > way.last) return false;
    return is_about_places(finding) && lines_[line].indent == lines_[way.first].indent;
  }

  // Whether a key has no place where it stands: its parent has no such field.
  static bool has_no_place(const Diagnostic& finding) {
    if (!finding.span.known()) return false;
    return finding.says == doc::Says::kUnknownField || finding.says == doc::Says::kMisplacedField ||
           finding.says == doc::Says::kMisspeltField;
  }

  // Whether the outermost of the shifted lines include one that has no place where it stands. Where the indentation is
  // that of a valid text, a key that its parent has stands right: moved elsewhere, it would only take its own mistakes
  // to where nothing is compared.
  bool moves_what_is_misplaced(const Way& way) const {
    return std::ranges::any_of(homeless_, [&](size_t line) {
      return line >= way.first && line <= way.last && line < lines_.size() &&
             lines_[line].indent <= lines_[way.first].indent;
    });
  }

  // Drops repairs that leave the lines in a wrong place or improve nothing.
  void decide() {
    std::erase_if(results_,
                  [&](const Result& result) { return result.score.of_the_lines > 0 || result.score.of_all >= least_; });
    if (results_.empty() || spent_) return;
    // A repair that loses an object (an Ansible task without its definition) is worse than any finding.
    const size_t most = std::ranges::max_element(results_, {}, &Result::objects)->objects;
    std::erase_if(results_, [&](const Result& result) { return result.objects < most; });
    const Score best = std::ranges::min_element(results_, {}, &Result::score)->score;
    std::erase_if(results_, [&](const Result& result) { return result.score > best; });
    const Repair& repair = results_[0].repair;
    if (results_.size() > 1)
      report_all();
    else if (repair.way)
      offer(*repair.way);
    else
      for (const size_t one : repair.moves) findings_[one]->edits = moves_[one];
  }

  // Candidates for the first shifted line: the reported line, those around it (a key too far left changes the parent of
  // what is below), and some above each of these.
  std::set<size_t> firsts(size_t reported) const {
    std::set<size_t> firsts;
    size_t lowest = std::string::npos;
    size_t around = 0;
    const auto add = [&](size_t line) {
      size_t added = 0;
      for (size_t i = line + 1; i-- > 0 && added <= 2 * kMostLines;) {
        if (!lines_[i].content) continue;
        if (added <= kMostLines || lines_[i].indent == lines_[line].indent) firsts.insert(i);
        ++added;
      }
    };
    add(reported);
    // The reported line may be the first of an object whose following lines were shifted.
    for (size_t i = reported + 1; i < lines_.size() && firsts.upper_bound(reported) == firsts.end(); ++i)
      if (lines_[i].content) firsts.insert(i);
    for (size_t i = reported; i-- > 0 && around < kEnclosing;) {
      if (!lines_[i].content || lines_[i].indent >= lowest) continue;
      lowest = lines_[i].indent;
      ++around;
      add(i);
    }
    return firsts;
  }

  // Fewer lines first, then fewer blanks: when two ways give the same document the first one is taken.
  std::vector<Way> ways() const {
    std::set<std::pair<size_t, size_t>> blocks;
    for (size_t i = 0; i < std::min(findings_.size(), kMostFindings); ++i) {
      const size_t reported = line_at(findings_[i]->span.offset);
      if (!begins_its_line(findings_[i]->span.offset, lines_[reported])) continue;
      for (const size_t first : firsts(reported)) {
        for (size_t last = first, lines = 0; last < lines_.size() && lines < kMostLines; ++last)
          if (lines_[last].content) blocks.emplace(first, last), ++lines;
        blocks.emplace(first, block_end(first, lines_[first].indent + 1));
        if (first == reported) blocks.emplace(first, block_end(first, lines_[first].indent));
      }
    }
    std::vector<Way> ways;
    for (const auto& [first, last] : blocks)
      for (const long blanks : shifts(first))
        if (fits(first, last, blanks)) ways.push_back({first, last, blanks});
    std::ranges::stable_sort(ways, {}, [](const Way& way) { return std::pair(way.changed(), std::abs(way.blanks)); });
    return ways;
  }

  size_t line_at(size_t offset) const {
    const auto line =
        std::ranges::find_if(lines_, [&](const PlacedLine& one) { return offset < part_.begin + one.end; });
    return static_cast<size_t>(line - lines_.begin()) - (line == lines_.end() ? 1 : 0);
  }
  // Whether a key begins its line: it is not within braces or after another key.
  bool begins_its_line(size_t offset, const PlacedLine& line) const {
    const std::string_view before = line.text.substr(0, offset - part_.begin - line.begin);
    return before.find_first_not_of(" -") == std::string_view::npos;
  }

  // The last of the lines from `first` on that are indented by at least `indent`.
  size_t block_end(size_t first, size_t indent) const {
    size_t last = first;
    for (size_t i = first + 1; i < lines_.size(); ++i) {
      if (!lines_[i].content) continue;
      if (lines_[i].indent < indent) break;
      last = i;
    }
    return last;
  }

  // The possible shifts: to the columns of lines nearby, to their keys after a "- ", or one level below the line above.
  std::set<long> shifts(size_t first) const {
    std::set<long> shifts;
    const auto add = [&](size_t column) {
      const long blanks = static_cast<long>(column) - static_cast<long>(lines_[first].indent);
      if (blanks != 0 && std::abs(blanks) <= kMostBlanks) shifts.insert(blanks);
    };
    const size_t from = first - std::min(first, kNear);
    for (size_t i = from; i < std::min(lines_.size(), first + kNear); ++i) {
      if (!lines_[i].content || i == first) continue;
      add(lines_[i].indent);
      if (lines_[i].text.substr(lines_[i].indent).starts_with("- ")) add(lines_[i].indent + 2);
      if (i < first) add(lines_[i].indent + 2);
    }
    return shifts;
  }

  bool fits(size_t first, size_t last, long blanks) const {
    for (size_t i = first; i <= last; ++i)
      if (lines_[i].content && static_cast<long>(lines_[i].indent) + blanks < 0) return false;
    return true;
  }

  // The number of blanks that line `i` gains: comments move with their lines as far as possible.
  long blanks_of(const Way& way, size_t i) const {
    const bool empty = lines_[i].text.find_first_not_of(" \t\r\n") == std::string_view::npos;
    return empty ? 0 : std::max(way.blanks, -static_cast<long>(lines_[i].indent));
  }

  // Comments directly above, in the column of the first line, describe it.
  size_t first_with_comments(const Way& way) const {
    size_t first = way.first;
    while (first > 0 && !lines_[first - 1].content && lines_[first - 1].indent == lines_[way.first].indent &&
           lines_[first - 1].text.find('#') != std::string_view::npos)
      --first;
    return first;
  }

  std::string text_of(const Way& way) const {
    std::string text;
    for (size_t i = 0; i < lines_.size(); ++i) {
      std::string_view line = lines_[i].text;
      const long blanks = i >= way.first && i <= way.last ? blanks_of(way, i) : 0;
      if (blanks > 0) text.append(static_cast<size_t>(blanks), ' ');
      if (blanks < 0) line.remove_prefix(static_cast<size_t>(-blanks));
      text += line;
    }
    return text;
  }

  // The labels that a selector wants and the template beside it does not have: a field that was shifted among them is
  // no label.
  static size_t unmatched_labels(const Value& value) {
    const auto inside = [](const Value* from, std::initializer_list<std::string_view> keys) {
      for (const std::string_view key : keys) from = from == nullptr ? nullptr : from->find(key);
      return from;
    };
    const Value* wanted = inside(&value, {"selector", "matchLabels"});
    const Value* labels = inside(&value, {"template", "metadata", "labels"});
    if (wanted == nullptr || labels == nullptr || !wanted->is_object()) return 0;
    return static_cast<size_t>(std::ranges::count_if(
        *wanted->as_object(), [&](const Value::Member& one) { return labels->find(one.key) == nullptr; }));
  }

  // Counts what a schema accepts but no one writes: keys and items that became part of a plain text above, keys whose
  // lines were moved away, and labels that no template has.
  static size_t oddities(const Value& value) {
    size_t sum = unmatched_labels(value);
    if (const Value::Object* members = value.as_object())
      for (const Value::Member& member : *members)
        sum += oddities(member.value) + (member.value.is_null() && member.value.written().empty());
    if (const Value::Array* items = value.as_array())
      for (const Value& item : *items) sum += oddities(item);
    if (const std::string* text = value.as_string())
      sum += value.style == doc::Style::kPlain && !value.written().empty() && text->size() > value.written().size() &&
             text->starts_with(value.written());
    return sum;
  }

  int line_number(size_t i) const {
    const auto begin = source_->text.begin();
    return 1 + static_cast<int>(std::count(begin, begin + static_cast<long>(part_.begin + lines_[i].begin), '\n'));
  }
  size_t column(const Way& way) const {
    return static_cast<size_t>(static_cast<long>(lines_[way.first].indent) + way.blanks) + 1;
  }

  // "indent it by 1 blank less, to column 3"
  std::string advice(const Way& way, size_t reported) const {
    std::string what = "it";
    if (way.first != way.last)
      what = fmt::format("lines {} to {}", line_number(way.first), line_number(way.last));
    else if (way.first != reported)
      what = fmt::format("line {}", line_number(way.first));
    return fmt::format("indent {} by {} blank{} {}, to column {}", what, std::abs(way.blanks),
                       std::abs(way.blanks) == 1 ? "" : "s", way.blanks > 0 ? "more" : "less", column(way));
  }

  // The repair belongs to one finding: the first one on its lines, otherwise the first of all.
  void offer(const Way& way) {
    const auto on_its_lines = [&](const Diagnostic* finding) {
      const size_t line = line_at(finding->span.offset);
      return line >= way.first && line <= way.last;
    };
    const auto found = std::ranges::find_if(findings_, on_its_lines);
    Diagnostic& finding = found != findings_.end() ? **found : *findings_[0];
    const std::string fix = advice(way, line_at(finding.span.offset));
    const bool other = finding.says == doc::Says::kBadIndentation && finding.fix != fix;
    if (found == findings_.end() || other) reword(finding, way);
    finding.fix = advice(way, line_at(finding.span.offset));
    for (size_t i = first_with_comments(way); i <= way.last; ++i) {
      const long blanks = blanks_of(way, i);
      const size_t begin = part_.begin + lines_[i].begin;
      if (blanks > 0) finding.edits.push_back({source_, begin, 0, std::string(static_cast<size_t>(blanks), ' '), {}});
      if (blanks < 0) finding.edits.push_back({source_, begin, static_cast<size_t>(-blanks), "", {}});
    }
  }

  // Corrects a finding that was reported for a line that is right, or compared it with the wrong neighbour.
  void reword(Diagnostic& finding, const Way& way) const {
    const PlacedLine& line = lines_[way.first];
    const std::string_view content =
        line.text.substr(line.indent, line.text.find_last_not_of(" \r\n") + 1 - line.indent);
    const std::string_view key = key_of(content);
    finding.id = "RB-YAML-002";
    finding.of(doc::Layer::kText).that_says(doc::Says::kBadIndentation);
    finding.severity = doc::Severity::kError;
    finding.span.line = line_number(way.first);
    finding.span.offset = static_cast<uint32_t>(part_.begin + line.begin + line.indent);
    finding.span.column = static_cast<int>(line.indent) + 1;
    finding.span.length = static_cast<int>(key.size());
    finding.message =
        fmt::format("'{}' begins at column {}, which does not fit the lines around it", key, line.indent + 1);
  }

  void report_all() {
    Diagnostic& finding = *findings_[0];
    std::string fix;
    std::set<std::string> reported;
    for (const Result& result : results_) {
      const std::string one = result.repair.way ? advice(*result.repair.way, line_at(finding.span.offset))
                                                : findings_[result.repair.moves[0]]->fix;
      if (reported.size() == 3 || !reported.insert(one).second) continue;
      fix += (fix.empty() ? "" : ", or ") + one;
    }
    finding.fix = fix + ": the meanings differ, so nothing is changed";
  }

  std::vector<Diagnostic*> findings_;
  const TryText& read_;
  size_t& bytes_;
  SourcePtr source_;
  DocumentPart part_;
  std::string_view text_;
  std::vector<PlacedLine> lines_;
  std::vector<std::vector<doc::Edit>> moves_;  // by finding; may be empty
  bool well_formed_ = false;                   // the unmodified text can be read
  std::set<size_t> homeless_;                  // lines of it with a key that has no place there
  size_t least_ = SIZE_MAX;                    // the number of findings without any repair
  bool spent_ = false;
  std::vector<Result> results_;
};

}  // namespace

void realign(doc::Diagnostics& findings, const TryText& read, size_t& bytes) {
  std::map<const doc::Source*, std::vector<DocumentPart>> parts;
  std::map<std::pair<const doc::Source*, size_t>, std::pair<DocumentPart, std::vector<Diagnostic*>>> with_findings;
  for (Diagnostic& finding : findings.mutable_all()) {
    if (finding.says != doc::Says::kBadIndentation && !is_misplaced(finding)) continue;
    if (!finding.span.known()) continue;
    const doc::Source* source = finding.span.source.get();
    const auto [its_parts, fresh] = parts.try_emplace(source);
    if (fresh) its_parts->second = documents_of(*source);
    DocumentPart part = part_at(its_parts->second, *source, finding.span.offset);
    auto& [its, there] = with_findings[{source, part.begin}];
    its = std::move(part);
    there.push_back(&finding);
  }
  for (auto& [place, part] : with_findings) Realigner(std::move(part.second), std::move(part.first), read, bytes).run();
}

}  // namespace railbed::check
