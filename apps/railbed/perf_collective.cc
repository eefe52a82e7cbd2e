// SPDX-License-Identifier: Apache-2.0
// railbed perf collective: all-reduces over many ranks, checked, with who was slow.
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include "command/exit_status.h"
#include "command/given_files.h"
#include "command/output.h"
#include "command/stop_signal.h"
#include "doc/json.h"
#include "perf/bounds.h"
#include "perf/collective/collective_report.h"
#include "perf/mesh/mesh_setup.h"
#include "perf_verb.h"
#include "progress.h"
#include "result_file.h"

namespace railbed {
namespace {

using namespace perf;

std::string json_of(const collective::CollectiveRun& run) {
  return doc::to_json(collective::to_value(run), 2) + "\n";
}

struct CollectiveArguments {
  std::vector<std::string> words;
  std::string endpoints;
  uint16_t port = mesh::HostAddress{}.port;
  std::string token_file;
  std::string algorithm = "both";
  uint64_t begin_bytes = 8;
  uint64_t end_bytes = 64 << 20;
  int64_t factor = 2;
  int64_t iterations = 20;
  int64_t warm_up = 5;
  bool tcp = false;
  bool steps = false;
  std::string output = "text";
  std::string save;
  collective::CollectiveOptions values;

  Result<int> run(const std::string& command) const;

 private:
  Result<mesh::MeshSetup> setup() const;
  Result<collective::CollectiveOptions> options() const;
};

Result<mesh::MeshSetup> CollectiveArguments::setup() const {
  if (endpoints.empty() == words.empty())
    return fail(
        Error{.code = Code::kInvalid,
              .message = "name the ranks or a file with --endpoints, not both",
              .hint = "e.g. railbed perf collective node-1=10.0.0.1,10.1.0.1 node-2=10.0.0.2,10.1.0.2 --token-file t"});
  if (!words.empty()) return mesh::setup_of_words(words, port);
  const std::string text = TRY(read_file(endpoints));
  return mesh::setup_of_file(endpoints, text);
}

Result<collective::CollectiveOptions> CollectiveArguments::options() const {
  collective::CollectiveOptions options = values;
  if (algorithm == "ring") options.algorithms = {collective::Algorithm::kRing};
  if (algorithm == "tree") options.algorithms = {collective::Algorithm::kTree};
  options.sizes_bytes = TRY(collective::sizes_between(begin_bytes, end_bytes, factor));
  options.iterations = static_cast<uint32_t>(iterations);
  options.warm_up = static_cast<uint32_t>(warm_up);
  options.fleet.transport = tcp ? Transport::kTcp : Transport::kRdma;
  options.fleet.token = TRY(read_token(token_file));
  if (options.fleet.token.empty())
    return fail(Error{
        .code = Code::kInvalid,
        .message = "a collective requires --token-file: ranks send traffic only for clients with the token",
        .hint = "e.g. `(umask 077; openssl rand -hex 16 > token)`, and `railbed perf serve --token-file token` on each "
                "rank"});
  return options;
}

Result<int> CollectiveArguments::run(const std::string& command) const {
  const mesh::MeshSetup ranks = TRY(setup());
  collective::CollectiveOptions wanted = TRY(options());
  wanted.command = command;
  std::optional<ResultFile> file;
  if (!save.empty()) file.emplace(TRY(ResultFile::open(save)));
  const StopSignal signal;  // must exist before any thread does
  wanted.fleet.stop = signal.token();
  Progress progress;
  if (isatty(STDERR_FILENO) == 1)
    wanted.fleet.on_progress = [&progress](const std::string& line) { progress.now(line); };
  const size_t all = wanted.algorithms.size() * wanted.sizes_bytes.size();
  wanted.on_size = [&file, all](const collective::CollectiveRun& so_far) -> Result<void> {
    if (!file || so_far.results.size() == all) return {};
    collective::CollectiveRun partial = so_far;
    partial.ended_by = ResultFile::kUnderWay;
    return file->keep(json_of(partial));
  };
  const auto run = TRY(collective::run_collective(ranks, std::move(wanted)));
  progress.wipe();
  auto saved = file ? file->finish(json_of(run)) : Result<void>();
  if (output == "text")
    for (const std::string& line :
         collective::report_lines(run, steps ? collective::Steps::kShown : collective::Steps::kLeftOut))
      railbed::print("{}\n", line);
  else
    print_value(collective::to_value(run), output);
  if (!run.ended_by.empty()) print_error("railbed: the collective is incomplete: {}\n", run.ended_by);
  TRY(std::move(saved));
  if (!run.ended_by.empty()) return kExitError;
  return run.is_right() ? kExitOk : kExitFound;
}

Result<int> run_collective_verb(const CollectiveArguments& arguments, const PerfCall& call) {
  return arguments.run(call.command);
}

void add_collective_options(CommandLine& line, CollectiveArguments& a) {
  line.option("RANKS", &a.words, "NAME=ADDRESS,…: a rank with its address on each rail");
  line.option("--endpoints", &a.endpoints, "file with hosts and rails, as for perf mesh").file();
  line.option("--port", &a.port, "control port of the ranks").show_default();
  line.option("--token-file", &a.token_file, "file with the ranks' token in the first line").file();
  line.option("--algorithm", &a.algorithm, "ring, tree, or both in sequence")
      .one_of({"ring", "tree", "both"})
      .show_default();
  line.option("-b,--begin", &a.begin_bytes, "the smallest size, in bytes per rank and rail").size_in_bytes();
  line.option("-e,--end", &a.end_bytes, "the largest size (default: 64MiB)").size_in_bytes();
  line.option("-f,--factor", &a.factor, "factor from one size to the next").within(bounds::kFactor).show_default();
  line.option("-n,--iterations", &a.iterations, "measured all-reduces of each size")
      .between(1, collective::kMaxIterations)
      .show_default();
  line.option("-w,--warm-up", &a.warm_up, "warm-up all-reduces of each size")
      .between(1, collective::kMaxIterations)
      .show_default();
  line.option("--tcp", &a.tcp, "measure over plain TCP sockets");
  line.option("--steps", &a.steps, "show each step of the largest size: which rank waited for which");
  line.option("-o,--output", &a.output, "text, json or yaml").one_of({"text", "json", "yaml"});
  line.option("--save", &a.save, "also write the result as JSON to this file").file();
  line.option("--label", &a.values.label, "name in reports, e.g. before");
}

}  // namespace

PerfVerb perf_collective() {
  return perf_row("collective", "all-reduces over many ranks: bandwidth, verified sums, stragglers",
                  add_collective_options, run_collective_verb, "collective: a sum was wrong");
}

}  // namespace railbed
