// SPDX-License-Identifier: Apache-2.0
#include "doc/edits.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace railbed::doc {

namespace {

// The order in which edits are applied: an insertion at an offset comes before a removal from that offset, so that
// lines can be moved to the beginning of the block that they leave.
bool before_in_text(const Edit& a, const Edit& b) {
  return a.offset != b.offset ? a.offset < b.offset : a.length == 0 && b.length != 0;
}

// Whether two neighbours in that order touch the same bytes. Two insertions at one offset do not.
bool collide(const Edit& first, const Edit& next) {
  return next.offset < first.offset + first.length;
}

struct InText {
  bool operator()(const Edit* a, const Edit* b) const { return before_in_text(*a, *b); }
};
using Taken = std::multiset<const Edit*, InText>;

// Adds all edits of `group` to `taken`, or none if one of them collides.
bool take(Taken& taken, const EditedText::Group& group, const SourcePtr& source) {
  std::vector<Taken::iterator> put;
  for (const Edit& edit : group) {
    const size_t size = source->text.size();
    bool fits = edit.source == source && edit.offset <= size && edit.length <= size - edit.offset;
    const auto next = taken.upper_bound(&edit);
    if (fits && next != taken.begin()) fits = !collide(**std::prev(next), edit);
    if (fits && next != taken.end()) fits = !collide(edit, **next);
    if (fits) {
      put.push_back(taken.insert(next, &edit));
      continue;
    }
    for (const Taken::iterator& one : put) taken.erase(one);
    return false;
  }
  return true;
}

std::vector<EditedText::Group> each_alone(const EditedText::Group& edits) {
  std::vector<EditedText::Group> groups;
  for (const Edit& edit : edits) groups.push_back({edit});
  return groups;
}

}  // namespace

EditedText::EditedText(SourcePtr before, const Group& edits) : EditedText(std::move(before), each_alone(edits)) {}

EditedText::EditedText(SourcePtr before, std::span<const Group> groups)
    : before_(std::move(before)), lines_before_(before_) {
  Taken taken;
  for (const Group& group : groups) took_.push_back(take(taken, group, before_));
  const std::string& text = before_->text;
  std::string out;
  size_t at = 0;
  for (const Edit* edit : taken) {
    pieces_.push_back({out.size(), at, false});
    out.append(text, at, edit->offset - at);
    pieces_.push_back({out.size(), edit->origin.value_or(edit->offset), !edit->origin});
    out += edit->text;
    at = edit->offset + edit->length;
  }
  applied_ = taken.size();
  pieces_.push_back({out.size(), at, false});
  out.append(text, at);
  after_ = std::make_shared<Source>(Source{before_->name, std::move(out)});
}

Span EditedText::back(const Span& span) const {
  if (span.source != after_ || !span.known()) return span;
  const auto next = std::ranges::upper_bound(pieces_, size_t{span.offset}, {}, &Piece::after);
  const Piece& piece = *(next - 1);
  const size_t offset = piece.inserted ? piece.before : piece.before + (span.offset - piece.after);
  return lines_before_.at(offset, static_cast<size_t>(span.length));
}

namespace {

std::vector<std::string_view> lines_with_ends(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

// One change of lines: `removed` lines from `at_before`, `added` lines from `at_after`.
struct Hunk {
  size_t at_before, removed, at_after, added;
};

// Simple, because only a few lines differ, mostly in place: after each difference it looks for the nearest pair of
// equal lines.
std::vector<Hunk> hunks_of(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  constexpr size_t kReach = 400;
  std::vector<Hunk> hunks;
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      ++i, ++j;
      continue;
    }
    size_t skip_a = a.size() - i;
    size_t skip_b = b.size() - j;
    for (size_t sum = 1; sum <= std::min(kReach, skip_a + skip_b); ++sum) {
      bool found = false;
      for (size_t x = 0; x <= sum && !found; ++x)
        if (i + x < a.size() && j + sum - x < b.size() && a[i + x] == b[j + sum - x]) {
          skip_a = x, skip_b = sum - x;
          found = true;
        }
      if (found) break;
    }
    hunks.push_back({i, skip_a, j, skip_b});
    i += skip_a, j += skip_b;
  }
  return hunks;
}

void append_line(std::string& out, char sign, std::string_view line) {
  out += sign;
  out += line;
  if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
}

}  // namespace

std::string unified_diff(const std::string& name, std::string_view before, std::string_view after) {
  constexpr size_t kContext = 3;
  const auto a = lines_with_ends(before);
  const auto b = lines_with_ends(after);
  const auto hunks = hunks_of(a, b);
  if (hunks.empty()) return "";
  std::string out = fmt::format("--- {}\n+++ {}\n", name, name);
  for (size_t first = 0; first < hunks.size();) {
    size_t last = first;
    while (last + 1 < hunks.size() &&
           hunks[last + 1].at_before - (hunks[last].at_before + hunks[last].removed) <= 2 * kContext)
      ++last;
    const Hunk& head = hunks[first];
    const Hunk& tail = hunks[last];
    const size_t lead = std::min(kContext, head.at_before);
    const size_t end_a = std::min(a.size(), tail.at_before + tail.removed + kContext);
    const size_t end_b = tail.at_after + tail.added + (end_a - tail.at_before - tail.removed);
    out += fmt::format("@@ -{},{} +{},{} @@\n", head.at_before - lead + 1, end_a - (head.at_before - lead),
                       head.at_after - lead + 1, end_b - (head.at_after - lead));
    size_t at = head.at_before - lead;
    for (size_t h = first; h <= last; ++h) {
      for (; at < hunks[h].at_before; ++at) append_line(out, ' ', a[at]);
      for (size_t k = 0; k < hunks[h].removed; ++k) append_line(out, '-', a[at++]);
      for (size_t k = 0; k < hunks[h].added; ++k) append_line(out, '+', b[hunks[h].at_after + k]);
    }
    for (; at < end_a; ++at) append_line(out, ' ', a[at]);
    first = last + 1;
  }
  return out;
}

}  // namespace railbed::doc
