// SPDX-License-Identifier: Apache-2.0
// Text of the HTML report: escaping, and number formatting.
//
// Why: names, labels and commands are external input; none may become markup or script.
// Threading: pure.
// Failure: none.
// Spec: HTML 13.1.2.3 (text and double-quoted attributes), 4.12.1.3 (JSON in script elements).
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace railbed::report {

// For text and for attribute values in double quotes. Control characters become spaces.
std::string escaped(std::string_view text);
// JSON that cannot end its script element: "<" becomes \u003c, and "&", U+2028 and U+2029 are spelled out too.
std::string script_safe(std::string json);

std::string gbps_text(double gbps);            // "368 Gb/s", "71.0 Mb/s"
std::string gbytes_text(double gbytes_per_s);  // "46.1 GB/s", "71.0 MB/s"
std::string us_text(double us);                // "1.21 µs", "5.80 ms"
std::string rate_text(double per_s);           // "12.3 M/s"
std::string ratio_text(double ratio);          // "4.1×", "0.33×"
std::string us_or_dash(std::optional<double> us);
// The first `length` characters, with "…" when there are more; counts UTF-8 characters.
std::string shortened(std::string_view text, size_t length);

// Stands where charts would.
inline constexpr std::string_view kChartsNeedScript =
    "<noscript><p class=\"quiet\">The charts require JavaScript; the tables below contain the same "
    "figures.</p></noscript>\n";

// An entry of a list of descriptions, or nothing where there is no text. `title` is ours.
std::string entry_html(std::string_view title, const std::string& text);

// A table of objects up to its rows, and what ends it. `titles` are ours; so is the caption, or it is escaped.
std::string objects_head(std::string_view caption, std::initializer_list<std::string_view> titles);
inline constexpr std::string_view kObjectsEnd = "</tbody></table></div>\n";

}  // namespace railbed::report
