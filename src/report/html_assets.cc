// SPDX-License-Identifier: Apache-2.0
#include "report/html_assets.h"

#include "base/embed.h"

RAILBED_EMBED(railbed_uplot_js, RAILBED_SOURCE_DIR "/third_party/uplot/uPlot.iife.min.js")
RAILBED_EMBED(railbed_uplot_licence, RAILBED_SOURCE_DIR "/third_party/uplot/LICENSE")
RAILBED_EMBED(railbed_uplot_css, RAILBED_SOURCE_DIR "/third_party/uplot/uPlot.min.css")
RAILBED_EMBED(railbed_report_js, RAILBED_SOURCE_DIR "/src/report/html.js")
RAILBED_EMBED(railbed_report_css, RAILBED_SOURCE_DIR "/src/report/html.css")

namespace railbed::report {

Html uplot_script() {
  return embedded_file(railbed_uplot_js_begin, railbed_uplot_js_end);
}
Html uplot_licence() {
  return embedded_file(railbed_uplot_licence_begin, railbed_uplot_licence_end);
}
Html uplot_style() {
  return embedded_file(railbed_uplot_css_begin, railbed_uplot_css_end);
}
Html report_script() {
  return embedded_file(railbed_report_js_begin, railbed_report_js_end);
}
Html report_style() {
  return embedded_file(railbed_report_css_begin, railbed_report_css_end);
}

}  // namespace railbed::report
