// SPDX-License-Identifier: Apache-2.0
// railbed perf: measures a path between two ends, over RDMA and over TCP, and writes the report.
#include <cstdio>
#include <iostream>
#include <mutex>
#include <stop_token>

#include "base/command.h"
#include "command/given_files.h"
#include "command/output.h"
#include "command/stop_signal.h"
#include "command/write_report.h"
#include "doc/fields.h"
#include "doc/text.h"
#include "live_line.h"
#include "perf/bounds.h"
#include "perf/client.h"
#include "perf/mesh/fabric.h"
#include "perf/mesh/mesh_endpoint.h"
#include "perf/mesh/registrant.h"
#include "perf/perftest/perftest.h"
#include "perf/server.h"
#include "perf_collective.h"
#include "perf_jitter.h"
#include "perf_mesh.h"
#include "perf_ping.h"
#include "perf_watch.h"
#include "result_file.h"
#include "serving_program.h"
#include "verb.h"

namespace railbed {
namespace {

using namespace perf;

// No size was asked for; every other value is one, and 0 is refused.
constexpr uint64_t kUsualSize = UINT64_MAX;
constexpr int kMeshSessions = 2 * mesh::kMaxRails;

struct PerfArguments {
  std::string host;
  uint16_t port = 18600;
  uint16_t server_port = 0;  // of the server that a client measures with; 0: its usual one
  bool peer_perftest = false;
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
  std::string verb = "write";
  int64_t post_list = 0;
  int64_t threads = 0;
  int64_t traffic_class = 0;
  int64_t service_level = 0;
  int64_t pkey_index = 0;
  int64_t flow_label = 0;
  std::string relaxed_ordering = "auto";
  std::string yield = "auto";
  std::string pin = "auto";
  std::string memory = "host";
  std::string remote_memory = "host";
  std::vector<std::string> offered;
  std::string register_at;
  std::string rails;
  std::string name;
  std::vector<std::string> watched;
  double interval_s = 1;
  int64_t intervals = 0;
  std::string output = "table";
  std::string save;
  std::string label;
  ReportOptions report;
};

// What is measured; message rate is bandwidth of the smallest messages.
enum class Figure : uint8_t { kBandwidth, kRate, kLatency };

int64_t usual_size(Figure figure, RdmaVerb verb) {
  if (verb == RdmaVerb::kFetchAdd) return kAtomic_bytes;
  if (figure != Figure::kBandwidth) return 2;
  return verb == RdmaVerb::kSendUd ? 1024 : 65536;
}

Result<void> rdma_options(const PerfArguments& arguments, TestSpec& spec) {
  spec.post_list = arguments.post_list;
  spec.threads = arguments.threads;
  spec.traffic_class = arguments.traffic_class;
  spec.service_level = arguments.service_level;
  spec.pkey_index = arguments.pkey_index;
  spec.flow_label = arguments.flow_label;
  spec.verb = TRY(verb_from(arguments.verb));
  spec.relaxed_ordering = TRY(choice_from(arguments.relaxed_ordering));
  spec.yield = TRY(choice_from(arguments.yield));
  spec.pin = TRY(choice_from(arguments.pin));
  spec.memory = TRY(memory_from(arguments.memory).context("--memory"));
  spec.remote_memory = TRY(memory_from(arguments.remote_memory).context("--remote-memory"));
  return {};
}

Result<TestSpec> spec_of(const PerfArguments& arguments, Figure figure) {
  TestSpec spec;
  spec.kind = figure == Figure::kLatency ? TestKind::kLatency : TestKind::kBandwidth;
  spec.transport = arguments.tcp ? Transport::kTcp : Transport::kRdma;
  TRY(rdma_options(arguments, spec));
  const int64_t usual = usual_size(figure, spec.verb);
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
  if (!arguments.peer_perftest) return spec;
  const auto role = arguments.host.empty() ? perftest::Role::kServer : perftest::Role::kClient;
  return perftest::as_perftest(std::move(spec), role, arguments.duration_s > 0);
}

WatchRequest watch_request(const PerfArguments& arguments) {
  return {.ports = arguments.watched,
          .interval = std::chrono::milliseconds(static_cast<int64_t>(arguments.interval_s * 1000)),
          .count = arguments.intervals,
          .json = arguments.output == "json"};
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

uint16_t port_of(const PerfArguments& arguments) {
  if (arguments.server_port != 0) return arguments.server_port;
  return arguments.peer_perftest ? perftest::kPort : PerfArguments().port;
}

Result<int> run_client(const PerfArguments& arguments, Figure figure, const std::string& command) {
  if (arguments.host.empty() && !arguments.peer_perftest)
    return fail(Error{.code = Code::kInvalid,
                      .message = "ADDRESS is required",
                      .hint = "name the machine where `railbed perf serve` runs"});
  ClientOptions options{
      .host = arguments.host,
      .port = port_of(arguments),
      .from = {},
      .place = {.device = arguments.device, .gid_rule = TRY(rdma::GidRule::parse(arguments.gid_rule))},
      .limits = {},
      .label = arguments.label,
      .command = command,
      .token = TRY(read_token(arguments.token_file)),
      .on_progress = {},
      .on_told = {},
      .on_size = {},
      .live = nullptr,
      .stop = {}};
  const TestSpec spec = TRY(spec_of(arguments, figure));
  TRY(validate(spec));
  // On standard error, before anything can fail: nothing on the wire says what the other end runs.
  options.on_told = [](const std::string& line) { print_error("{}\n", doc::printable(line)); };
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

// "net1,,net3": the second one is no NIC.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  if (text.empty()) return words;
  for (;;) {
    const size_t comma = std::min(text.find(','), text.size());
    words.emplace_back(text.substr(0, comma));
    if (comma == text.size()) return words;
    text.remove_prefix(comma + 1);
  }
}

// Absent where nothing is to be registered.
Result<std::optional<mesh::RegistrantOptions>> registrant_of(const PerfArguments& arguments, os::Kernel& kernel,
                                                             const ServerOptions& server) {
  if (arguments.register_at.empty()) {
    if (!arguments.rails.empty() || !arguments.name.empty())
      return fail(Code::kInvalid, "--rail and --name require --register");
    return std::nullopt;
  }
  TRY(mesh::may_take_part(server.session.token));
  return mesh::RegistrantOptions{
      .coordinator = TRY(mesh::coordinator_from(arguments.register_at)),
      .message = TRY(mesh::register_for(kernel, arguments.name.empty() ? kernel.host_name() : arguments.name,
                                        server.port, words_of(arguments.rails))),
      .from = server.bind,
      .token = server.session.token,
      .limits = {.connect = std::chrono::milliseconds(2000)},  // Ctrl-C waits for it
      .on_event = server.on_event};
}

Result<int> run_server(const PerfArguments& arguments) {
  ServerOptions options;
  if (!arguments.bind.empty()) options.bind = TRY(IpAddress::parse(arguments.bind).context("--bind"));
  options.port = arguments.port;
  options.once = arguments.once;
  options.session.data_port = arguments.data_port;
  options.session.token = TRY(read_token(arguments.token_file));
  // In a mesh every rail of another endpoint is a client, and so is the coordinator.
  if (!options.session.token.empty()) options.session.limits.max_sessions = kMeshSessions;
  for (const std::string& kind : arguments.offered)
    options.session.offered_memory.push_back(kind == "gpu" ? MemoryKind::kGpu : MemoryKind::kHugePages);
  options.session.place.device = arguments.device;
  options.session.place.gid_rule = TRY(rdma::GidRule::parse(arguments.gid_rule));
  std::mutex mutex;
  options.on_event = [&mutex](const std::string& line) {
    const std::lock_guard lock(mutex);
    print("{}\n", doc::printable(line));
    flush_output();
  };
  const std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  options.budget = budget_of(kernel->files());
  auto registrant = TRY(registrant_of(arguments, *kernel, options));
  const StopSignal signal;  // must exist before any thread does
  const std::unique_ptr<Server> server = TRY(Server::open(*kernel, std::move(options)));
  const std::stop_callback on_stop(signal.token(), [&server] { server->stop(); });
  print("serving on {} port {}{}; Ctrl-C ends\n", arguments.bind.empty() ? "all addresses" : arguments.bind,
        server->port(), arguments.device.empty() ? "" : ", RDMA device " + arguments.device);
  flush_output();
  std::jthread registering;
  if (registrant) {
    registrant->message.port = server->port();
    registering = std::jthread([&](const std::stop_token& stop) { mesh::keep_registered(*registrant, stop); });
  }
  TRY(server->run());
  return kExitOk;
}

void add_rdma_options(CommandLine& line, PerfArguments& a) {
  line.option("--traffic-class", &a.traffic_class, "traffic class in the GRH, 0 to 255; on RoCE v2 DSCP × 4 + ECN");
  line.option("--service-level", &a.service_level, "service level, 0 to 15: the virtual lane or the priority");
  line.option("--pkey-index", &a.pkey_index, "index into the partition key table, on both ends");
  line.option("--flow-label", &a.flow_label, "flow label in the GRH; on RoCE v2 it determines the UDP source port");
  line.option("--relaxed-ordering", &a.relaxed_ordering, "relaxed ordering of writes to memory (auto: for bandwidth)")
      .one_of({"auto", "on", "off"});
  line.option("--yield", &a.yield, "yield the CPU between polls (auto: on soft devices)").one_of({"auto", "on", "off"});
  line.option("--pin", &a.pin, "pin the measuring thread to the device's NUMA node (auto: if known)")
      .one_of({"auto", "on", "off"});
  line.option("--memory", &a.memory, "local memory: host, huge (2 MiB pages) or gpu:N (DMA-BUF)").show_default();
  line.option("--remote-memory", &a.remote_memory, "the server's memory; huge and gpu require --offer on the server")
      .show_default();
}

void add_bandwidth_options(CommandLine& line, PerfArguments& a) {
  line.option("-q,--qps", &a.qps, "queue pairs, or TCP streams").show_default();
  line.option("--tx-depth", &a.tx_depth, "outstanding messages per queue pair").show_default();
  line.option("--post-list", &a.post_list, "messages per post (default: by the size)").positive();
  line.option("--threads", &a.threads,
              "sending threads, each with a group of queue pairs (default: one for four, on a NIC)")
      .positive();
  line.option("-b,--bidirectional", &a.bidirectional, "both sides send at once");
}

void add_client_options(CommandLine& line, PerfArguments& a) {
  line.option("ADDRESS", &a.host, "address of `railbed perf serve` on the rail");
  const Option& perftest = line.option("--peer-perftest", &a.peer_perftest,
                                       "the peer is perftest (ib_write_bw …); without ADDRESS, wait for its client");
  line.option("--port", &a.server_port, "control port (default: 18600, of perftest 18515)").positive();
  line.option("--device", &a.device, "RDMA device, e.g. mlx5_0 or mlx5_0:2 (default: the one toward ADDRESS)");
  line.option("--remote-device", &a.remote_device, "the server's RDMA device (default: the one toward this side)");
  line.option("--gid-rule", &a.gid_rule, "auto, or comma-separated: v1, v2, ipv4, ipv6, address=A, netdev=N, index=I")
      .show_default();
  const Option& all = line.option("-a,--all", &a.all_sizes, "sizes 2, 4, 8 … up to --max-size");
  line.option("--max-size", &a.max_size_bytes, "largest size of -a").size_in_bytes();
  line.option("-s,--size", &a.size_bytes, "bytes per message, e.g. 64KiB (default: 64KiB for bw, else 2)")
      .size_in_bytes()
      .excludes(all);
  const Option& duration =
      line.option("-D,--duration", &a.duration_s, "seconds per size (default: 2, with -a 0.5)").between(0.01, 86400.0);
  line.option("-n,--iterations", &a.iterations, "messages per size and queue pair, instead of a duration")
      .positive()
      .excludes(duration);
  line.option("--verb", &a.verb, "RDMA operation to measure").one_of(verb_names()).show_default();
  line.option("--inline", &a.inline_bytes,
              "send messages up to this size inline (default: for lat the device's limit)");
  add_rdma_options(line, a);
  line.option("--token-file", &a.token_file, "file with the server's token in the first line")
      .file()
      .excludes(perftest);
  line.option("--tcp", &a.tcp, "measure over plain TCP sockets").excludes(perftest);
  line.option("-o,--output", &a.output, "table, json or yaml").one_of({"table", "json", "yaml"});
  line.option("--save", &a.save, "also write the result as JSON to this file, after each size").file();
  line.option("--label", &a.label, "name of the rail or pair in reports, e.g. rail0");
}

std::string typed_line(std::span<char* const> arguments) {
  Command command{"railbed"};
  for (const char* argument : arguments) command.value(argument);
  return command.to_string();
}

}  // namespace

int perf_verb(CommandLine& line) {
  PerfArguments a;
  line.about("Measures bandwidth, latency and jitter of a path, over RDMA and over TCP.");
  CommandLine& serve = line.subcommand("serve", "the server: answers clients until stopped");
  serve.option("--port", &a.port, "control port").show_default();
  serve.option("--bind", &a.bind, "listen on this address only");
  serve.option("--device", &a.device, "RDMA device (default: the one of the address a client connects to)");
  serve.option("--gid-rule", &a.gid_rule, "as for the clients").show_default();
  serve.option("--data-port", &a.data_port, "port for the streams of --tcp (default: any free one)");
  serve.option("--token-file", &a.token_file, "serve only clients with the token in the first line of this file")
      .file();
  serve.option("--once", &a.once, "exit after one client");
  serve.option("--register", &a.register_at, "HOST[:PORT] of `perf mesh --listen` where this server registers");
  serve.option("--rail", &a.rails, "--register: interface or address of each rail, comma-separated");
  serve.option("--name", &a.name, "--register: this host's name in the mesh (default: the machine's)");
  serve.option("--offer", &a.offered, "memory that clients may use in addition to ordinary pages: huge, gpu")
      .one_of({"huge", "gpu"})
      .with_commas();
  CommandLine& bw = line.subcommand("bw", "bandwidth, by RDMA write or another --verb");
  add_client_options(bw, a);
  add_bandwidth_options(bw, a);
  CommandLine& rate = line.subcommand("rate", "message rate: as bw, with messages of 2 bytes");
  add_client_options(rate, a);
  add_bandwidth_options(rate, a);
  CommandLine& lat = line.subcommand("lat", "latency and jitter by ping-pong, of RDMA write or another --verb");
  add_client_options(lat, a);
  lat.option("--rate", &a.rate_per_s,
             "pings per second on a fixed schedule, so that outages count (default: back to back)")
      .positive();
  CommandLine& watch = line.subcommand("watch", "show the counters of RDMA ports, also while a job runs");
  watch.option("DEVICE", &a.watched, "RDMA devices or ports, e.g. mlx5_0 or mlx5_0:2 (default: all)");
  watch.option("--interval", &a.interval_s, "seconds between two readings").between(0.05, 3600.0).show_default();
  watch.option("-n,--count", &a.intervals, "number of intervals (default: until Ctrl-C)").positive();
  watch.option("-o,--output", &a.output, "table, or json: one line per port and interval").one_of({"table", "json"});
  const PerfPing ping(line);
  const PerfJitter jitter(line);
  const PerfMesh mesh(line);
  const PerfCollective collective(line);
  const CommandLine& html = a.report.declare(line);
  if (auto status = line.parse()) return *status;
  if (mesh.chosen()) return mesh.run();
  if (collective.chosen()) return collective.run(typed_line(line.arguments()));
  const auto result = [&]() -> Result<int> {
    if (serve.chosen()) return run_server(a);
    if (jitter.chosen()) return jitter.run(typed_line(line.arguments()));
    if (ping.chosen()) return ping.run(typed_line(line.arguments()));
    if (html.chosen() && a.report.with_cluster()) return fail(become(a.report.program(), line.arguments()));
    if (html.chosen()) return write_report(TRY(read_report(a.report)), a.report);
    if (watch.chosen()) return watch_ports(watch_request(a));
    const Figure figure = bw.chosen() ? Figure::kBandwidth : rate.chosen() ? Figure::kRate : Figure::kLatency;
    return run_client(a, figure, typed_line(line.arguments()));
  }();
  return status_of(result);
}

}  // namespace railbed
