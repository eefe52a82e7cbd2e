// SPDX-License-Identifier: Apache-2.0
#include "doc/diagnostic.h"

#include <gtest/gtest.h>

namespace railbed::doc {
namespace {

SourcePtr policy_source(std::string text) {
  return std::make_shared<const Source>(Source{"policy.yaml", std::move(text)});
}

TEST(Render, ShowsTheLineACaretNotesAndTheFix) {
  auto text = policy_source("spec:\n  numVfs: 9\n");
  Diagnostics diagnostics;
  diagnostics.error("RB-VF-002", {text, 2, 11, 1}, "policy asks for 9 VFs, ens1f0 allows 7")
      .note({text, 1, 1}, "of this policy")
      .note({}, "sriov_totalvfs is 7")
      .with_fix("numVfs: 7");
  EXPECT_EQ(render(diagnostics),
            "policy.yaml:2:11: error: policy asks for 9 VFs, ens1f0 allows 7 [RB-VF-002]\n"
            "     2 |   numVfs: 9\n"
            "       |           ^\n"
            "  note: policy.yaml:1:1: of this policy\n"
            "     1 | spec:\n"
            "       | ^\n"
            "  note: sriov_totalvfs is 7\n"
            "  fix: numVfs: 7\n");
}

TEST(Render, WithoutAPlaceThereIsNoExcerpt) {
  Diagnostics diagnostics;
  diagnostics.warning("RB-X", {policy_source("")}, "empty");
  diagnostics.note("", {}, "nothing");
  EXPECT_EQ(render(diagnostics), "policy.yaml: warning: empty [RB-X]\nnote: nothing\n");
}

TEST(Render, WithoutATextTheSubjectIsInItsPlace) {
  Diagnostics diagnostics;
  Diagnostic& reported = diagnostics.error("RB-X", {policy_source("")}, "too many").about_field("spec.numVfs");
  reported.subject.kind = "SriovNetworkNodePolicy";
  EXPECT_EQ(render(reported), "SriovNetworkNodePolicy: spec.numVfs: error: too many [RB-X]\n");
  reported.subject.object = "ops/rail0";
  EXPECT_EQ(render(reported), "SriovNetworkNodePolicy ops/rail0: spec.numVfs: error: too many [RB-X]\n");
  reported.span = {policy_source("numVfs: 9\n"), 1, 9, 1};
  EXPECT_TRUE(render(reported).starts_with("policy.yaml:1:9: error: too many"));
}

TEST(Render, TheCaretIsBelowItsCharacterBehindTabsAndWideBytes) {
  Diagnostics diagnostics;
  diagnostics.error("E", {policy_source("\täö: xyz"), 1, 8, 3}, "m");
  EXPECT_EQ(render(diagnostics), "policy.yaml:1:8: error: m [E]\n     1 | \täö: xyz\n       | \t    ^~~\n");
}

TEST(Render, ALongLineMayBeginInTheMiddleOfACharacter) {
  Diagnostics diagnostics;
  diagnostics.error("E", {policy_source("\x80" + std::string(150, 'a')), 1, 1, 1}, "m");
  EXPECT_TRUE(render(diagnostics).starts_with("policy.yaml:1:1: error: m [E]\n     1 | ")) << render(diagnostics);
}

TEST(Render, LongLinesAreCutAroundTheColumn) {
  const std::string line = fmt::format("{:a>200}X{:b>200}", "", "");
  Diagnostics diagnostics;
  diagnostics.error("E", {policy_source(line), 1, 201, 1}, "m");
  EXPECT_EQ(render(diagnostics),
            fmt::format("policy.yaml:1:201: error: m [E]\n     1 | …{:a>33}X{:b>66}…\n       |  {:33}^\n", "", "", ""));
}

TEST(Render, ControlCharactersOfTheInputDoNotReachTheTerminal) {
  Diagnostics diagnostics;
  diagnostics.error("E", {policy_source("a: \x1b[31m\xff\xc2\x9b"), 1, 4, 1}, "bad \x1b]0;x\x07");
  EXPECT_EQ(render(diagnostics),
            "policy.yaml:1:4: error: bad \\x1b]0;x\\x07 [E]\n     1 | a: \\x1b[31m\xEF\xBF\xBD\\x9b\n"
            "       |    ^~~~\n");
}

TEST(Diagnostics, AreSortedByPlaceAndStayInOrderOtherwise) {
  auto text = policy_source("a\nb\n");
  Diagnostics diagnostics;
  diagnostics.error("1", {}, "nowhere");
  diagnostics.warning("2", {text, 2, 1}, "");
  diagnostics.note("3", {text, 1, 2}, "");
  diagnostics.note("4", {text, 1, 2}, "");
  diagnostics.sort();
  std::string order;
  for (const Diagnostic& d : diagnostics.all()) order += d.id;
  EXPECT_EQ(order, "3421");
  EXPECT_TRUE(diagnostics.has_errors());
  EXPECT_EQ(diagnostics.count(Severity::kNote), 2u);
}

TEST(Nearest, FindsWhatWasMeant) {
  const std::vector<std::string_view> names{"containers", "initContainers", "numVfs", "mtu", "isRdma"};
  EXPECT_EQ(nearest("container", names), "containers");
  EXPECT_EQ(nearest("numvfs", names), "numVfs");
  EXPECT_EQ(nearest("numVsf", names), "numVfs");
  EXPECT_EQ(nearest("mtuu", names), "mtu");
  EXPECT_EQ(nearest("ipam", names), "");
  EXPECT_EQ(nearest("isRDMA", names), "isRdma");
  EXPECT_EQ(nearest("vlan", names), "");
  EXPECT_TRUE(are_one_slip_apart("macvlna", "macvlan"));
  EXPECT_TRUE(are_one_slip_apart("macvan", "macvlan"));
  EXPECT_FALSE(are_one_slip_apart("macvlan", "macvlan"));
  EXPECT_FALSE(are_one_slip_apart("ipvlan", "macvlan"));
}

// One change for words of up to four letters, two for longer ones: a letter more, less or another, or two that swapped.
TEST(Nearest, CountsChanges) {
  struct Case {
    const char *wrong, *known;
    bool near;
  };
  const Case cases[] = {
      {"abcd", "abcd", true},
      {"abcd", "ABCD", true},
      {"abcd", "abce", true},
      {"abcd", "abc", true},
      {"abcd", "abcde", true},
      {"abcd", "xabcd", true},
      {"abcd", "acbd", true},
      {"abcd", "bacd", true},
      {"abcd", "abdc", true},
      {"abcd", "abxy", false},
      {"abcd", "xabcdx", false},
      {"abcd", "ab", false},
      {"abcd", "badc", false},
      {"abcde", "abxye", true},
      {"abcde", "badce", true},
      {"abcde", "xyzde", false},
      {"abcde", "abcdexy", true},
      {"abcde", "xyabcde", true},
      {"abcde", "abcdexyz", false},
      {"abcde", "abc", true},
      {"abcde", "ab", false},
      {"abcdef", "xyabcdeq", false},
      {"abcdef", "abcdxyef", true},
      {"abcdef", "fbcdea", true},
      {"abcdef", "cabdef", true},
      {"abcdef", "efabcd", false},
      {"abcdef", "bcdefa", true},
      {"", "a", true},
      {"", "ab", false},
      {"a", "", true},
      {"@bcd", "`bcd", true},
      {"zbcd", "Zbcd", true},
  };
  for (const Case& c : cases)
    EXPECT_EQ(nearest(c.wrong, {c.known}), c.near ? c.known : "") << c.wrong << " " << c.known;
  EXPECT_EQ(nearest("abcde", {"abxye", "abcdx", "abcdy"}), "abcdx") << "the nearest, and of two the first";
}

}  // namespace
}  // namespace railbed::doc
