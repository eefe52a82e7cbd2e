// SPDX-License-Identifier: Apache-2.0
// The law of --fix: a repaired text has every line, key and value of the text that was given, and nothing in
// it means something else without a word. Held against every bundle of testdata/bundles with one to three
// lines shifted by up to four blanks, which is what an editor, a paste or a merge does to them.
//
// A shift changes blanks only, so a right repair does no more than that: any other change is a mistake here, without
// exceptions. The unit test takes a sample of every bundle; RAILBED_SHIFTS=all takes all cases (minutes),
// RAILBED_SHIFTS=<n> every n-th. RAILBED_SHIFTS_SHOW=<kind of outcome> prints the first cases of that kind.
//
// What became of each case of the sample, and what was reported where, is compared with testdata/shifts: one more that
// is "reported, not repaired" is a repair less. RAILBED_UPDATE=1 writes these files again; read the difference before
// you commit it.
#include "check/repair/repairs.h"

#include <cstdlib>
#include <iostream>
#include <map>

#include <gtest/gtest.h>

#include "base/sanitized.h"
#include "base/text.h"
#include "check/case_files.h"
#include "doc/edits.h"
#include "doc/json.h"
#include "doc/yaml.h"

namespace railbed::check {
namespace {

namespace fs = std::filesystem;
using doc::Value;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Lines with content, without blanks and sorted: no repair of indentation may change them.
std::vector<std::string> contents_of(const std::string& text) {
  std::vector<std::string> out;
  for (const std::string& line : lines_of(text))
    if (const std::string_view content = trimmed(line); !content.empty()) out.emplace_back(content);
  std::ranges::sort(out);
  return out;
}

// What a value means: neither the order of members nor blanks in texts matter.
std::string meaning(const Value& value) {
  if (const auto* members = value.as_object()) {
    std::vector<std::string> parts;
    for (const Value::Member& member : *members) parts.push_back(member.key + "=" + meaning(member.value));
    std::ranges::sort(parts);
    std::string out = "{";
    for (const std::string& part : parts) out += part + ",";
    return out + "}";
  }
  if (const auto* items = value.as_array()) {
    std::string out = "[";
    for (const Value& item : *items) out += meaning(item) + ",";
    return out + "]";
  }
  if (const std::string* text = value.as_string()) {
    std::string out = "\"";
    for (const char c : *text)
      if (std::isspace(static_cast<unsigned char>(c)) == 0) out += c;
    return out + "\"";
  }
  return doc::to_json(value);
}

std::string meaning(const std::string& name, const std::string& text) {
  doc::Diagnostics findings;
  const Bundle bundle = read_bundle({std::make_shared<doc::Source>(doc::Source{name, text})}, findings);
  std::string out;
  for (const Document& document : bundle.documents) out += meaning(document.value) + "\n";
  for (const Value& value : bundle.without_kind) out += meaning(value) + "\n";
  return out;
}

struct LineShift {
  size_t line = 0;  // from 0
  size_t count = 1;
  int shift = 0;
};

// The lines after the shift; nullopt where they have too few blanks, or where the outer ones are empty.
std::optional<std::string> shifted(const std::vector<std::string>& lines, const LineShift& one) {
  std::string out;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (i < one.line || i >= one.line + one.count) {
      out += line + "\n";
      continue;
    }
    const bool outer = i == one.line || i == one.line + one.count - 1;
    if (trimmed(line).empty()) {
      if (outer) return std::nullopt;
      out += line + "\n";
      continue;
    }
    if (one.shift > 0) {
      out += std::string(static_cast<size_t>(one.shift), ' ') + line + "\n";
    } else {
      if (line.find_first_not_of(' ') < static_cast<size_t>(-one.shift)) return std::nullopt;
      out += line.substr(static_cast<size_t>(-one.shift)) + "\n";
    }
  }
  return out;
}

// The outcome of a case. The first three break the law.
constexpr const char* kLost = "lines lost or changed";
constexpr const char* kSilent = "repaired into another meaning, silently";
constexpr const char* kAgain = "the second --fix changes something";
constexpr const char* kRight = "repaired to what it was";
constexpr const char* kPartly = "repaired in part, the rest is reported";
constexpr const char* kReported = "reported, not repaired";
constexpr const char* kHarmless = "means the same";
constexpr const char* kLegal = "another meaning, legal, not repaired";
constexpr const char* kBreaking[] = {kLost, kSilent, kAgain};

struct Outcome {
  std::string kind;
  std::string before, after;
  std::string reported;  // "RB-YAML-002 at 7:3" of each finding
};

Outcome outcome_of(const std::string& name, const std::string& original_meaning, std::string before) {
  const Report report = testing_cases::report_of(name, before);
  const std::string after = report.repairs.empty() ? before : report.repairs[0].after->text;
  std::string reported;
  for (const doc::Diagnostic& finding : report.findings.all())
    reported += fmt::format(", {} at {}:{}", finding.id, finding.span.line, finding.span.column);
  const auto is = [&](const char* kind) { return Outcome{kind, before, after, reported}; };
  if (contents_of(before) != contents_of(after)) return is(kLost);
  const bool same = meaning(name, after) == original_meaning;
  if (after == before) {
    if (same) return is(kHarmless);
    return is(report.findings.all().empty() ? kLegal : kReported);
  }
  const Report second = testing_cases::report_of(name, after);
  if (!second.repairs.empty()) return is(kAgain);
  if (same) return is(kRight);
  return is(second.findings.all().empty() ? kSilent : kPartly);
}

constexpr size_t kSample = kSanitized ? 8 : 30;

// Selects every n-th case, with another n for each bundle so that small ones have enough cases.
size_t stride(size_t cases, size_t wanted) {
  const char* given = std::getenv("RAILBED_SHIFTS");
  if (given != nullptr && std::string(given) == "all") return 1;
  if (given != nullptr && std::atoi(given) > 0) return static_cast<size_t>(std::atoi(given));
  // The cases go round in 24 steps (eight shifts, three lengths): a number without 2 and 3 in it meets all of
  // them.
  size_t step = std::max<size_t>(1, cases / wanted) | 1;
  while (step % 3 == 0) step += 2;
  return step;
}

std::vector<LineShift> cases_of(const std::vector<std::string>& lines) {
  std::vector<LineShift> all;
  for (size_t line = 0; line < lines.size(); ++line)
    for (size_t count = 1; count <= 3 && line + count <= lines.size(); ++count)
      for (int shift = -4; shift <= 4; ++shift)
        if (shift != 0 && shifted(lines, {line, count, shift})) all.push_back({line, count, shift});
  return all;
}

// Tests the guard alone, against any edit that a future rule may offer.
doc::Diagnostic offering(const doc::SourcePtr& source, size_t offset, size_t length, std::string text,
                         std::string fix) {
  doc::Diagnostic finding{.id = "RB-API-003", .fix = std::move(fix)};
  finding.edits.push_back({source, offset, length, std::move(text), {}});
  return finding;
}

TEST(Repairs, WhatLosesSomethingIsReportedWithoutAnEdit) {
  const std::string text = "kind: Config\na: 1 # why\nb: on\nc: d\n";
  struct Offer {
    std::string about, old, instead, fix, after;
  };
  const Offer cases[] = {
      {"a line", "a: 1 # why\n", "", "", ""},
      {"a comment", " # why", "", "", ""},
      {"a word that is not named", "on", "off", "write it", ""},
      {"a kind, even if it is named", "Config", "ConfigMap", "did you mean 'ConfigMap'?", ""},
      {"a word that the finding names", "c", "cc", "did you mean 'cc'?", "kind: Config\na: 1 # why\nb: on\ncc: d\n"},
      {"quotes", "on", "\"on\"", "", "kind: Config\na: 1 # why\nb: \"on\"\nc: d\n"},
      {"a line into the text of another", "c: d", "  c: d", "", ""},
  };
  for (const Offer& c : cases) {
    const auto source = std::make_shared<const doc::Source>(doc::Source{"a.yaml", text});
    doc::Diagnostics findings;
    const size_t at = c.old == "c" ? text.rfind("c: d") : text.rfind(c.old);
    findings.mutable_all().push_back(offering(source, at, c.old.size(), c.instead, c.fix));
    Texts texts({source});
    EXPECT_EQ(texts.apply(findings), !c.after.empty()) << c.about;
    EXPECT_EQ(texts.current()[0]->text, c.after.empty() ? text : c.after) << c.about;
    EXPECT_EQ(findings.all()[0].edits.empty(), c.after.empty()) << c.about;
  }
}

// Also in a document without a kind, which is no object.
TEST(Repairs, WhatTurnsTwoTextsIntoOneIsRefused) {
  for (const std::string text : {"kind: Config\nx:\n- b\n- c\n", "x:\n- b\n- c\n"}) {
    const auto source = std::make_shared<const doc::Source>(doc::Source{"a.yaml", text});
    doc::Diagnostics findings;
    findings.mutable_all().push_back(offering(source, text.find("- c"), 0, "  ", ""));
    Texts texts({source});
    EXPECT_FALSE(texts.apply(findings)) << text;
    EXPECT_EQ(texts.current()[0]->text, text);
  }
}

TEST(Repairs, ABadOneDoesNotHoldUpGoodOnes) {
  const std::string text = "a: 1\nb: on\nc: d\n";
  const auto source = std::make_shared<const doc::Source>(doc::Source{"a.yaml", text});
  doc::Diagnostics findings;
  findings.mutable_all().push_back(offering(source, 0, 5, "", ""));
  findings.mutable_all().push_back(offering(source, 8, 2, "\"on\"", ""));
  Texts texts({source});
  EXPECT_TRUE(texts.apply(findings));
  EXPECT_EQ(texts.current()[0]->text, "a: 1\nb: \"on\"\nc: d\n");
  EXPECT_TRUE(findings.all()[0].edits.empty());
  EXPECT_FALSE(findings.all()[1].edits.empty());
}

class Shifts : public testing::TestWithParam<std::string> {};

TEST_P(Shifts, NothingIsLostOrTurnedIntoSomethingElse) {
  const fs::path path = testdata() / "bundles" / GetParam();
  const std::string text = content(path);
  const std::vector<std::string> lines = lines_of(text);
  const std::string original = meaning(GetParam(), text);
  const char* show = std::getenv("RAILBED_SHIFTS_SHOW");
  std::map<std::string, int> counts;
  std::map<std::string, int> shown;
  const std::vector<LineShift> cases = cases_of(lines);
  const size_t step = stride(cases.size(), kSample);
  std::string outcomes;
  for (size_t i = 0; i < cases.size(); i += step) {
    const LineShift& one = cases[i];
    const Outcome outcome = outcome_of(GetParam(), original, *shifted(lines, one));
    ++counts[outcome.kind];
    outcomes += fmt::format("{}+{} {:+}: {}{}\n", one.line + 1, one.count, one.shift, outcome.kind, outcome.reported);
    const bool breaks = std::ranges::find(kBreaking, outcome.kind) != std::end(kBreaking);
    const bool wanted = show != nullptr && outcome.kind.find(show) != std::string::npos;
    if ((!breaks && !wanted) || shown[outcome.kind]++ >= (wanted ? 400 : 3)) continue;
    const std::string what =
        fmt::format("{}: {} line(s) from {} by {}: {}\n{}{}", GetParam(), one.count, one.line + 1, one.shift,
                    outcome.kind, doc::unified_diff("given and shifted", text, outcome.before),
                    doc::unified_diff("shifted and repaired", outcome.before, outcome.after));
    if (breaks)
      ADD_FAILURE() << what;
    else
      std::cout << what;
  }
  if (!kSanitized && std::getenv("RAILBED_SHIFTS") == nullptr)
    expect_golden(testdata() / "shifts" / (GetParam() + ".expected"), outcomes);
  for (const auto& [kind, count] : counts) RecordProperty(kind.substr(0, kind.find(' ')), count);
  if (std::getenv("RAILBED_SHIFTS") != nullptr)
    for (const auto& [kind, count] : counts) std::cout << GetParam() << "\t" << kind << "\t" << count << "\n";
}

std::vector<std::string> bundle_names() {
  std::vector<std::string> names;
  for (const fs::path& path : testing_cases::files_in(testdata() / "bundles"))
    names.push_back(path.filename().string());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Bundles, Shifts, testing::ValuesIn(bundle_names()), [](const auto& bundle) {
  std::string name = bundle.param;
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace railbed::check
