// SPDX-License-Identifier: Apache-2.0
// railbed perf jitter: probes on a fixed schedule, idle and under load.
#include <chrono>
#include <optional>

#include <unistd.h>

#include "command/exit_status.h"
#include "command/given_files.h"
#include "command/output.h"
#include "command/stop_signal.h"
#include "doc/fields.h"
#include "os/ports/kernel.h"
#include "perf/bounds.h"
#include "perf/jitter/jitter.h"
#include "perf_verb.h"
#include "progress.h"
#include "result_file.h"

namespace railbed {
namespace {

using namespace perf;

struct JitterArguments {
  JitterOptions jitter;
  std::string gid_rule = "auto";
  std::chrono::milliseconds duration{jitter.duration_ms};
  bool idle_only = false;
  std::string token_file;
  std::string output = "table";
  std::string save;
};

Result<void> print_jitter(const JitterReport& report, const std::string& json, const std::string& output) {
  if (output == "table")
    print("{}", to_table(report));
  else if (output == "json")
    print_document(json);
  else
    print_value(TRY(doc::read_object("", json)), output);
  return {};
}

Result<int> run_jitter(const JitterArguments& a, const PerfCall& call) {
  JitterOptions options = a.jitter;
  options.place.gid_rule = TRY(rdma::GidRule::parse(a.gid_rule));
  options.duration_ms = a.duration.count();
  options.with_load = !a.idle_only;
  options.command = call.command;
  options.token = TRY(read_token(a.token_file));
  std::optional<ResultFile> file;
  if (!a.save.empty()) file.emplace(TRY(ResultFile::open(a.save)));
  const StopSignal signal;
  options.stop = signal.token();
  Progress progress;
  if (isatty(STDERR_FILENO) == 1) options.on_progress = [&progress](const std::string& line) { progress.now(line); };
  const std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  auto outcome = measure_jitter(*kernel, options);
  progress.wipe();
  if (!outcome) return fail(std::move(outcome.error()));
  const std::string json = to_json(outcome->report);
  auto saved = file ? file->finish(json) : Result<void>();
  TRY(print_jitter(outcome->report, json, a.output));
  TRY(end_of(std::move(outcome->error), std::move(saved)));
  return kExitOk;
}

void add_jitter_options(CommandLine& line, JitterArguments& a) {
  line.option("ADDRESS", &a.jitter.host, "address of `railbed perf serve` on the rail").required();
  line.option("--port", &a.jitter.port, "control port").show_default();
  line.option("--device", &a.jitter.place.device,
              "RDMA device, e.g. mlx5_0 or mlx5_0:2 (default: the one toward ADDRESS)");
  line.option("--remote-device", &a.jitter.remote_device,
              "the server's RDMA device (default: the one toward this side)");
  line.option("--gid-rule", &a.gid_rule, "as for bw").show_default();
  line.option("--rate", &a.jitter.rate_per_s, "probes per second, on a fixed schedule")
      .within(bounds::kProbeRate_per_s)
      .show_default();
  line.option("-s,--size", &a.jitter.size_bytes, "bytes read by a probe, e.g. 8 or 4KiB (default: 8)").size_in_bytes();
  line.option("-D,--duration", &a.duration, "seconds per round").within(bounds::kProbing_ms).show_default();
  line.option("--repeats", &a.jitter.repeats, "rounds of each kind, alternating; 3 or more are compared")
      .within(bounds::kRepeats)
      .show_default();
  line.option("--idle-only", &a.idle_only, "no rounds under load");
  line.option("--load-size", &a.jitter.load_size_bytes, "bytes of each write of the load (default: 64KiB)")
      .size_in_bytes();
  line.option("--load-qps", &a.jitter.load_qps, "queue pairs of the load").within(bounds::kFewQps).show_default();
  line.option("--token-file", &a.token_file, "file with the server's token in the first line").file();
  line.option("-o,--output", &a.output, "table, json or yaml").one_of({"table", "json", "yaml"});
  line.option("--save", &a.save, "also write the result as JSON to this file").file();
  line.option("--label", &a.jitter.label, "name of the rail or pair, e.g. rail0");
}

}  // namespace

PerfVerb perf_jitter() {
  return perf_row("jitter", "jitter of probes on a fixed schedule, idle and under load, and the host's share of it",
                  add_jitter_options, run_jitter);
}

}  // namespace railbed
