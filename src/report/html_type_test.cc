// SPDX-License-Identifier: Apache-2.0
#include "report/html_type.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace railbed::report {
namespace {

template <typename T>
concept CanFollowHtml = requires(Html page, T more) { page += more; };
template <typename T>
concept CanBeAddedToHtml = requires(Html page, T more) { page + more; };

// No text is taken for Html, and no Html for a text: both directions are spelled out.
template <typename T>
constexpr bool kIsApartFromHtml =
    !std::is_convertible_v<T, Html> && !std::is_constructible_v<Html, T> && !std::is_assignable_v<Html&, T> &&
    !CanFollowHtml<T> && !CanBeAddedToHtml<T> && !std::is_convertible_v<Html, T> && !std::is_constructible_v<T, Html>;
static_assert(kIsApartFromHtml<std::string>);
static_assert(kIsApartFromHtml<std::string_view>);
static_assert(kIsApartFromHtml<const char*>);
static_assert(kIsApartFromHtml<char*>);
static_assert(kIsApartFromHtml<char>);
static_assert(CanFollowHtml<Html> && CanBeAddedToHtml<Html>);
// Formats and markup are literals.
static_assert(!std::is_convertible_v<std::string, MarkupLiteral> && !std::is_convertible_v<const char*, MarkupLiteral>);
static_assert(!std::is_convertible_v<std::string_view, MarkupLiteral>);
static_assert(!std::is_convertible_v<std::string, HtmlFormat<>> && !std::is_convertible_v<const char*, HtmlFormat<>>);
static_assert(!std::is_convertible_v<std::string_view, HtmlFormat<>>);
static_assert(std::is_same_v<FormattedInHtml<char>, std::string> && std::is_same_v<FormattedInHtml<double>, double>);

constexpr std::string_view kHostileText = "<b a=\"1\" c='2'>&\n";
constexpr std::string_view kItsHtml = "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp; ";

TEST(HtmlType, EscapesTextsOfEveryType) {
  const std::string text(kHostileText);
  std::string changeable(kHostileText);
  char characters[] = "<b a=\"1\" c='2'>&\n";
  EXPECT_EQ(html("{}", kHostileText).text(), kItsHtml);
  EXPECT_EQ(html("{}", text).text(), kItsHtml);
  EXPECT_EQ(html("{}", changeable).text(), kItsHtml);
  EXPECT_EQ(html("{}", std::string(kHostileText)).text(), kItsHtml);
  EXPECT_EQ(html("{}", text.c_str()).text(), kItsHtml);
  EXPECT_EQ(html("{}", changeable.data()).text(), kItsHtml);
  EXPECT_EQ(html("{}", characters).text(), kItsHtml);
  EXPECT_EQ(html("{}", "<b a=\"1\" c='2'>&\n").text(), kItsHtml);
  EXPECT_EQ(html("{}{}{}{}{}{}", '<', '>', '&', '"', '\'', '\n').text(), "&lt;&gt;&amp;&quot;&#39; ");
  EXPECT_EQ(html("{}", text[0]).text(), "&lt;");
}

TEST(HtmlType, EscapesWhereverAnArgumentIs) {
  EXPECT_EQ(html("<a title=\"{1}\">{0} {1}</a>", "<", "\"").text(), "<a title=\"&quot;\">&lt; &quot;</a>");
  EXPECT_EQ(html("{:>6}|{:<6}|{:.4}", "<", '<', "<script>").text(), "  &lt;|&lt;  |&lt;");
  EXPECT_EQ(html("{}", std::string("\0\x1f\x7f\t", 4)).text(), "    ");
  EXPECT_EQ(html("{}", "– µ × ’").text(), "– µ × ’");
}

RC_GTEST_PROP(HtmlType, NoTextHasASpecialCharacter, (const std::string& text)) {
  RC_ASSERT(html("{}", text).text().find_first_of("<>\"'") == std::string::npos);
}

TEST(HtmlType, FormatsNumbersAsTheyAre) {
  EXPECT_EQ(html("{} {} {} {:.2f} {:06x} {:+d}", 42, uint8_t{60}, int64_t{-7}, 2.5, 0xabcU, 3).text(),
            "42 60 -7 2.50 000abc +3");
  EXPECT_EQ(html("{:.0f} {{}} {}", 99.6, true).text(), "100 {} true");
}

TEST(HtmlType, TakesHtmlIntoHtml) {
  const Html cell = html("<td>{}</td>", "<");
  EXPECT_EQ(html("<tr>{}{}</tr>", cell, markup("<td></td>")).text(), "<tr><td>&lt;</td><td></td></tr>");
  EXPECT_EQ(html("<p>{}{}</p>", Html(), "&").text(), "<p>&amp;</p>");
}

TEST(HtmlType, KeepsALiteralOfMarkup) {
  EXPECT_EQ(markup("<br>{}'&'").text(), "<br>{}'&'");
  EXPECT_EQ(html("<br>").text(), "<br>");
}

TEST(HtmlType, IsAppendedAndCompared) {
  Html page;
  EXPECT_TRUE(page.empty());
  EXPECT_EQ(page.text(), "");
  page += markup("<p>");
  page += html("{}", "<");
  EXPECT_FALSE(page.empty());
  EXPECT_EQ((page + markup("</p>") + Html()).text(), "<p>&lt;</p>");
  EXPECT_EQ(page.text(), "<p>&lt;");
  EXPECT_TRUE(page == html("<p>{}", "<"));
  EXPECT_FALSE(page == Html());
}

TEST(JsonScript, CannotEndItsElement) {
  EXPECT_EQ(json_script("data", "{\"a\":\"</script><!--&\xe2\x80\xa8\xe2\x80\xa9\"}").text(),
            "<script type=\"application/json\" id=\"data\">"
            "{\"a\":\"\\u003c/script>\\u003c!--\\u0026\\u2028\\u2029\"}</script>\n");
}

TEST(EmbeddedFile, IsWhatTheFileHas) {
  constexpr std::string_view kStyle = "a > b { color: red }";
  EXPECT_EQ(embedded_file(kStyle.data(), kStyle.data() + kStyle.size()).text(), kStyle);
}

}  // namespace
}  // namespace railbed::report
