// SPDX-License-Identifier: Apache-2.0
#include "perf_ping.h"

#include <unistd.h>

#include "command/exit_status.h"
#include "command/given_files.h"
#include "command/output.h"
#include "command/stop_signal.h"
#include "doc/fields.h"
#include "os/ports/kernel.h"
#include "perf/bounds.h"
#include "perf/client.h"
#include "perf/ping/ping.h"
#include "perf/ping/ping_session.h"
#include "progress.h"

namespace railbed {

using namespace perf;

struct PerfPing::Arguments {
  PingOptions ping;  // its port is 0 for the usual one of who is pinged
  bool rping = false;
  bool listens = false;
  bool once = false;
  std::string token_file;
  std::string output = "table";

  uint16_t chosen_port() const {
    if (ping.port != 0) return ping.port;
    return rping ? kRpingPort : ClientOptions{}.port;
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
  line_.option("ADDRESS", &a.ping.host,
               "address of `railbed perf serve` or rping on the rail; with --listen the local one");
  line_.option("--port", &a.ping.port, "port (default: 18600, of rping 7174)");
  line_.option("--peer-rping", &a.rping, "the peer is an unmodified `rping -s`");
  line_.option("--listen", &a.listens, "with --peer-rping: be the server, for an unmodified `rping -c`");
  line_.option("--once", &a.once, "with --listen: exit after one client");
  line_.option("-s,--size", &a.ping.size_bytes, "bytes read and written by each ping, at most 64KiB").size_in_bytes();
  line_.option("-n,--count", &a.ping.count, "pings").positive().show_default();
  line_.option("--interval", &a.ping.interval, "seconds between pings (default: back to back)")
      .within(bounds::kPingInterval_ms);
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
  if (a.listens) return listen(a.ping.host, a.chosen_port(), a.once);
  if (a.ping.host.empty()) return fail(Code::kInvalid, "ADDRESS: name the peer");
  // What was typed has no sign, and may be more than a signed size can hold.
  if (const auto typed_bytes = static_cast<uint64_t>(a.ping.size_bytes);
      typed_bytes < 1 || typed_bytes > kMostPing_bytes)
    return fail(Code::kInvalid, "--size: a ping has 1 to {} bytes, not {}", kMostPing_bytes, typed_bytes);
  PingOptions options = a.ping;
  options.port = a.chosen_port();
  options.speaks = a.rping ? PingPeer::kRping : PingPeer::kRailbed;
  options.token = TRY(read_token(a.token_file));
  options.command = command;
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
