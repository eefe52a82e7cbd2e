// SPDX-License-Identifier: Apache-2.0
#include "command/report_options.h"

namespace railbed {

CommandLine& ReportOptions::declare(CommandLine& perf) {
  CommandLine& line = perf.subcommand("report", "one HTML file from results (--save) of bw, lat, jitter and mesh");
  line.option("RESULT", &results, "files that --save wrote").required().file();
  line.option("--status", &status, "`railbed status -o json` of each node, for the drawing").file();
  line.option("--title", &title, "headline");
  line.option("-o,--output", &output, "the file to write (default: standard output)").file();
  line.option("--kubeconfig", &kubeconfig,
              "shows nodes, policies, networks and pods of this cluster, too; they are only read")
      .file();
  line.option("--context", &context, "of the kubeconfig (its current one)");
  return line;
}

}  // namespace railbed
