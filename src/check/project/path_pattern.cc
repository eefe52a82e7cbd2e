// SPDX-License-Identifier: Apache-2.0
#include "check/project/path_pattern.h"

#include <algorithm>

namespace railbed::check {
namespace {

constexpr size_t kNowhere = std::string_view::npos;

// The end of the bracket expression that begins at `at`, behind its "]"; kNowhere where it is not closed.
size_t end_of_bracket(std::string_view pattern, size_t at) {
  size_t i = at + 1;
  if (i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^')) ++i;
  if (i < pattern.size() && pattern[i] == ']') ++i;  // as the first character it is one of the set
  for (; i < pattern.size(); ++i) {
    if (pattern[i] == '\\')
      ++i;
    else if (pattern[i] == ']')
      return i + 1;
  }
  return kNowhere;
}

bool bracket_fits(std::string_view inside, char c) {
  const bool negated = inside.starts_with('!') || inside.starts_with('^');
  if (negated) inside.remove_prefix(1);
  bool found = false;
  const auto next = [&inside] {
    if (inside.size() > 1 && inside.front() == '\\') inside.remove_prefix(1);
    const char one = inside.front();
    inside.remove_prefix(1);
    return static_cast<unsigned char>(one);
  };
  while (!inside.empty()) {
    const unsigned char low = next();
    unsigned char high = low;
    if (inside.size() > 1 && inside.front() == '-') {
      inside.remove_prefix(1);
      high = next();
    }
    found |= low <= static_cast<unsigned char>(c) && static_cast<unsigned char>(c) <= high;
  }
  return found != negated;
}

// What one step of a pattern takes: a character of the name, with the place of the next step.
struct PatternStep {
  size_t next = kNowhere;  // kNowhere: the pattern is broken
  bool fits = false;
};

PatternStep pattern_step(std::string_view pattern, size_t at, char c) {
  switch (pattern[at]) {
    case '?':
      return {at + 1, true};
    case '\\':
      if (at + 1 == pattern.size()) return {};
      return {at + 2, pattern[at + 1] == c};
    case '[': {
      const size_t end = end_of_bracket(pattern, at);
      if (end == kNowhere) return {};
      return {end, bracket_fits(pattern.substr(at + 1, end - at - 2), c)};
    }
    default:
      return {at + 1, pattern[at] == c};
  }
}

std::vector<std::string> split_at_slashes(std::string_view path) {
  std::vector<std::string> names;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    if (end > 0) names.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return names;
}

// Whether the names of a path fit those of a pattern. Going back to the last "**" alone is enough: what an earlier one
// took can only have been too little for names that the last one has passed already.
bool names_fit(const std::vector<std::string>& pattern, const std::vector<std::string>& names) {
  size_t p = 0;
  size_t n = 0;
  size_t star = kNowhere;
  size_t star_took = 0;
  while (n < names.size()) {
    if (p < pattern.size() && pattern[p] == "**") {
      star = p++;
      star_took = n;
    } else if (p < pattern.size() && name_fits(pattern[p], names[n])) {
      ++p;
      ++n;
    } else if (star != kNowhere) {
      p = star + 1;
      n = ++star_took;
    } else {
      return false;
    }
  }
  // "a/**" is what is in a, not a itself.
  if (p < pattern.size() && pattern[p] == "**") return false;
  return p == pattern.size();
}

}  // namespace

bool name_fits(std::string_view pattern, std::string_view name) {
  size_t p = 0;
  size_t n = 0;
  size_t star = kNowhere;
  size_t star_took = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_took = n;
      continue;
    }
    if (p < pattern.size()) {
      const PatternStep step = pattern_step(pattern, p, name[n]);
      if (step.next == kNowhere) return false;
      if (step.fits) {
        p = step.next;
        ++n;
        continue;
      }
    }
    if (star == kNowhere) return false;
    p = star + 1;
    n = ++star_took;
  }
  return pattern.find_first_not_of('*', p) == kNowhere;
}

PathPattern::PathPattern(std::string_view pattern) {
  if (pattern.starts_with("./")) pattern.remove_prefix(1);  // "./charts" is "/charts"
  if (pattern.ends_with('/')) {
    only_folders_ = true;
    pattern.remove_suffix(1);
  }
  any_depth_ = pattern.find('/') == kNowhere;
  names_ = split_at_slashes(pattern);
}

std::optional<PathPattern> PathPattern::parse_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.starts_with('#')) return std::nullopt;
  // Blanks at the end do not count, unless the first of them is escaped.
  while (line.ends_with(' ')) {
    const std::string_view before = line.substr(0, line.size() - 1);
    const size_t other = before.find_last_not_of('\\');
    const size_t escapes = before.size() - (other == kNowhere ? 0 : other + 1);
    if (escapes % 2 == 1) break;
    line = before;
  }
  const bool negated = line.starts_with('!');
  if (negated) line.remove_prefix(1);
  if (line.starts_with("./")) return std::nullopt;  // for git no path begins so
  PathPattern pattern(line);
  if (pattern.names_.empty()) return std::nullopt;
  pattern.negated_ = negated;
  return pattern;
}

bool PathPattern::fits(std::string_view path, bool is_folder) const {
  if (only_folders_ && !is_folder) return false;
  if (names_.empty()) return false;
  if (any_depth_) return name_fits(names_.front(), path.substr(path.find('/') == kNowhere ? 0 : path.rfind('/') + 1));
  return names_fit(names_, split_at_slashes(path));
}

bool PathPattern::covers(std::string_view file) const {
  for (size_t end = file.find('/'); end != kNowhere; end = file.find('/', end + 1))
    if (end > 0 && fits(file.substr(0, end), true)) return true;
  return fits(file, false);
}

}  // namespace railbed::check
