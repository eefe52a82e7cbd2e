// SPDX-License-Identifier: Apache-2.0
// HTML as a type: a text becomes part of it only escaped.
//
// Why: names, labels and commands are external input; none may become markup or script. No caller has to remember to
// escape: html() escapes each argument that is not Html, and where Html is expected, the compiler rejects a string.
// Threading: plain values, pure functions.
// Failure: none; a format that does not fit its arguments does not compile.
// Spec: HTML 13.1.2.3 (text and double-quoted attributes), 4.12.1.3 (JSON in script elements).
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

namespace railbed::report {

class Html;

// A number has nothing to escape; a char is a text.
template <typename T>
concept HtmlNumber = std::is_arithmetic_v<T> && !std::same_as<T, char>;

// What stands for an argument while the text is formatted.
template <typename T>
using FormattedInHtml =
    std::conditional_t<HtmlNumber<T>, T, std::conditional_t<std::same_as<T, Html>, std::string_view, std::string>>;

// Only a literal of the source code is a format.
template <typename... Args>
struct HtmlFormat {
  template <size_t kSize>
  consteval HtmlFormat(const char (&literal)[kSize]) : checked(literal) {}

  fmt::format_string<FormattedInHtml<Args>...> checked;
};

void this_is_not_a_literal();  // has no definition: it stops the compiler

// Only a literal of the source code is markup.
struct MarkupLiteral {
  template <size_t kSize>
  consteval MarkupLiteral(const char (&literal)[kSize]) : text(literal, kSize - 1) {
    if (literal[kSize - 1] != '\0') this_is_not_a_literal();
  }

  std::string_view text;
};

// html("<td title=\"{}\">{} of {}</td>", name, count, cell): texts are escaped, numbers and Html are as they are. Texts
// may stand between tags and in attribute values in double quotes; control characters in them become spaces.
template <typename... Args>
Html html(HtmlFormat<std::type_identity_t<Args>...> format, const Args&... args);
Html markup(MarkupLiteral literal);
// An element with data for scripts, which JSON cannot end: "<" becomes \u003c, and "&", U+2028 and U+2029 are spelled
// out too.
Html json_script(MarkupLiteral id, std::string_view json);
// A style sheet or a script of html_assets.h.
Html embedded_file(const char* begin, const char* end);

class Html {
 public:
  Html() = default;

  Html& operator+=(const Html& more) {
    text_ += more.text_;
    return *this;
  }
  friend Html operator+(Html first, const Html& second) {
    first += second;
    return first;
  }
  friend bool operator==(const Html&, const Html&) = default;

  bool empty() const { return text_.empty(); }
  // The way out, for what writes the page and for tests.
  const std::string& text() const { return text_; }

 private:
  template <typename... Args>
  friend Html html(HtmlFormat<std::type_identity_t<Args>...> format, const Args&... args);
  friend Html markup(MarkupLiteral literal);
  friend Html json_script(MarkupLiteral id, std::string_view json);
  friend Html embedded_file(const char* begin, const char* end);

  explicit Html(std::string text) : text_(std::move(text)) {}

  static std::string escaped(std::string_view text);
  static std::string_view formatted(const Html& part) { return part.text_; }
  static std::string formatted(std::string_view text) { return escaped(text); }
  static std::string formatted(std::same_as<char> auto character) { return escaped({&character, 1}); }
  static auto formatted(HtmlNumber auto number) { return number; }

  std::string text_;
};

template <typename... Args>
Html html(HtmlFormat<std::type_identity_t<Args>...> format, const Args&... args) {
  return Html(fmt::format(format.checked, Html::formatted(args)...));
}

}  // namespace railbed::report
