// SPDX-License-Identifier: Apache-2.0
// railbed perf mesh: all pairs of many endpoints, and the NIC, host, leaf or rail that is an outlier.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include "append_file.h"
#include "base/number.h"
#include "command/exit_status.h"
#include "command/given_files.h"
#include "command/output.h"
#include "command/stop_signal.h"
#include "perf/bounds.h"
#include "perf/mesh/mesh_file.h"
#include "perf/mesh/mesh_report.h"
#include "perf/mesh/mesh_setup.h"
#include "perf/mesh/registry.h"
#include "perf_verb.h"
#include "progress.h"

namespace railbed {
namespace {

using namespace perf;

struct MeshArguments {
  std::vector<std::string> words;
  std::string endpoints;
  uint16_t listen = 0;
  int64_t wait = 0;
  double wait_time_s = 300;
  uint16_t port = mesh::HostAddress{}.port;
  std::string token_file;
  mesh::MeshOptions values{.schedule = {.pattern = mesh::Pattern::kQuick}, .bandwidth = {.qps = 4}};
  int64_t partners = mesh::kDefaultPartners;
  int64_t seed = 1;
  std::vector<std::string> shifts;
  std::chrono::milliseconds duration{1000};
  int64_t size_bytes = 64 << 10;
  bool tcp = false;
  bool no_loop_back = false;
  bool rails_differ = false;
  std::string save;
  std::string from;
  std::string compare;
  std::string expect;
  std::string output = "text";

  Result<int> run() const;

 private:
  Result<mesh::MeshSetup> setup() const;
  Result<mesh::ScheduleSpec> schedule() const;
  Result<mesh::MeshOptions> options() const;
  mesh::Limits limits() const {
    return {.rail_kinds = rails_differ ? mesh::RailKinds::kDifferent : mesh::RailKinds::kAlike};
  }
  Result<mesh::MeshRun> measured(uint32_t& missing) const;
  Result<mesh::MeshRun> saved() const;
  int print(const mesh::MeshRun& run, const mesh::HeldAgainst& against) const;
};

Result<std::vector<uint32_t>> shifts_of(const std::vector<std::string>& words) {
  std::vector<uint32_t> shifts;
  for (const std::string& word : words) {
    const std::optional<uint32_t> shift = whole_number<uint32_t>(word);
    if (!shift) return fail(Code::kInvalid, "--shifts: \"{}\" is not a number of hosts", word);
    shifts.push_back(*shift);
  }
  return shifts;
}

constexpr size_t kUsualMost = 4096;  // endpoints that may register where no number is said

// Each endpoint is a connection, and many systems allow 1,024 of them unless a process asks for more.
void allow_connections(size_t count) {
  constexpr rlim_t kOthers = 128;  // files that are open, libraries
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= count + kOthers) return;
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, count + kOthers);
  (void)setrlimit(RLIMIT_NOFILE, &files);  // who gets no connection is reported as lost, with the reason
}

// With what is whole in a damaged file; what is wrong with it goes to `damage`.
Result<mesh::MeshResults> read_results(const std::string& path, std::optional<Error>& damage) {
  const std::string bytes = TRY(read_file(path));
  mesh::MeshFile file = TRY(mesh::read_mesh_file(bytes).context("{}", path));
  damage = std::move(file.damage);
  return std::move(file.results);
}

Result<mesh::MeshSetup> MeshArguments::setup() const {
  if (listen != 0 && (!endpoints.empty() || !words.empty()))
    return fail(Code::kInvalid, "--listen waits for endpoints that register; do not name others");
  if (listen == 0 && wait != 0) return fail(Code::kInvalid, "--wait requires --listen");
  if (listen != 0) return mesh::MeshSetup{};
  if (endpoints.empty() == words.empty())
    return fail(
        Error{.code = Code::kInvalid,
              .message = "name endpoints or a file with --endpoints, not both",
              .hint = "e.g. railbed perf mesh node-1=10.0.0.1,10.1.0.1 node-2=10.0.0.2,10.1.0.2 --token-file t"});
  if (!words.empty()) return mesh::setup_of_words(words, port);
  const std::string text = TRY(read_file(endpoints));
  return mesh::setup_of_file(endpoints, text);
}

Result<mesh::ScheduleSpec> MeshArguments::schedule() const {
  mesh::ScheduleSpec spec = values.schedule;
  if (!shifts.empty() && spec.pattern != mesh::Pattern::kShift)
    return fail(Code::kInvalid, "--shifts requires --pattern shift");
  spec.partners = static_cast<uint32_t>(std::clamp<int64_t>(partners, 1, mesh::kMaxHosts));
  spec.seed = static_cast<uint64_t>(seed);
  spec.shifts = TRY(shifts_of(shifts));
  return spec;
}

Result<mesh::MeshOptions> MeshArguments::options() const {
  mesh::MeshOptions options = values;
  options.schedule = TRY(schedule());
  const auto transport = tcp ? Transport::kTcp : Transport::kRdma;
  options.latency = {
      .kind = TestKind::kLatency, .transport = transport, .sizes_bytes = {2}, .duration_ms = duration.count()};
  options.bandwidth.transport = transport;
  options.bandwidth.sizes_bytes = {size_bytes};
  options.bandwidth.duration_ms = duration.count();
  TRY(validate(options.latency));
  TRY(validate(options.bandwidth));
  options.analysis = limits();
  options.fleet.transport = transport;
  options.fleet.token = TRY(read_token(token_file));
  if (options.fleet.token.empty())
    return fail(Error{
        .code = Code::kInvalid,
        .message = "a mesh requires --token-file: endpoints send traffic only for clients with the token",
        .hint = "e.g. `(umask 077; openssl rand -hex 16 > token)`, and `railbed perf serve --token-file token` on each "
                "endpoint"});
  options.loop_back = no_loop_back ? mesh::LoopBack::kNotTried : mesh::LoopBack::kTried;
  return options;
}

Result<mesh::MeshRun> MeshArguments::measured(uint32_t& missing) const {
  const mesh::MeshSetup named = TRY(setup());
  mesh::MeshOptions wanted = TRY(options());
  std::optional<AppendFile> file;
  if (!save.empty()) file.emplace(TRY(AppendFile::open(save)));
  wanted.keep = [&](std::string_view bytes) { return file ? file->append(bytes) : Result<void>(); };
  // One that registers has two: where it registered, and where it is asked.
  allow_connections(listen == 0 ? named.hosts.size() : 2 * (wait > 0 ? static_cast<size_t>(wait) : kUsualMost));
  const StopSignal signal;  // must exist before any thread does
  wanted.fleet.stop = signal.token();
  Progress progress;
  if (isatty(STDERR_FILENO) == 1)
    wanted.fleet.on_progress = [&progress](const std::string& line) { progress.now(line); };
  std::unique_ptr<mesh::Registry> registry;
  if (listen != 0) {
    registry = TRY(mesh::Registry::open({.bind = {},
                                         .port = listen,
                                         .token = wanted.fleet.token,
                                         .limits = {},
                                         .wanted = static_cast<uint32_t>(wait),
                                         .wait = std::chrono::milliseconds(static_cast<int64_t>(wait_time_s * 1000)),
                                         .stop = signal.token(),
                                         .on_event = [&progress](const std::string& line) { progress.keep(line); },
                                         .on_progress = wanted.fleet.on_progress}));
    progress.keep(fmt::format("endpoints can register at port {}", registry->port()));
  }
  mesh::Gathered all = registry ? TRY(registry->gather()) : mesh::Gathered{.setup = named, .missing = 0};
  missing = all.missing;
  if (missing > 0)
    progress.keep(fmt::format("{} of {} endpoints registered within {} s; starting with these", all.setup.hosts.size(),
                              all.setup.hosts.size() + missing, wait_time_s));
  return mesh::run_mesh(std::move(all.setup), std::move(wanted));
}

Result<mesh::MeshRun> MeshArguments::saved() const {
  if (!words.empty() || !endpoints.empty() || !save.empty() || listen != 0)
    return fail(Code::kInvalid, "--from shows a saved mesh; endpoints and --save are not supported with it");
  std::optional<Error> damage;
  mesh::MeshResults results = TRY(read_results(from, damage));
  mesh::MeshRun run = mesh::analysed(std::move(results), limits());
  if (damage) run.ended_by = damage->story();
  return run;
}

int MeshArguments::print(const mesh::MeshRun& run, const mesh::HeldAgainst& against) const {
  if (output == "text")
    for (const std::string& line : mesh::report_lines(run, against, limits())) railbed::print("{}\n", line);
  else
    print_value(mesh::to_value(run, against), output);
  if (run.ended_by.empty()) return mesh::is_clean(run, against) ? kExitOk : kExitFound;
  print_error("railbed: the mesh is incomplete: {}\n", run.ended_by);
  return kExitError;
}

Result<int> MeshArguments::run() const {
  // All that may be wrong in what was typed comes before anything is measured.
  mesh::HeldAgainst against;
  if (!expect.empty()) against.bands = TRY(mesh::parse_bands(expect));
  std::optional<mesh::MeshRun> before;
  if (!compare.empty()) {
    std::optional<Error> damage;
    before = mesh::analysed(TRY(read_results(compare, damage)), limits());
    if (damage) print_error("railbed: {}: {}; comparing with the part that could be read\n", compare, damage->story());
  }
  uint32_t missing = 0;
  const mesh::MeshRun run = TRY(from.empty() ? measured(missing) : saved());
  if (against.bands) against.out_of_bands = mesh::out_of_bands(run.analysis, *against.bands);
  if (before)
    against.comparison =
        mesh::compare({run.results.fabric(), run.analysis}, {before->results.fabric(), before->analysis}, limits());
  const int status = print(run, against);
  return status == kExitOk && missing > 0 ? kExitFound : status;
}

Result<int> run_mesh_verb(const MeshArguments& arguments, const PerfCall& /*call*/) {
  return arguments.run();
}

void add_mesh_options(CommandLine& line, MeshArguments& a) {
  line.option("ENDPOINTS", &a.words, "NAME=ADDRESS,…: a host with its address on each rail");
  line.option("--endpoints", &a.endpoints, "file with hosts, rails and leaves").file();
  line.option("--listen", &a.listen, "wait on this port for endpoints that register (`perf serve --register`)")
      .between(1, 65535);
  line.option("--wait", &a.wait, "--listen: start with this many endpoints (default: all that register in time)")
      .between(2, mesh::kMaxHosts);
  line.option("--wait-time", &a.wait_time_s, "--listen: seconds until the mesh starts with the registered endpoints")
      .between(0.1, 86400.0)
      .show_default();
  line.option("--port", &a.port, "control port of the endpoints").show_default();
  line.option("--token-file", &a.token_file, "file with the endpoints' token in the first line").file();
  line.option("--pattern", &a.values.schedule.pattern,
              "quick: some partners for each host; full: all pairs; shift: loads the spines")
      .one_of({"quick", "full", "shift"})
      .show_default();
  line.option("--rails", &a.values.schedule.rails, "same: rail r with rail r; cross: the others; all: both")
      .one_of({"same", "cross", "all"})
      .show_default();
  line.option("--partners", &a.partners, "quick: partners of each host").positive().show_default();
  line.option("--seed", &a.seed, "quick: seed for the choice of partners").positive().show_default();
  line.option("--shifts", &a.shifts, "shift: by how many hosts (default: 1, 2, 4, …)").with_commas().one_value_each();
  line.option("-D,--duration", &a.duration, "seconds for each of two or three tests of a round")
      .within(bounds::kMeshTest_ms)
      .show_default();
  line.option("-s,--size", &a.size_bytes, "bytes per message of the bandwidth").size_in_bytes();
  line.option("-q,--qps", &a.values.bandwidth.qps, "queue pairs, or TCP streams, of the bandwidth")
      .within(bounds::kFewQps)
      .show_default();
  line.option("--tcp", &a.tcp, "measure over plain TCP sockets");
  line.option("--no-loop-back", &a.no_loop_back, "skip the loopback test of each NIC");
  line.option("--rails-differ", &a.rails_differ, "the rails differ: do not compare them with each other");
  line.option("--save", &a.save, "write results to this file, round by round").file();
  line.option("--from", &a.from, "show a file written by --save instead of measuring").file();
  line.option("--compare", &a.compare, "report NICs that are worse than in this file of --save").file();
  line.option("--expect", &a.expect,
              "report NICs outside these limits, e.g. bw>=360,p50<=3.5,p99<=20 (Gb/s; us, round trip)");
  line.option("-o,--output", &a.output, "text, json or yaml").one_of({"text", "json", "yaml"});
}

}  // namespace

PerfVerb perf_mesh() {
  return perf_row("mesh", "all pairs of many endpoints, and outliers among NICs, hosts, leaves and rails",
                  add_mesh_options, run_mesh_verb, "mesh: outliers, lost results or unexpected values found");
}

}  // namespace railbed
