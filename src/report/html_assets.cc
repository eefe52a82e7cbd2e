// SPDX-License-Identifier: Apache-2.0
#include "report/html_assets.h"

// The assembler reads the files (CMakeLists.txt names them as dependencies): no generated source, no copy.
#define RAILBED_EMBED(symbol, path)                                                    \
  asm(".pushsection .rodata\n"                                                         \
      ".global " #symbol "_begin\n.global " #symbol "_end\n" #symbol                   \
      "_begin:\n"                                                                      \
      ".incbin \"" RAILBED_SOURCE_DIR "/" path "\"\n" #symbol "_end:\n.popsection\n"); \
  extern "C" const char symbol##_begin[];                                              \
  extern "C" const char symbol##_end[];

RAILBED_EMBED(railbed_uplot_js, "third_party/uplot/uPlot.iife.min.js")
RAILBED_EMBED(railbed_uplot_licence, "third_party/uplot/LICENSE")
RAILBED_EMBED(railbed_uplot_css, "third_party/uplot/uPlot.min.css")
RAILBED_EMBED(railbed_report_js, "src/report/html.js")
RAILBED_EMBED(railbed_report_css, "src/report/html.css")

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
