// SPDX-License-Identifier: Apache-2.0
// railbed perf ping: pings a server of railbed or an rping, or is the other end for an unmodified rping.
#include <unistd.h>

#include "command/exit_status.h"
#include "command/given_files.h"
#include "command/output.h"
#include "command/stop_signal.h"
#include "doc/fields.h"
#include "os/ports/kernel.h"
#include "perf/bounds.h"
#include "perf/ping/ping.h"
#include "perf/ping/ping_session.h"
#include "perf/session/client.h"
#include "perf_verb.h"
#include "progress.h"

namespace railbed {
namespace {

using namespace perf;

struct PingArguments {
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

Result<int> run_ping_verb(const PingArguments& a, const PerfCall& call) {
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
  options.command = call.command;
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

void add_ping_options(CommandLine& line, PingArguments& a) {
  line.option("ADDRESS", &a.ping.host,
              "address of `railbed perf serve` or rping on the rail; with --listen the local one");
  line.option("--port", &a.ping.port, "port (default: 18600, of rping 7174)");
  line.option("--peer-rping", &a.rping, "the peer is an unmodified `rping -s`");
  line.option("--listen", &a.listens, "with --peer-rping: be the server, for an unmodified `rping -c`");
  line.option("--once", &a.once, "with --listen: exit after one client");
  line.option("-s,--size", &a.ping.size_bytes, "bytes read and written by each ping, at most 64KiB").size_in_bytes();
  line.option("-n,--count", &a.ping.count, "pings").positive().show_default();
  line.option("--interval", &a.ping.interval, "seconds between pings (default: back to back)")
      .within(bounds::kPingInterval_ms);
  line.option("--token-file", &a.token_file, "file with the server's token in the first line").file();
  line.option("-o,--output", &a.output, "table, json or yaml").one_of({"table", "json", "yaml"});
}

}  // namespace

PerfVerb perf_ping() {
  return perf_row("ping", "check the RDMA path and the data, and time each phase", add_ping_options, run_ping_verb);
}

}  // namespace railbed
