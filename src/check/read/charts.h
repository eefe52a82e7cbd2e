// SPDX-License-Identifier: Apache-2.0
// Which files of a run belong to charts of Helm, and what they are there.
//
// Why: of a chart helm applies what is in templates/ and crds/. Other files with objects are data that templates read
// by .Files (definitions for several versions of Kubernetes, of which one is chosen), and what is right of a file in
// templates/ depends on the templates beside it, which are not rendered here.
// Threading: values; pure functions.
// Failure: none.
// Source: Helm's "Charts" and "Accessing Files Inside Templates".
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "doc/value.h"

namespace railbed::check {

class Charts {
 public:
  Charts() = default;
  explicit Charts(const std::vector<doc::SourcePtr>& sources);

  // Why a file is data of a chart: "templates of charts/x read it by .Files"; empty: it is none.
  std::string why_data(std::string_view file) const;
  // The chart that has the file in templates/; empty: none.
  std::string chart_of_template(std::string_view file) const;

 private:
  struct Place {
    std::string chart;       // its folder; "." is one
    std::string_view below;  // "templates/a.yaml"
    bool found = false;
  };
  Place place_of(std::string_view file) const;

  // What the templates of a chart read, by its folder: paths and patterns.
  std::map<std::string, std::vector<std::string>, std::less<>> read_by_templates_;
};

}  // namespace railbed::check
