// SPDX-License-Identifier: Apache-2.0
#include "check/findings/suppress.h"

#include <algorithm>

#include "doc/text.h"

namespace railbed::check {
namespace {

constexpr std::string_view kIgnoreWords = "railbed: ignore";
constexpr size_t kMaxIgnores = 1000;  // per file; more cannot be deliberate

struct Ignore {
  std::string id;
  doc::Span span;  // of the id
  std::string_view reason;
  int first = 0;  // the lines that it covers
  int last = 0;
  bool used = false;
};

struct Lines {
  std::vector<std::string_view> text;
  std::string_view at(int number) const { return text[static_cast<size_t>(number) - 1]; }
  int count() const { return static_cast<int>(text.size()); }
};

Lines comment_lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.text.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

size_t margin_of(std::string_view line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

bool is_nothing(std::string_view line) {
  const size_t first = margin_of(line);
  return first == line.size() || line[first] == '#';
}

bool is_fence(std::string_view line) {
  line.remove_prefix(margin_of(line));
  return line.starts_with("```") || line.starts_with("~~~");
}

// Whether only comments are between this line and the beginning of its document.
bool begins_document(const Lines& lines, int number) {
  for (int i = number - 1; i >= 1; --i) {
    if (lines.at(i).starts_with("---") || is_fence(lines.at(i))) return true;
    if (!is_nothing(lines.at(i))) return false;
  }
  return true;
}

int end_of_document(const Lines& lines, int number) {
  int i = number;
  while (i + 1 <= lines.count() && !lines.at(i + 1).starts_with("---") && !is_fence(lines.at(i + 1))) ++i;
  return i;
}

// A comment on its own line covers what follows it.
void cover_below(const Lines& lines, int number, bool markdown, Ignore& ignore) {
  int next = number + 1;
  while (next <= lines.count() && is_nothing(lines.at(next)) && !is_fence(lines.at(next))) ++next;
  ignore.first = ignore.last = std::min(next, lines.count());
  if (next > lines.count()) return;
  if (is_fence(lines.at(next))) {
    ignore.last = end_of_document(lines, next);
  } else if (!markdown && begins_document(lines, number)) {
    ignore.last = end_of_document(lines, next);
  } else {
    const size_t indent = margin_of(lines.at(next));
    for (int i = next + 1; i <= lines.count(); ++i) {
      if (is_nothing(lines.at(i))) continue;
      if (margin_of(lines.at(i)) <= indent) break;
      ignore.last = i;
    }
  }
}

std::vector<Ignore> ignores_in(const doc::SourcePtr& source) {
  std::vector<Ignore> found;
  if (source->text.find(kIgnoreWords) == std::string::npos) return found;
  const Lines lines = comment_lines_of(source->text);
  for (int number = 1; number <= lines.count() && found.size() < kMaxIgnores; ++number) {
    const std::string_view line = lines.at(number);
    const size_t at = line.find(kIgnoreWords);
    if (at == std::string_view::npos) continue;
    const std::string_view before = line.substr(0, at);
    const bool hash = before.ends_with("# ") || before.ends_with("#");
    const bool markdown = before.ends_with("<!-- ") || before.ends_with("<!--");
    if (!hash && !markdown) continue;
    std::string_view rest = line.substr(at + kIgnoreWords.size());
    if (const size_t close = rest.find("-->"); markdown && close != std::string_view::npos)
      rest = rest.substr(0, close);
    const size_t begin = std::min(rest.find_first_not_of(" \t:"), rest.size());
    const size_t end = std::min(rest.find_first_of(" \t", begin), rest.size());
    Ignore ignore{.id = std::string(rest.substr(begin, end - begin))};
    const auto column = static_cast<int>(at + kIgnoreWords.size() + begin) + 1;
    const size_t offset = static_cast<size_t>(line.data() - source->text.data()) + static_cast<size_t>(column) - 1;
    ignore.span = {source, number, column, static_cast<int>(ignore.id.size()), static_cast<uint32_t>(offset)};
    const size_t reason = rest.find_first_not_of(" \t:-", end);
    if (reason != std::string_view::npos) ignore.reason = rest.substr(reason);
    const size_t mark = before.find_last_of(hash ? '#' : '<');
    if (before.find_first_not_of(" \t") == mark)
      cover_below(lines, number, markdown, ignore);
    else
      ignore.first = ignore.last = number;
    found.push_back(std::move(ignore));
  }
  return found;
}

// A person names the id of what they have decided about; nothing else is compared with it.
bool covers(const Ignore& ignore, const doc::Diagnostic& finding) {
  return finding.id == ignore.id && finding.span.source == ignore.span.source && finding.span.line >= ignore.first &&
         finding.span.line <= ignore.last;
}

void report_ignore(const Ignore& ignore, bool known, doc::Diagnostics& findings) {
  if (!known)
    findings
        .warning("RB-IGNORE-003", ignore.span,
                 ignore.id.empty() ? "no rule id is given" : fmt::format("unknown rule {}", ignore.id))
        .with_fix("railbed explain --list shows the rules");
  else if (!ignore.used)
    findings
        .warning("RB-IGNORE-001", ignore.span, fmt::format("{} reports nothing here that could be ignored", ignore.id))
        .with_fix("remove the comment");
  else if (ignore.reason.empty())
    findings.warning("RB-IGNORE-002", ignore.span, "no reason is given")
        .with_fix(fmt::format("# railbed: ignore {} why that is right here", ignore.id));
}

std::vector<Ignore> ignores_in(const std::vector<doc::SourcePtr>& sources) {
  std::vector<Ignore> ignores;
  for (const doc::SourcePtr& source : sources) std::ranges::move(ignores_in(source), std::back_inserter(ignores));
  return ignores;
}

size_t remove_ignored(std::vector<Ignore>& ignores, doc::Diagnostics& findings, std::vector<Ignored>* ignored) {
  return std::erase_if(findings.mutable_all(), [&](doc::Diagnostic& finding) {
    const Ignore* by = nullptr;
    for (Ignore& ignore : ignores)
      if (covers(ignore, finding)) {
        ignore.used = true;
        by = &ignore;
      }
    if (by != nullptr && ignored != nullptr && ignored->size() < kMaxFindings)
      ignored->push_back({std::move(finding), Ignored::By::kComment, std::string(by->reason)});
    return by != nullptr;
  });
}

}  // namespace

size_t suppress(const std::vector<doc::SourcePtr>& sources, doc::Diagnostics& findings) {
  std::vector<Ignore> ignores = ignores_in(sources);
  return remove_ignored(ignores, findings, nullptr);
}

size_t suppress(const std::vector<doc::SourcePtr>& sources, const std::function<bool(std::string_view)>& known,
                doc::Diagnostics& findings, std::vector<Ignored>* ignored) {
  std::vector<Ignore> ignores = ignores_in(sources);
  const size_t removed = remove_ignored(ignores, findings, ignored);
  for (const Ignore& ignore : ignores) report_ignore(ignore, known(ignore.id), findings);
  return removed;
}

}  // namespace railbed::check
