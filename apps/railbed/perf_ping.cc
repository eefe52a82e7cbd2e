// SPDX-License-Identifier: Apache-2.0
#include "perf_ping.h"

#include <unistd.h>

#include "command/exit_status.h"
#include "command/given_files.h"
#include "command/output.h"
#include "command/stop_signal.h"
#include "doc/fields.h"
#include "os/ports/kernel.h"
#include "perf/ping/ping.h"
#include "perf/ping/ping_session.h"
#include "progress.h"

namespace railbed {

using namespace perf;

struct PerfPing::Arguments {
  std::string host;
  uint16_t port = 0;  // the usual one of who is pinged
  bool rping = false;
  bool listens = false;
  bool once = false;
  uint64_t size_bytes = 64;
  int64_t count = 100;
  double interval_s = 0;
  std::string token_file;
  std::string output = "table";

  uint16_t chosen_port() const {
    if (port != 0) return port;
    return rping ? kRpingPort : uint16_t{18600};
  }
};

namespace {

Result<void> print_ping(const PingReport& report, const std::string& output) {
  if (output == "table") {
    print("{}", to_table(report));
    return {};
  }
  const std::string json = to_json(report);
  if (output == "json")
    print_document(json);
  else
    print_value(TRY(doc::read_object("", json)), output);
  return {};
}

// Answers `rping -c` until Ctrl-C, or one client.
Result<int> listen(const std::string& address, uint16_t port, bool once) {
  RpingServerOptions options;
  if (!address.empty()) options.bind = TRY(IpAddress::parse(address).context("ADDRESS"));
  options.port = port;
  options.once = once;
  options.on_ready = [](uint16_t bound) {
    print("serving rping's clients on port {}; Ctrl-C ends\n", bound);
    flush_output();
  };
  options.on_event = [](const std::string& line) {
    print("{}\n", line);
    flush_output();
  };
  options.on_report = [](const PingReport& report) {
    print("{}", to_table(report));
    if (!report.ended_by.empty()) print("  ended by: {}\n", report.ended_by);
    flush_output();
  };
  const StopSignal signal;
  options.stop = signal.token();
  const std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  const TickClock clock(kernel->files());
  TRY(serve_rping(clock, options));
  return kExitOk;
}

}  // namespace

PerfPing::PerfPing(CommandLine& perf)
    : arguments_(std::make_unique<Arguments>()),
      line_(perf.subcommand("ping", "check the RDMA path and the data, and time each phase")) {
  Arguments& a = *arguments_;
  line_.option("ADDRESS", &a.host, "address of `railbed perf serve` or rping on the rail; with --listen the local one");
  line_.option("--port", &a.port, "port (default: 18600, of rping 7174)");
  line_.option("--peer-rping", &a.rping, "the peer is an unmodified `rping -s`");
  line_.option("--listen", &a.listens, "with --peer-rping: be the server, for an unmodified `rping -c`");
  line_.option("--once", &a.once, "with --listen: exit after one client");
  line_.option("-s,--size", &a.size_bytes, "bytes read and written by each ping, at most 64KiB").size_in_bytes();
  line_.option("-n,--count", &a.count, "pings").positive().show_default();
  line_.option("--interval", &a.interval_s, "seconds between pings (default: back to back)").between(0.0, 5.0);
  line_.option("--token-file", &a.token_file, "file with the server's token in the first line").file();
  line_.option("-o,--output", &a.output, "table, json or yaml").one_of({"table", "json", "yaml"});
}

PerfPing::~PerfPing() = default;

bool PerfPing::chosen() const {
  return line_.chosen();
}

Result<int> PerfPing::run(const std::string& command) const {
  const Arguments& a = *arguments_;
  if (a.listens && !a.rping)
    return fail(Error{.code = Code::kInvalid,
                      .message = "--listen requires --peer-rping",
                      .hint = "railbed's own clients are served by `railbed perf serve`"});
  if (a.listens) return listen(a.host, a.chosen_port(), a.once);
  if (a.host.empty()) return fail(Code::kInvalid, "ADDRESS: name the peer");
  if (a.size_bytes < 1 || a.size_bytes > kMostPing_bytes)
    return fail(Code::kInvalid, "--size: a ping has 1 to {} bytes, not {}", kMostPing_bytes, a.size_bytes);
  PingOptions options{.host = a.host,
                      .port = a.chosen_port(),
                      .speaks = a.rping ? PingPeer::kRping : PingPeer::kRailbed,
                      .size_bytes = static_cast<int64_t>(a.size_bytes),
                      .count = a.count,
                      .interval = std::chrono::milliseconds(static_cast<int64_t>(a.interval_s * 1000)),
                      .limits = {},
                      .token = TRY(read_token(a.token_file)),
                      .command = command,
                      .on_progress = {},
                      .stop = {}};
  const StopSignal signal;
  options.stop = signal.token();
  Progress progress;
  if (isatty(STDERR_FILENO) == 1) options.on_progress = [&progress](const std::string& line) { progress.now(line); };
  const std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  auto outcome = run_ping(*kernel, options);
  progress.wipe();
  if (!outcome) return fail(std::move(outcome.error()));
  TRY(print_ping(outcome->report, a.output));
  if (outcome->error) return fail(std::move(*outcome->error));
  return kExitOk;
}

}  // namespace railbed
