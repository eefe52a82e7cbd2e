// SPDX-License-Identifier: Apache-2.0
#include "check/project/path_pattern.h"

#include <gtest/gtest.h>

namespace railbed::check {
namespace {

struct Fit {
  std::string pattern;
  std::string path;
  bool fits;
};

// As `git check-ignore --no-index` answers for a file.
TEST(PathPattern, FitsAsGitSays) {
  const Fit cases[] = {
      {"a.yaml", "a.yaml", true},
      {"a.yaml", "x/y/a.yaml", true},
      {"a.yaml", "xa.yaml", false},
      {"/a.yaml", "a.yaml", true},
      {"/a.yaml", "x/a.yaml", false},
      {"x/a.yaml", "x/a.yaml", true},
      {"x/a.yaml", "y/x/a.yaml", false},
      {"*.yaml", "x/a.yaml", true},
      {"*.yaml", "a.yaml.j2", false},
      {"x/*.yaml", "x/a.yaml", true},
      {"x/*.yaml", "x/y/a.yaml", false},
      {"x/**", "x/y/a.yaml", true},
      {"x/**", "x", false},
      {"**/a.yaml", "a.yaml", true},
      {"**/a.yaml", "x/y/a.yaml", true},
      {"x/**/a.yaml", "x/a.yaml", true},
      {"x/**/a.yaml", "x/1/2/a.yaml", true},
      {"x/**/a.yaml", "y/x/1/a.yaml", false},
      {"**/x/**/y/*.yaml", "1/x/y/z/y/a.yaml", true},
      {"**/x/**/y/*.yaml", "1/x/y/z/a.yaml", false},
      {"?.yaml", "a.yaml", true},
      {"?.yaml", "ab.yaml", false},
      {"[a-c].yaml", "b.yaml", true},
      {"[a-c].yaml", "d.yaml", false},
      {"[!a-c].yaml", "d.yaml", true},
      {"[^a-c].yaml", "a.yaml", false},
      {"[]x].yaml", "].yaml", true},
      {"[a-].yaml", "-.yaml", true},
      {"[\\]].yaml", "].yaml", true},
      {"[a.yaml", "[a.yaml", false},
      {"\\*.yaml", "*.yaml", true},
      {"\\*.yaml", "a.yaml", false},
      {"a*b*c", "aXbXbc", true},
      {"a*b*c", "aXbXb", false},
      {"a**c", "abc", true},
      {"*", "x/y", true},
      {"a\\", "a\\", false},
      {"ä?.yaml", "äx.yaml", true},
  };
  for (const Fit& one : cases)
    EXPECT_EQ(PathPattern(one.pattern).fits(one.path, false), one.fits) << one.pattern << " and " << one.path;
}

TEST(PathPattern, ASlashAtItsEndMeansFolders) {
  EXPECT_TRUE(PathPattern("build/").fits("x/build", true));
  EXPECT_FALSE(PathPattern("build/").fits("x/build", false));
  EXPECT_FALSE(PathPattern("/build/").fits("x/build", true));
}

TEST(PathPattern, CoversWhatIsInAFolderThatFits) {
  EXPECT_TRUE(PathPattern("build/").covers("x/build/y/a.yaml"));
  EXPECT_TRUE(PathPattern("charts/*").covers("charts/a/templates/b.yaml"));
  EXPECT_TRUE(PathPattern("./charts").covers("charts/b.yaml"));
  EXPECT_FALSE(PathPattern("./charts").covers("x/charts/b.yaml"));
  EXPECT_FALSE(PathPattern("build/").covers("x/build"));
  EXPECT_TRUE(PathPattern("*.yaml").covers("a.yaml"));
}

TEST(PathPattern, OfALineOfGitignore) {
  EXPECT_FALSE(PathPattern::parse_line("# words"));
  EXPECT_FALSE(PathPattern::parse_line(""));
  EXPECT_FALSE(PathPattern::parse_line("   "));
  EXPECT_FALSE(PathPattern::parse_line("/"));
  EXPECT_FALSE(PathPattern::parse_line("./a"));
  EXPECT_TRUE(PathPattern::parse_line("!a")->negated());
  EXPECT_FALSE(PathPattern::parse_line("\\!a")->negated());
  EXPECT_TRUE(PathPattern::parse_line("\\!a")->fits("!a", false));
  EXPECT_TRUE(PathPattern::parse_line("\\#a")->fits("#a", false));
  EXPECT_TRUE(PathPattern::parse_line("a  ")->fits("a", false));
  EXPECT_TRUE(PathPattern::parse_line("a\\ ")->fits("a ", false));
  EXPECT_TRUE(PathPattern::parse_line("a\r")->fits("a", false));
}

// A pattern with many stars takes no longer than the product of both lengths.
TEST(PathPattern, ManyStarsEnd) {
  std::string stars;
  for (int i = 0; i < 200; ++i) stars += "*a";
  EXPECT_FALSE(PathPattern(stars).fits(std::string(2000, 'a') + "b", false));
  std::string folders;
  std::string path;
  for (int i = 0; i < 200; ++i) folders += "**/a/";
  for (int i = 0; i < 2000; ++i) path += "a/";
  EXPECT_FALSE(PathPattern(folders + "b").fits(path + "c", false));
}

}  // namespace
}  // namespace railbed::check
