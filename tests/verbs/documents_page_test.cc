// SPDX-License-Identifier: Apache-2.0
// docs/documents.md against the program: its lists of verbs, kinds and rules, and the manifests of testdata/documents.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/kinds.h"
#include "base/testdata.h"
#include "run_verb.h"

namespace railbed {
namespace {

using testing::IsEmpty;
using Names = std::set<std::string>;

std::string documents_page() {
  return content(std::filesystem::path(source_dir()) / "docs/documents.md");
}

// What a pattern's first group finds.
Names found_in(const std::string& text, const char* pattern) {
  Names all;
  const std::regex expression(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) all.insert((*at)[1]);
  return all;
}

// The names between backticks in the first column of the table below a heading.
Names listed_below(const std::string& heading) {
  std::istringstream lines(documents_page());
  Names all;
  bool is_there = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) is_there = line == "## " + heading;
    if (!is_there || !line.starts_with("| `")) continue;
    all.merge(found_in(line.substr(0, line.find(" |", 2)), "`([^`]+)`"));
  }
  return all;
}

Names without(const Names& all, const Names& those) {
  Names out;
  std::ranges::set_difference(all, those, std::inserter(out, out.end()));
  return out;
}

TEST(DocumentsPage, ListsTheVerbsOfTheProgram) {
  std::istringstream lines(run_verb({"--help"}).output);
  Names of_program;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("  ")) of_program.insert(line.substr(2, line.find(' ', 2) - 2));
  EXPECT_EQ(listed_below("Verbs"), of_program);
}

TEST(DocumentsPage, ListsKindsOfTheTableAndAllThatTheDocumentsAndDeployHave) {
  const Names listed = listed_below("Kinds");
  for (const std::string& kind : listed) EXPECT_NE(find_kind(kind), nullptr) << kind;
  Names wanted;
  for (const Kind& kind : kinds())
    if (kind.defined == KindDefined::kInDeploy) wanted.emplace(kind.name);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(testdata() / "documents"))
    if (entry.path().extension() == ".yaml") wanted.merge(found_in(content(entry.path()), "(?:^|\n)kind: (\\w+)"));
  EXPECT_GT(wanted.size(), 10u);
  EXPECT_THAT(without(wanted, listed), IsEmpty());
}

TEST(DocumentsPage, NamesRulesThatExistAndAllThatFindTheMistakes) {
  constexpr const char* kId = "\\b(RB-[A-Z]+-[0-9]{3})\\b";
  const Names named = found_in(documents_page(), kId);
  for (const std::string& id : named) EXPECT_EQ(run_verb({"explain", id}).exit_status, 0) << id;
  const Names of_mistakes = found_in(content(std::filesystem::path(source_dir()) / "docs/check/seeds.md"), kId);
  EXPECT_GT(of_mistakes.size(), 50u);
  EXPECT_THAT(without(of_mistakes, named), IsEmpty());
}

TEST(DocumentsPage, HasARowForEachManifest) {
  const std::string page = documents_page();
  size_t manifests = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(testdata() / "documents")) {
    if (entry.path().extension() != ".yaml") continue;
    ++manifests;
    const std::string file = std::filesystem::relative(entry.path(), testdata() / "documents").string();
    EXPECT_NE(page.find(file), std::string::npos) << file;
  }
  EXPECT_GT(manifests, 12u);
}

}  // namespace
}  // namespace railbed
