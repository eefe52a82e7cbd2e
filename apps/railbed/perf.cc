// SPDX-License-Identifier: Apache-2.0
// railbed perf: measures a path between two ends, over RDMA and over TCP, and writes the report.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <mutex>
#include <sstream>
#include <stop_token>

#include <unistd.h>

#include "command/output.h"
#include "command/stop_signal.h"
#include "doc/fields.h"
#include "doc/text.h"
#include "perf/client.h"
#include "perf/server.h"
#include "progress.h"
#include "replace_file.h"
#include "report/html.h"
#include "report/html_summary.h"
#include "report/rail_table.h"
#include "result_file.h"
#include "verb.h"

namespace railbed {
namespace {

using namespace perf;

// No size was asked for; every other value is one, and 0 is refused.
constexpr uint64_t kUsualSize = UINT64_MAX;

struct PerfArguments {
  std::string host;
  uint16_t port = 18600;
  std::string bind;
  bool once = false;
  std::string device;
  std::string remote_device;
  std::string gid_rule = "auto";
  bool all_sizes = false;
  uint64_t max_size_bytes = 8 << 20;
  uint64_t size_bytes = kUsualSize;
  int64_t qps = 1;
  int64_t tx_depth = 128;
  int64_t inline_bytes = -1;
  double duration_s = 0;
  int64_t iterations = 0;
  int64_t rate_per_s = 0;
  uint16_t data_port = 0;
  std::string token_file;
  bool bidirectional = false;
  bool tcp = false;
  std::string output = "table";
  std::string save;
  std::string label;
  std::vector<std::string> results;
  std::vector<std::string> status;
  std::string title;
  std::string report;
};

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) return fail(system_error(errno != 0 ? errno : EIO, "read " + path));
  return text.str();
}

TestSpec spec_of(const PerfArguments& arguments, TestKind kind) {
  TestSpec spec;
  spec.kind = kind;
  spec.transport = arguments.tcp ? Transport::kTcp : Transport::kRdma;
  const int64_t usual = kind == TestKind::kBandwidth ? 65536 : 2;
  if (arguments.all_sizes)
    spec.sizes_bytes = sweep_sizes(static_cast<int64_t>(arguments.max_size_bytes));
  else
    spec.sizes_bytes = {arguments.size_bytes == kUsualSize ? usual : static_cast<int64_t>(arguments.size_bytes)};
  spec.qps = arguments.qps;
  spec.tx_depth = arguments.tx_depth;
  spec.inline_bytes = arguments.inline_bytes;
  spec.iterations = arguments.iterations;
  spec.rate_per_s = arguments.rate_per_s;
  const double usual_s = arguments.all_sizes ? 0.5 : 2;
  spec.duration_ms = static_cast<int64_t>((arguments.duration_s > 0 ? arguments.duration_s : usual_s) * 1000);
  spec.bidirectional = arguments.bidirectional;
  spec.remote_device = arguments.remote_device;
  return spec;
}

// The first line of the file; "" without one. In a file, since everybody sees a command line, and results record it.
Result<std::string> read_token(const std::string& path) {
  if (path.empty()) return std::string();
  const std::string text = TRY(read_file(path));
  std::string token = text.substr(0, text.find('\n'));
  if (token.empty() || token.size() > kMaxToken_bytes)
    return fail(Code::kInvalid, "{}: the first line should be a token of 1 to {} characters", path, kMaxToken_bytes);
  return token;
}

Result<void> print_result(const Measurement& measurement, const std::string& output) {
  if (output == "table") {
    print("{}", to_table(measurement));
    return {};
  }
  const std::string json = to_json({measurement});
  if (output == "json")
    print_document(json);
  else
    print_value(TRY(doc::read_object("", json)), output);
  return {};
}

Result<int> run_client(const PerfArguments& arguments, TestKind kind, const std::string& command) {
  ClientOptions options{.host = arguments.host,
                        .port = arguments.port,
                        .place = {.device = arguments.device, .gid_rule = TRY(GidRule::parse(arguments.gid_rule))},
                        .limits = {},
                        .label = arguments.label,
                        .command = command,
                        .token = TRY(read_token(arguments.token_file)),
                        .on_progress = {},
                        .on_size = {},
                        .stop = {}};
  const TestSpec spec = spec_of(arguments, kind);
  TRY(validate(spec));
  std::optional<ResultFile> file;
  if (!arguments.save.empty()) file.emplace(TRY(ResultFile::open(arguments.save)));
  const StopSignal signal;
  options.stop = signal.token();
  Progress progress;
  if (isatty(STDERR_FILENO) == 1) options.on_progress = [&progress](const std::string& line) { progress.now(line); };
  std::optional<Measurement> partial;  // what there is, should the rest fail
  options.on_size = [&](const Measurement& so_far) -> Result<void> {
    partial = so_far;
    partial->ended_by = "under way, or killed";
    if (!file || so_far.bandwidth.size() + so_far.latency.size() == spec.sizes_bytes.size()) return {};
    return file->keep(to_json({*partial}));
  };
  const std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  auto measurement = measure(*kernel, options, spec);
  progress.wipe();
  if (!measurement && !partial) return fail(std::move(measurement.error()));
  if (!measurement) partial->ended_by = measurement.error().story();
  const Measurement& result = measurement ? *measurement : *partial;
  auto saved = file ? file->finish(to_json({result})) : Result<void>();
  TRY(print_result(result, arguments.output));
  if (!measurement) return fail(std::move(measurement.error()));
  TRY(std::move(saved));
  return kExitOk;
}

Result<int> run_server(const PerfArguments& arguments) {
  ServerOptions options;
  if (!arguments.bind.empty()) options.bind = TRY(IpAddress::parse(arguments.bind).context("--bind"));
  options.port = arguments.port;
  options.once = arguments.once;
  options.session.data_port = arguments.data_port;
  options.session.token = TRY(read_token(arguments.token_file));
  options.session.place.device = arguments.device;
  options.session.place.gid_rule = TRY(GidRule::parse(arguments.gid_rule));
  std::mutex mutex;
  options.on_event = [&mutex](const std::string& line) {
    const std::lock_guard lock(mutex);
    print("{}\n", doc::printable(line));
    flush_output();
  };
  const std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  options.budget = budget_of(kernel->files());
  const StopSignal signal;  // must exist before any thread does
  const std::unique_ptr<Server> server = TRY(Server::open(*kernel, std::move(options)));
  const std::stop_callback on_stop(signal.token(), [&server] { server->stop(); });
  print("serving on {} port {}{}; Ctrl-C ends\n", arguments.bind.empty() ? "all addresses" : arguments.bind,
        server->port(), arguments.device.empty() ? "" : ", RDMA device " + arguments.device);
  flush_output();
  TRY(server->run());
  return kExitOk;
}

Result<int> run_report(const PerfArguments& arguments) {
  report::Report report{.title = arguments.title, .measurements = {}, .nodes = {}};
  for (const std::string& path : arguments.results) {
    const std::string text = TRY(read_file(path));
    for (Measurement& measurement : TRY(measurements_from_json(text).context("{}", path)))
      report.measurements.push_back(std::move(measurement));
  }
  for (const std::string& path : arguments.status) {
    const std::string text = TRY(read_file(path));
    report.nodes.push_back(TRY(report::node_from_status_json(text).context("{}", path)));
  }
  const std::string html = report::to_html(report);
  if (arguments.report.empty() || arguments.report == "-") {
    print_document(html);
    return kExitOk;
  }
  TRY(replace_file(arguments.report, html));
  const std::vector<report::RailFigures> rails = report::rails_of(report.measurements);
  print("{}\n{}\nreport: {}\n", report::verdict_of(rails).headline, report::rail_table(rails).to_text(),
        arguments.report);
  return kExitOk;
}

void add_client_options(CommandLine& line, PerfArguments& a) {
  line.option("ADDRESS", &a.host, "where `railbed perf serve` runs: the rail's address").required();
  line.option("--port", &a.port, "its control port").show_default();
  line.option("--device", &a.device, "RDMA device, e.g. mlx5_0 or mlx5_0:2 (default: the one toward ADDRESS)");
  line.option("--remote-device", &a.remote_device, "the server's RDMA device (default: the one toward this side)");
  line.option("--gid-rule", &a.gid_rule,
              "auto, or of v1, v2, ipv4, ipv6, address=A, netdev=N, index=I, joined by commas")
      .show_default();
  const Option& all = line.option("-a,--all", &a.all_sizes, "sizes 2, 4, 8 … up to --max-size");
  line.option("--max-size", &a.max_size_bytes, "largest size of -a").size_in_bytes();
  line.option("-s,--size", &a.size_bytes, "bytes per message, e.g. 64KiB (default: 64KiB for bw, 2 for lat)")
      .size_in_bytes()
      .excludes(all);
  const Option& duration =
      line.option("-D,--duration", &a.duration_s, "seconds per size (default: 2, with -a 0.5)").between(0.01, 86400.0);
  line.option("-n,--iterations", &a.iterations, "messages per size and queue pair, instead of a duration")
      .positive()
      .excludes(duration);
  line.option("--inline", &a.inline_bytes, "writes up to this size go inline (default: for lat what the device takes)");
  line.option("--token-file", &a.token_file, "the server's token, in the first line of this file").file();
  line.option("--tcp", &a.tcp, "the same over plain sockets");
  line.option("-o,--output", &a.output, "table, json or yaml").one_of({"table", "json", "yaml"});
  line.option("--save", &a.save, "write the result as JSON to this file as well, after each size").file();
  line.option("--label", &a.label, "name of the rail or pair in reports, e.g. rail0");
}

std::string typed_line(std::span<char* const> arguments) {
  std::string text = "railbed";
  for (const char* argument : arguments) text += fmt::format(" {}", argument);
  return text;
}

}  // namespace

int perf_verb(CommandLine& line) {
  PerfArguments a;
  line.about("Measures bandwidth, latency and jitter of a path, over RDMA and over TCP.");
  CommandLine& serve = line.subcommand("serve", "the other end: answers clients until stopped");
  serve.option("--port", &a.port, "control port").show_default();
  serve.option("--bind", &a.bind, "listen on this address only");
  serve.option("--device", &a.device, "RDMA device (default: the one of the address a client connects to)");
  serve.option("--gid-rule", &a.gid_rule, "as for the clients").show_default();
  serve.option("--data-port", &a.data_port, "port for the streams of --tcp (default: any free one)");
  serve.option("--token-file", &a.token_file, "serve only clients with the token in the first line of this file")
      .file();
  serve.option("--once", &a.once, "end after one client");
  CommandLine& bw = line.subcommand("bw", "bandwidth by RDMA write");
  add_client_options(bw, a);
  bw.option("-q,--qps", &a.qps, "queue pairs, or TCP streams").show_default();
  bw.option("--tx-depth", &a.tx_depth, "writes under way per queue pair").show_default();
  bw.option("-b,--bidirectional", &a.bidirectional, "both sides write at once");
  CommandLine& lat = line.subcommand("lat", "latency and jitter by RDMA write ping-pong");
  add_client_options(lat, a);
  lat.option("--rate", &a.rate_per_s,
             "pings a second by a schedule, so that outages count (default: one after another)")
      .positive();
  CommandLine& html = line.subcommand("report", "one HTML file from results (--save) of bw and lat");
  html.option("RESULT", &a.results, "files that --save wrote").required().file();
  html.option("--status", &a.status, "`railbed status -o json` of each node, for the drawing").file();
  html.option("--title", &a.title, "headline");
  html.option("-o,--output", &a.report, "the file to write (default: standard output)").file();
  if (auto status = line.parse()) return *status;
  const auto result = [&]() -> Result<int> {
    if (serve.chosen()) return run_server(a);
    if (html.chosen()) return run_report(a);
    return run_client(a, bw.chosen() ? TestKind::kBandwidth : TestKind::kLatency, typed_line(line.arguments()));
  }();
  return status_of(result);
}

}  // namespace railbed
