// SPDX-License-Identifier: Apache-2.0
// What the parts of the HTML report share: numbers as text, and pieces of markup.
//
// Threading: pure.
// Failure: none.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/html_type.h"

namespace railbed::report {

std::string gbps_text(double gbps);            // "368 Gb/s", "71.0 Mb/s"
std::string gbytes_text(double gbytes_per_s);  // "46.1 GB/s", "71.0 MB/s"
std::string us_text(double us);                // "1.21 µs", "5.80 ms"
std::string rate_text(double per_s);           // "12.3 M/s"
std::string ratio_text(double ratio);          // "4.1×", "0.33×"
// "38.0 Gb/s to 391 Gb/s", one of them where both read the same; "" of nothing.
std::string span_text(const std::vector<double>& values, std::string (*text)(double));
std::string us_or_dash(std::optional<double> us);
std::string_view text_or_dash(std::string_view text);
// The first `length` characters, with "…" when there are more; counts UTF-8 characters.
std::string shortened(std::string_view text, size_t length);

// Stands where charts would.
Html charts_need_script();

// An entry of a list of descriptions, or nothing where there is no text.
Html entry_html(std::string_view title, std::string_view text);

// A table of objects up to its rows, and what ends it.
Html objects_head(std::string_view caption, std::initializer_list<std::string_view> titles);
Html objects_end();

}  // namespace railbed::report
