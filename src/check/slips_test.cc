// SPDX-License-Identifier: Apache-2.0
// Correct bundles with one slip in a line: another type, an empty value, a misspelt key, a lost or doubled line. What
// is reported, by id and place, and whether --fix has a repair, is compared with testdata/slips: a line for each slip.
// RAILBED_UPDATE=1 writes the files again; read the difference before you commit it: a slip that was reported well must
// not be reported worse.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/sanitized.h"
#include "check/case_files.h"

namespace railbed::check {
namespace {

struct Slip {
  const char* name;
  std::string (*make)(const std::string& line);  // empty: the line has no place for it
};

// "  key:" of "  key: value", with what is before the key; empty where the line is none.
std::string head(const std::string& line) {
  const size_t colon = line.find(": ");
  const size_t first = line.find_first_not_of(" -");
  return colon == std::string::npos || first == std::string::npos || line[first] == '#' || line.find('{') < colon
             ? ""
             : line.substr(0, colon + 1);
}
std::string with_value(const std::string& line, const std::string& value) {
  const std::string key = head(line);
  return key.empty() ? "" : key + value;
}

constexpr Slip kSlips[] = {
    {"a list", [](const std::string& line) { return with_value(line, " [one]"); }},
    {"an object", [](const std::string& line) { return with_value(line, " {one: two}"); }},
    {"a number", [](const std::string& line) { return with_value(line, " 7"); }},
    {"a negative number", [](const std::string& line) { return with_value(line, " -1"); }},
    {"a large number", [](const std::string& line) { return with_value(line, " 99999999999"); }},
    {"a word", [](const std::string& line) { return with_value(line, " word"); }},
    {"a flag", [](const std::string& line) { return with_value(line, " on"); }},
    {"a flag in quotes", [](const std::string& line) { return with_value(line, " \"true\""); }},
    {"a number in quotes", [](const std::string& line) { return with_value(line, " \"12\""); }},
    {"nothing", [](const std::string& line) { return with_value(line, ""); }},
    {"two letters changed",
     [](const std::string& line) {
       std::string out = head(line).empty() ? "" : line;
       const size_t at = out.find_first_not_of(" -");
       if (at != std::string::npos && at + 2 < out.size()) std::swap(out[at + 1], out[at + 2]);
       return out;
     }},
    {"a letter more",
     [](const std::string& line) {
       const std::string key = head(line);
       return key.empty() ? "" : key.substr(0, key.size() - 1) + "s" + line.substr(key.size() - 1);
     }},
    {"an upper-case letter",
     [](const std::string& line) {
       std::string out = head(line).empty() ? "" : line;
       const size_t at = out.find_first_not_of(" -");
       if (at != std::string::npos) out[at] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[at])));
       return out;
     }},
    {"the line twice", [](const std::string& line) { return line.empty() ? "" : line + "\n" + line; }},
    {"a comment", [](const std::string& line) { return line.empty() ? "" : "#" + line; }},
    {"no blank behind the colon",
     [](const std::string& line) {
       const std::string key = head(line);
       return key.empty() ? "" : key + line.substr(key.size() + 1);
     }},
    {"an open quote", [](const std::string& line) { return with_value(line, " \"open"); }},
};

class Slips : public testing::TestWithParam<std::string> {};

TEST_P(Slips, AreReportedAtTheirPlace) {
  std::vector<std::string> lines;
  std::istringstream text(content(testdata() / "bundles" / GetParam()));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  std::vector<std::string> rows;
  size_t kind = GetParam().size();  // another slip for the same line of another bundle
  for (size_t i = 0; i < lines.size(); ++i) {
    const Slip& slip = kSlips[kind++ % std::size(kSlips)];
    const std::string slipped = slip.make(lines[i]);
    if (slipped.empty() || kind % kSweepStep != 0) continue;
    std::string broken;
    for (size_t k = 0; k < lines.size(); ++k) broken += (k == i ? slipped : lines[k]) + "\n";
    const Report report = testing_cases::report_of(GetParam(), broken);
    std::string reported;
    for (const doc::Diagnostic& one : report.findings.all())
      reported +=
          fmt::format(" {} at {}:{}+{}{}{}", one.id, one.span.line, one.span.column, one.span.length,
                      one.edits.empty() ? "" : " ~", one.notes.empty() ? "" : fmt::format(" ({})", one.notes.size()));
    rows.push_back(fmt::format("{} {}:{}\n", i + 1, slip.name, reported));
  }
  const std::filesystem::path expected = testdata() / "slips" / (GetParam() + ".expected");
  if (kSweepStep == 1) return expect_golden(expected, fmt::format("{}", fmt::join(rows, "")));
  const std::string golden = "\n" + content(expected);  // a part of the rows is a part of the file
  for (const std::string& row : rows) EXPECT_NE(golden.find("\n" + row), std::string::npos) << row;
}

std::vector<std::string> manifests() {
  std::vector<std::string> names;
  for (const auto& path : testing_cases::files_in(testdata() / "bundles"))
    if (path.extension() == ".yaml" || path.extension() == ".yml") names.push_back(path.filename().string());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Bundles, Slips, testing::ValuesIn(manifests()), [](const auto& bundle) {
  std::string name = bundle.param;
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace railbed::check
