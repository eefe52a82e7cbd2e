// SPDX-License-Identifier: Apache-2.0
#include "report/html_text.h"

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

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += static_cast<unsigned char>(c) < ' ' || c == 0x7f ? ' ' : c;
    }
  }
  return out;
}

std::string script_safe(std::string json) {
  std::string out;
  out.reserve(json.size());
  for (size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = std::string_view(json).substr(i);
    if (json[i] == '<')
      out += "\\u003c";
    else if (json[i] == '&')
      out += "\\u0026";
    else if (rest.starts_with("\xe2\x80\xa8"))
      out += "\\u2028", i += 2;
    else if (rest.starts_with("\xe2\x80\xa9"))
      out += "\\u2029", i += 2;
    else
      out += json[i];
  }
  return out;
}

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

std::string entry_html(std::string_view title, const std::string& text) {
  return text.empty() ? "" : fmt::format("<dt>{}</dt><dd>{}</dd>\n", title, escaped(text));
}

std::string objects_head(std::string_view caption, std::initializer_list<std::string_view> titles) {
  std::string out =
      fmt::format("<div class=\"wide\"><table class=\"objects\"><caption>{}</caption><thead><tr>", caption);
  for (const std::string_view title : titles) out += fmt::format("<th scope=\"col\">{}</th>", title);
  return out + "</tr></thead><tbody>\n";
}

}  // namespace railbed::report
