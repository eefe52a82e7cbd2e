// SPDX-License-Identifier: Apache-2.0
// railbed perf bw, rate and lat: measure a path against a server, over RDMA and over TCP.
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "command/exit_status.h"
#include "command/given_files.h"
#include "command/output.h"
#include "command/stop_signal.h"
#include "doc/fields.h"
#include "doc/text.h"
#include "live_line.h"
#include "os/ports/kernel.h"
#include "perf/bounds.h"
#include "perf/perftest/perftest.h"
#include "perf/session/client.h"
#include "perf_verb.h"
#include "result_file.h"

namespace railbed {
namespace {

using namespace perf;

// What is measured; message rate is bandwidth of the smallest messages.
enum class Figure : uint8_t { kBandwidth, kRate, kLatency };

// No size was asked for; every other value is one, and 0 is refused.
constexpr int64_t kUsualSize = -1;

// Of bw, rate and lat. What is sent as it is typed is in `client` and `spec`; the rest decides what they become.
struct ClientArguments {
  Figure figure = Figure::kBandwidth;
  ClientOptions client{.port = 0};  // 0: the usual one of the server
  TestSpec spec;
  bool peer_perftest = false;
  std::string gid_rule = "auto";
  bool all_sizes = false;
  int64_t max_size_bytes = 8 << 20;
  int64_t size_bytes = kUsualSize;
  std::chrono::milliseconds duration{0};  // 0: the usual one
  std::string token_file;
  bool tcp = false;
  std::string memory = "host";
  std::string remote_memory = "host";
  std::string output = "table";
  std::string save;
};

int64_t usual_size(Figure figure, RdmaVerb verb) {
  if (verb == RdmaVerb::kFetchAdd) return kAtomic_bytes;
  if (figure != Figure::kBandwidth) return 2;
  return verb == RdmaVerb::kSendUd ? 1024 : 65536;
}

Result<TestSpec> spec_of(const ClientArguments& arguments) {
  TestSpec spec = arguments.spec;
  spec.kind = arguments.figure == Figure::kLatency ? TestKind::kLatency : TestKind::kBandwidth;
  spec.transport = arguments.tcp ? Transport::kTcp : Transport::kRdma;
  spec.memory = TRY(memory_from(arguments.memory).context("--memory"));
  spec.remote_memory = TRY(memory_from(arguments.remote_memory).context("--remote-memory"));
  if (arguments.all_sizes)
    spec.sizes_bytes = sweep_sizes(arguments.max_size_bytes);
  else
    spec.sizes_bytes = {arguments.size_bytes == kUsualSize ? usual_size(arguments.figure, spec.verb)
                                                           : arguments.size_bytes};
  const std::chrono::milliseconds usual{arguments.all_sizes ? 500 : 2000};
  const bool duration_given = arguments.duration > std::chrono::milliseconds(0);
  spec.duration_ms = (duration_given ? arguments.duration : usual).count();
  if (!arguments.peer_perftest) return spec;
  const auto role = arguments.client.host.empty() ? perftest::Role::kServer : perftest::Role::kClient;
  return perftest::as_perftest(std::move(spec), role, duration_given);
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

Result<int> run_client(const ClientArguments& arguments, const PerfCall& call) {
  ClientOptions options = arguments.client;
  if (options.host.empty() && !arguments.peer_perftest)
    return fail(Error{.code = Code::kInvalid,
                      .message = "ADDRESS is required",
                      .hint = "name the machine where `railbed perf serve` runs"});
  if (options.port == 0) options.port = arguments.peer_perftest ? perftest::kPort : ClientOptions{}.port;
  options.place.gid_rule = TRY(rdma::GidRule::parse(arguments.gid_rule));
  options.command = call.command;
  options.token = TRY(read_token(arguments.token_file));
  const TestSpec spec = TRY(spec_of(arguments));
  TRY(validate(spec));
  // On standard error, before anything can fail: nothing on the wire says what the other end runs.
  options.on_notice = [](const std::string& line) { print_error("{}\n", doc::printable(line)); };
  std::optional<ResultFile> file;
  if (!arguments.save.empty()) file.emplace(TRY(ResultFile::open(arguments.save)));
  const StopSignal signal;
  options.stop = signal.token();
  LiveLine live;
  options.live = live.figures();
  options.on_progress = [&live](const std::string& line) { live.now(line); };
  std::optional<Measurement> partial;  // what there is, should the rest fail
  options.on_size = [&](const Measurement& so_far) -> Result<void> {
    partial = so_far;
    partial->ended_by = ResultFile::kUnderWay;
    if (!file || so_far.bandwidth.size() + so_far.latency.size() == spec.sizes_bytes.size()) return {};
    return file->keep(to_json({*partial}));
  };
  const std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  auto measurement = arguments.peer_perftest ? perftest::measure_with_perftest(*kernel, options, spec)
                                             : measure(*kernel, options, spec);
  live.stop();
  if (!measurement && !partial) return fail(std::move(measurement.error()));
  if (!measurement) partial->ended_by = measurement.error().story();
  const Measurement& result = measurement ? *measurement : *partial;
  auto saved = file ? file->finish(to_json({result})) : Result<void>();
  TRY(print_result(result, arguments.output));
  TRY(end_of(measurement ? std::optional<Error>() : std::move(measurement.error()), std::move(saved)));
  return kExitOk;
}

void add_rdma_options(CommandLine& line, ClientArguments& a) {
  TestSpec& spec = a.spec;
  line.option("--traffic-class", &spec.traffic_class, "traffic class in the GRH, 0 to 255; on RoCE v2 DSCP × 4 + ECN");
  line.option("--service-level", &spec.service_level, "service level, 0 to 15: the virtual lane or the priority");
  line.option("--pkey-index", &spec.pkey_index, "index into the partition key table, on both ends");
  line.option("--flow-label", &spec.flow_label, "flow label in the GRH; on RoCE v2 it determines the UDP source port");
  line.option("--relaxed-ordering", &spec.relaxed_ordering,
              "relaxed ordering of writes to memory (auto: for bandwidth)")
      .one_of(kChoiceNames);
  line.option("--yield", &spec.yield, "yield the CPU between polls (auto: on soft devices)").one_of(kChoiceNames);
  line.option("--pin", &spec.pin, "pin the measuring thread to the device's NUMA node (auto: if known)")
      .one_of(kChoiceNames);
  line.option("--memory", &a.memory, "local memory: host, huge (2 MiB pages) or gpu:N (DMA-BUF)").show_default();
  line.option("--remote-memory", &a.remote_memory, "the server's memory; huge and gpu require --offer on the server")
      .show_default();
}

void add_client_options(CommandLine& line, ClientArguments& a) {
  line.option("ADDRESS", &a.client.host, "address of `railbed perf serve` on the rail");
  const Option& perftest = line.option("--peer-perftest", &a.peer_perftest,
                                       "the peer is perftest (ib_write_bw …); without ADDRESS, wait for its client");
  line.option("--port", &a.client.port, "control port (default: 18600, of perftest 18515)").positive();
  line.option("--device", &a.client.place.device,
              "RDMA device, e.g. mlx5_0 or mlx5_0:2 (default: the one toward ADDRESS)");
  line.option("--remote-device", &a.spec.remote_device, "the server's RDMA device (default: the one toward this side)");
  line.option("--gid-rule", &a.gid_rule, "auto, or comma-separated: v1, v2, ipv4, ipv6, address=A, netdev=N, index=I")
      .show_default();
  const Option& all = line.option("-a,--all", &a.all_sizes, "sizes 2, 4, 8 … up to --max-size");
  line.option("--max-size", &a.max_size_bytes, "largest size of -a").size_in_bytes();
  line.option("-s,--size", &a.size_bytes, "bytes per message, e.g. 64KiB (default: 64KiB for bw, else 2)")
      .size_in_bytes()
      .excludes(all);
  const Option& duration = line.option("-D,--duration", &a.duration, "seconds per size (default: 2, with -a 0.5)")
                               .within(bounds::kDuration_ms);
  line.option("-n,--iterations", &a.spec.iterations, "messages per size and queue pair, instead of a duration")
      .positive()
      .excludes(duration);
  line.option("--verb", &a.spec.verb, "RDMA operation to measure").one_of(verb_names()).show_default();
  line.option("--inline", &a.spec.inline_bytes,
              "send messages up to this size inline (default: for lat the device's limit)");
  add_rdma_options(line, a);
  line.option("--token-file", &a.token_file, "file with the server's token in the first line")
      .file()
      .excludes(perftest);
  line.option("--tcp", &a.tcp, "measure over plain TCP sockets").excludes(perftest);
  line.option("-o,--output", &a.output, "table, json or yaml").one_of({"table", "json", "yaml"});
  line.option("--save", &a.save, "also write the result as JSON to this file, after each size").file();
  line.option("--label", &a.client.label, "name of the rail or pair in reports, e.g. rail0");
}

void add_bandwidth_options(CommandLine& line, ClientArguments& a) {
  add_client_options(line, a);
  TestSpec& spec = a.spec;
  line.option("-q,--qps", &spec.qps, "queue pairs, or TCP streams").show_default();
  line.option("--tx-depth", &spec.tx_depth, "outstanding messages per queue pair").show_default();
  line.option("--post-list", &spec.post_list, "messages per post (default: by the size)").positive();
  line.option("--threads", &spec.threads,
              "sending threads, each with a group of queue pairs (default: one for four, on a NIC)")
      .positive();
  line.option("-b,--bidirectional", &spec.bidirectional, "both sides send at once");
}

void add_rate_options(CommandLine& line, ClientArguments& a) {
  a.figure = Figure::kRate;
  add_bandwidth_options(line, a);
}

void add_latency_options(CommandLine& line, ClientArguments& a) {
  a.figure = Figure::kLatency;
  add_client_options(line, a);
  line.option("--rate", &a.spec.rate_per_s,
              "pings per second on a fixed schedule, so that outages count (default: back to back)")
      .positive();
}

}  // namespace

PerfVerb perf_bw() {
  return perf_row("bw", "bandwidth, by RDMA write or another --verb", add_bandwidth_options, run_client);
}

PerfVerb perf_rate() {
  return perf_row("rate", "message rate: as bw, with messages of 2 bytes", add_rate_options, run_client);
}

PerfVerb perf_lat() {
  return perf_row("lat", "latency and jitter by ping-pong, of RDMA write or another --verb", add_latency_options,
                  run_client);
}

}  // namespace railbed
