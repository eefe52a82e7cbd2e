// SPDX-License-Identifier: Apache-2.0
#include "report/html_text.h"

#include <algorithm>

#include "base/format.h"

namespace railbed::report {
namespace {

// Three significant digits without an exponent.
std::string three_digits(double value) {
  if (value >= 100) return fmt::format("{:.0f}", value);
  if (value >= 10) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

}  // namespace

std::string gbps_text(double gbps) {
  if (gbps >= 1) return three_digits(gbps) + " Gb/s";
  if (gbps >= 0.001) return three_digits(gbps * 1e3) + " Mb/s";
  return three_digits(gbps * 1e6) + " kb/s";
}

std::string gbytes_text(double gbytes_per_s) {
  if (gbytes_per_s >= 1) return three_digits(gbytes_per_s) + " GB/s";
  if (gbytes_per_s >= 0.001) return three_digits(gbytes_per_s * 1e3) + " MB/s";
  return three_digits(gbytes_per_s * 1e6) + " kB/s";
}

std::string us_text(double us) {
  if (us >= 1e6) return three_digits(us / 1e6) + " s";
  return us >= 1e3 ? three_digits(us / 1e3) + " ms" : three_digits(us) + " µs";
}

std::string us_or_dash(std::optional<double> us) {
  return us ? us_text(*us) : "–";
}

std::string_view text_or_dash(std::string_view text) {
  return text.empty() ? "–" : text;
}

std::string rate_text(double per_s) {
  if (per_s >= 1e6) return three_digits(per_s / 1e6) + " M/s";
  return per_s >= 1e3 ? three_digits(per_s / 1e3) + " k/s" : three_digits(per_s) + " /s";
}

std::string ratio_text(double ratio) {
  return (ratio >= 10 ? fmt::format("{:.0f}", ratio) : fmt::format("{:.2g}", ratio)) + "×";
}

std::string shortened(std::string_view text, size_t length) {
  size_t characters = 0;
  size_t cut = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) == 0x80) continue;  // within a character
    if (characters + 1 == length) cut = i;
    if (++characters > length) return std::string(text.substr(0, cut)) + "…";
  }
  return std::string(text);
}

std::string span_text(const std::vector<double>& values, std::string (*text)(double)) {
  if (values.empty()) return "";
  const auto [low, high] = std::ranges::minmax(values);
  const std::string first = text(low);
  const std::string last = text(high);
  return first == last ? first : fmt::format("{} to {}", first, last);
}

Html charts_need_script() {
  return markup(
      "<noscript><p class=\"quiet\">The charts require JavaScript; the tables below contain the same "
      "figures.</p></noscript>\n");
}

Html entry_html(std::string_view title, std::string_view text) {
  return text.empty() ? Html() : html("<dt>{}</dt><dd>{}</dd>\n", title, text);
}

Html objects_head(std::string_view caption, std::initializer_list<std::string_view> titles) {
  Html out = html("<div class=\"wide\"><table class=\"objects\"><caption>{}</caption><thead><tr>", caption);
  for (const std::string_view title : titles) out += html("<th scope=\"col\">{}</th>", title);
  return out + markup("</tr></thead><tbody>\n");
}

Html objects_end() {
  return markup("</tbody></table></div>\n");
}

}  // namespace railbed::report
