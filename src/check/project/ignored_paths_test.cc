// SPDX-License-Identifier: Apache-2.0
#include "check/project/ignored_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railbed::check {
namespace {

using testing::ElementsAre;

TEST(IgnoreRules, TheLastLineThatFitsPrevails) {
  IgnoreRules rules;
  rules.add("", "*.yaml\n!keep.yaml\n/keep.yaml\n");
  EXPECT_TRUE(rules.ignores("a.yaml", false));
  EXPECT_TRUE(rules.ignores("keep.yaml", false));
  EXPECT_FALSE(rules.ignores("x/keep.yaml", false));
  EXPECT_FALSE(rules.ignores("a.md", false));
}

TEST(IgnoreRules, AFileDeeperDownPrevails) {
  IgnoreRules rules;
  rules.add_exclude("secret.yaml\n*.tmp.yaml\n");
  rules.add("", "*.yaml\n");
  rules.add("x", "!*.yaml\n");
  rules.add("x/y", "b.yaml\n");
  EXPECT_TRUE(rules.ignores("a.yaml", false));
  EXPECT_FALSE(rules.ignores("x/a.yaml", false));
  EXPECT_TRUE(rules.ignores("x/y/b.yaml", false));
  EXPECT_FALSE(rules.ignores("x/y/a.yaml", false));
  EXPECT_TRUE(rules.ignores("z/secret.yaml", false));
}

TEST(IgnoreRules, PatternsWithASlashBeginAtTheirFile) {
  IgnoreRules rules;
  rules.add("x", "/build/\ngen/*.yaml\n");
  EXPECT_TRUE(rules.ignores("x/build", true));
  EXPECT_FALSE(rules.ignores("x/build", false));
  EXPECT_FALSE(rules.ignores("build", true));
  EXPECT_TRUE(rules.ignores("x/gen/a.yaml", false));
  EXPECT_FALSE(rules.ignores("gen/a.yaml", false));
}

TEST(IgnoreRules, AFileMayBeginWithAMarkAndHaveLineEndsOfWindows) {
  IgnoreRules rules;
  rules.add("", "\xEF\xBB\xBF/a.yaml\r\n# b.yaml\r\nc.yaml");
  EXPECT_TRUE(rules.ignores("a.yaml", false));
  EXPECT_FALSE(rules.ignores("b.yaml", false));
  EXPECT_TRUE(rules.ignores("c.yaml", false));
}

TEST(TrackedPaths, KnowFilesAndFoldersAroundThem) {
  const TrackedPaths tracked({"b/c.yaml", "a.yaml", "b-d/e.yaml"});
  EXPECT_TRUE(tracked.contains("a.yaml"));
  EXPECT_FALSE(tracked.contains("b"));
  EXPECT_TRUE(tracked.has_below("b"));
  EXPECT_TRUE(tracked.has_below(""));
  EXPECT_FALSE(tracked.has_below("a.yaml"));
  EXPECT_FALSE(TrackedPaths().has_below(""));
}

std::string big_endian(uint32_t value, int bytes) {
  std::string out;
  for (int i = bytes; i-- > 0;) out += static_cast<char>(value >> (8 * i));
  return out;
}

struct IndexForm {
  uint32_t version = 2;
  size_t object_name = 20;
  std::string extension;
};

// An index with these paths, as git writes it.
std::string index_of(const std::vector<std::string>& paths, const IndexForm& form) {
  std::string out = "DIRC" + big_endian(form.version, 4) + big_endian(static_cast<uint32_t>(paths.size()), 4);
  std::string before;
  for (const std::string& path : paths) {
    std::string entry = std::string(40 + form.object_name, '\1');
    const bool extended = form.version == 3;
    entry += big_endian(static_cast<uint32_t>(std::min<size_t>(path.size(), 0xfff)) | (extended ? 0x4000 : 0), 2);
    if (extended) entry += big_endian(0, 2);
    if (form.version == 4) {
      size_t same = 0;
      while (same < before.size() && same < path.size() && before[same] == path[same]) ++same;
      entry += big_endian(static_cast<uint32_t>(before.size() - same), 1) + path.substr(same) + '\0';
      before = path;
    } else {
      entry += path + '\0';
      entry.resize((entry.size() + 7) / 8 * 8);
    }
    out += entry;
  }
  return out + form.extension + std::string(form.object_name, '\2');
}

TEST(GitIndex, OfEachVersionHasItsPaths) {
  const std::vector<std::string> paths = {"a.yaml", "folder/b.yaml", "folder/c", "z"};
  for (const uint32_t version : {2u, 3u, 4u})
    for (const size_t object_name : {size_t{20}, size_t{32}}) {
      const auto read = paths_in_index(index_of(paths, {version, object_name, ""}));
      ASSERT_TRUE(read) << version << " " << object_name;
      EXPECT_EQ(*read, paths) << version << " " << object_name;
    }
  EXPECT_THAT(*paths_in_index(index_of({}, {})), ElementsAre());
}

TEST(GitIndex, OfAnotherFormIsRefused) {
  const std::string good = index_of({"a.yaml", "b.yaml"}, {});
  EXPECT_EQ(paths_in_index("").error().message, "no index of git, or one in a form that is not known");
  EXPECT_FALSE(paths_in_index("DIRX" + good.substr(4)));
  EXPECT_FALSE(paths_in_index(good.substr(0, 100)));
  EXPECT_FALSE(paths_in_index(index_of({"a"}, {5, 20, ""})));
  EXPECT_FALSE(paths_in_index("DIRC" + big_endian(2, 4) + big_endian(UINT32_MAX, 4)));
  const std::string split = "link" + big_endian(20, 4) + std::string(20, '\3');
  EXPECT_EQ(paths_in_index(index_of({"a"}, {2, 20, split})).error().code, Code::kUnsupported);
  const std::string tree = "TREE" + big_endian(4, 4) + "link";
  EXPECT_TRUE(paths_in_index(index_of({"a"}, {2, 20, tree}))) << "another extension, whose content is not looked at";
}

}  // namespace
}  // namespace railbed::check
