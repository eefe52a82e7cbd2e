// SPDX-License-Identifier: Apache-2.0
#include "perf_jitter.h"

#include <optional>

#include <unistd.h>

#include "command/exit_status.h"
#include "command/given_files.h"
#include "command/output.h"
#include "command/stop_signal.h"
#include "doc/fields.h"
#include "os/ports/kernel.h"
#include "perf/jitter/jitter.h"
#include "progress.h"
#include "result_file.h"

namespace railbed {

using namespace perf;

struct PerfJitter::Arguments {
  std::string host;
  uint16_t port = 18600;
  std::string device;
  std::string remote_device;
  std::string gid_rule = "auto";
  uint64_t size_bytes = 8;
  int64_t rate_per_s = 1000;
  double duration_s = 10;
  int64_t repeats = kFewestRepeats;
  bool idle_only = false;
  uint64_t load_size_bytes = 65536;
  int64_t load_qps = 1;
  std::string token_file;
  std::string output = "table";
  std::string save;
  std::string label;
};

namespace {

Result<void> print_jitter(const JitterReport& report, const std::string& json, const std::string& output) {
  if (output == "table")
    print("{}", to_table(report));
  else if (output == "json")
    print_document(json);
  else
    print_value(TRY(doc::read_object("", json)), output);
  return {};
}

}  // namespace

PerfJitter::PerfJitter(CommandLine& perf)
    : arguments_(std::make_unique<Arguments>()),
      line_(perf.subcommand("jitter",
                            "jitter of probes on a fixed schedule, idle and under load, and the host's share of it")) {
  Arguments& a = *arguments_;
  line_.option("ADDRESS", &a.host, "address of `railbed perf serve` on the rail").required();
  line_.option("--port", &a.port, "control port").show_default();
  line_.option("--device", &a.device, "RDMA device, e.g. mlx5_0 or mlx5_0:2 (default: the one toward ADDRESS)");
  line_.option("--remote-device", &a.remote_device, "the server's RDMA device (default: the one toward this side)");
  line_.option("--gid-rule", &a.gid_rule, "as for bw").show_default();
  line_.option("--rate", &a.rate_per_s, "probes per second, on a fixed schedule").between(1, 100'000).show_default();
  line_.option("-s,--size", &a.size_bytes, "bytes read by a probe, e.g. 8 or 4KiB (default: 8)").size_in_bytes();
  line_.option("-D,--duration", &a.duration_s, "seconds per round").between(0.1, 3600.0).show_default();
  line_.option("--repeats", &a.repeats, "rounds of each kind, alternating; 3 or more are compared")
      .between(1, 100)
      .show_default();
  line_.option("--idle-only", &a.idle_only, "no rounds under load");
  line_.option("--load-size", &a.load_size_bytes, "bytes of each write of the load (default: 64KiB)").size_in_bytes();
  line_.option("--load-qps", &a.load_qps, "queue pairs of the load").between(1, 32).show_default();
  line_.option("--token-file", &a.token_file, "file with the server's token in the first line").file();
  line_.option("-o,--output", &a.output, "table, json or yaml").one_of({"table", "json", "yaml"});
  line_.option("--save", &a.save, "also write the result as JSON to this file").file();
  line_.option("--label", &a.label, "name of the rail or pair, e.g. rail0");
}

PerfJitter::~PerfJitter() = default;

bool PerfJitter::chosen() const {
  return line_.chosen();
}

Result<int> PerfJitter::run(const std::string& command) const {
  const Arguments& a = *arguments_;
  JitterOptions options{.host = a.host,
                        .port = a.port,
                        .place = {.device = a.device, .gid_rule = TRY(rdma::GidRule::parse(a.gid_rule))},
                        .remote_device = a.remote_device,
                        .size_bytes = static_cast<int64_t>(a.size_bytes),
                        .rate_per_s = a.rate_per_s,
                        .duration_ms = static_cast<int64_t>(a.duration_s * 1000),
                        .repeats = a.repeats,
                        .with_load = !a.idle_only,
                        .load_size_bytes = static_cast<int64_t>(a.load_size_bytes),
                        .load_qps = a.load_qps,
                        .limits = {},
                        .label = a.label,
                        .command = command,
                        .token = TRY(read_token(a.token_file)),
                        .on_progress = {},
                        .stop = {}};
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

}  // namespace railbed
