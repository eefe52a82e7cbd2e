// SPDX-License-Identifier: Apache-2.0
#include "command/report_options.h"

namespace railbed {

void ReportOptions::declare(CommandLine& line) {
  line.option("RESULT", &results, "files written by --save").required().file();
  line.option("--status", &status, "output of `railbed status -o json` of each node, for the drawing").file();
  line.option("--title", &title, "headline");
  line.option("-o,--output", &output, "output file (default: standard output)").file();
  line.option("--kubeconfig", &kubeconfig, "also show nodes, policies, networks and pods of this cluster (read only)")
      .file();
  line.option("--context", &context, "kubeconfig context (the current one)");
}

}  // namespace railbed
