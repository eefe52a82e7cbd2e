// SPDX-License-Identifier: Apache-2.0
// Breaks every correct bundle of testdata/bundles in each way that testdata/mutations.yaml names: one mistake
// gives one finding, the right one, at its place, and nothing else. The notation is explained there.
#include <regex>
#include <set>

#include <gtest/gtest.h>

#include "base/sanitized.h"
#include "check/case_files.h"
#include "check/findings/output.h"
#include "check/rules/lookups.h"
#include "doc/yaml.h"
#include "findings/explain.h"

namespace railbed::check {
namespace {

namespace fs = std::filesystem;

struct Mutation {
  std::string id;
  std::string find;
  bool regex = false;
  bool all = false;  // every occurrence instead of the first one
  std::string replace;
  std::string at;                    // pattern of the finding's place; empty: within the inserted text
  std::vector<std::string> bundles;  // below testdata; empty: all of testdata/bundles
  int line = 0;                      // in mutations.yaml
};

struct Table {
  std::vector<Mutation> mutations;
  std::map<std::string, std::string> without;  // id → why no bundle can be broken for it
};

Table read_table() {
  doc::Diagnostics diagnostics;
  const auto documents = doc::parse_yaml(
      std::make_shared<doc::Source>(doc::Source{"mutations.yaml", content(testdata() / "mutations.yaml")}),
      diagnostics);
  EXPECT_TRUE(diagnostics.all().empty()) << doc::render(diagnostics);
  Table table;
  for (const doc::Value& row : *documents.at(0).find("mutations")->as_array()) {
    Mutation one{.id = std::string(text_at(row, "id")),
                 .find = std::string(text_at(row, "find")),
                 .all = flag_at(row, "all").value_or(false),
                 .replace = std::string(text_at(row, "replace")),
                 .at = std::string(text_at(row, "at")),
                 .line = row.span.line};
    if (one.find.empty()) {
      one.find = text_at(row, "regex");
      one.regex = true;
    }
    for (const Word& bundle : texts_at(row, "bundles")) one.bundles.push_back(bundle.text);
    table.mutations.push_back(std::move(one));
  }
  for (const doc::Value::Member& row : *documents.at(0).find("without")->as_object())
    table.without.emplace(row.key, *row.value.as_string());
  return table;
}

struct Broken {
  std::string text;
  size_t begin = 0;  // of the text that was inserted first
  size_t end = 0;
};

std::optional<Broken> apply(const Mutation& mutation, const std::string& text) {
  std::optional<Broken> broken;
  std::string out;
  size_t from = 0;
  const auto put = [&](size_t at, size_t length, const std::string& instead) {
    out += text.substr(from, at - from);
    if (!broken) broken = Broken{.begin = out.size(), .end = out.size() + instead.size()};
    out += instead;
    from = at + length;
  };
  if (mutation.regex) {
    const std::regex pattern(mutation.find, std::regex::ECMAScript | std::regex::multiline);
    for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) {
      put(static_cast<size_t>(it->position()), static_cast<size_t>(it->length()), it->format(mutation.replace));
      if (!mutation.all) break;
    }
  } else {
    for (size_t at = text.find(mutation.find); at != std::string::npos; at = text.find(mutation.find, from)) {
      put(at, mutation.find.size(), mutation.replace);
      if (!mutation.all) break;
    }
  }
  if (broken) broken->text = out + text.substr(from);
  return broken;
}

// The match of `pattern` that is nearest to the inserted text.
std::optional<std::pair<size_t, size_t>> nearest_match(const std::string& pattern, const Broken& broken) {
  std::optional<std::pair<size_t, size_t>> nearest;
  const std::regex regex(pattern, std::regex::ECMAScript | std::regex::multiline);
  const auto distance = [&](size_t at) { return at > broken.begin ? at - broken.begin : broken.begin - at; };
  for (std::sregex_iterator it(broken.text.begin(), broken.text.end(), regex), end; it != end; ++it) {
    const auto at = static_cast<size_t>(it->position());
    if (!nearest || distance(at) < distance(nearest->first)) nearest = {at, at + static_cast<size_t>(it->length())};
  }
  return nearest;
}

// What is wrong with the findings; empty when they are as expected.
std::string complaint(const Mutation& mutation, const Broken& broken, const Report& report) {
  const auto& findings = report.findings.all();
  if (findings.size() != 1 || findings[0].id != mutation.id) return "exactly " + mutation.id + " is wanted";
  size_t begin = broken.begin;
  size_t end = std::max(broken.end, begin + 1);
  if (!mutation.at.empty()) {
    const auto place = nearest_match(mutation.at, broken);
    if (!place) return "no \"" + mutation.at + "\" in the broken text";
    std::tie(begin, end) = *place;
  }
  const doc::Span& span = findings[0].span;
  if (!span.known()) return "the finding has no place";
  const size_t first = span.offset;
  const size_t last = first + static_cast<size_t>(std::max(span.length, 1));
  return first < end && last > begin ? "" : "the finding stands elsewhere";
}

std::vector<fs::path> bundles_of(const Mutation& mutation) {
  if (mutation.bundles.empty()) return testing_cases::files_in(testdata() / "bundles");
  std::vector<fs::path> paths;
  for (const std::string& name : mutation.bundles)
    paths.push_back(testdata() / (name.find('/') == std::string::npos ? "bundles/" + name : name));
  return paths;
}

TEST(Mutations, EachGivesOneFindingAtItsPlace) {
  for (const Mutation& mutation : read_table().mutations) {
    const std::string where = fmt::format("mutations.yaml:{}", mutation.line);
    int applied = 0;
    for (const fs::path& path : bundles_of(mutation)) {
      if (kSanitized && applied > 0) break;
      const std::string text = content(path);
      const auto broken = apply(mutation, text);
      if (!broken) {
        EXPECT_TRUE(mutation.bundles.empty()) << where << ": nothing to replace in " << path;
        continue;
      }
      ++applied;
      const Report report = testing_cases::report_of(path.filename().string(), broken->text);
      const std::string wrong = complaint(mutation, *broken, report);
      EXPECT_TRUE(wrong.empty()) << where << ": " << wrong << "\n" << to_text(report);
    }
    EXPECT_GT(applied, 0) << where << ": no bundle has \"" << mutation.find << "\"";
  }
}

TEST(Mutations, EveryIdHasOneOrAReasonForNone) {
  const Table table = read_table();
  std::set<std::string> covered;
  for (const Mutation& mutation : table.mutations) covered.insert(mutation.id);
  std::set<std::string> ids;
  for (const Rule& rule : all_rules()) ids.emplace(rule.id);
  for (const findings::Explanation& one : findings::explanations())
    if (one.is_about_text()) ids.emplace(one.id);
  for (const std::string& id : ids)
    EXPECT_NE(covered.contains(id), table.without.contains(id))
        << id << ": testdata/mutations.yaml has " << (covered.contains(id) ? "a mutation and" : "no mutation and no")
        << " reason for none";
  for (const auto& [id, reason] : table.without) {
    EXPECT_TRUE(ids.contains(id)) << id << " is no id";
    EXPECT_FALSE(reason.empty()) << id;
  }
}

}  // namespace
}  // namespace railbed::check
