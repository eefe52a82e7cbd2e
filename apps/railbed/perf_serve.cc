// SPDX-License-Identifier: Apache-2.0
// railbed perf serve: the server of all measurements, until it is stopped.
#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "command/exit_status.h"
#include "command/given_files.h"
#include "command/output.h"
#include "command/stop_signal.h"
#include "doc/text.h"
#include "perf/collective/collective_endpoint.h"
#include "perf/mesh/fabric.h"
#include "perf/mesh/mesh_endpoint.h"
#include "perf/mesh/mesh_protocol.h"
#include "perf/mesh/registrant.h"
#include "perf/ping/ping_session.h"
#include "perf/session/point_to_point.h"
#include "perf/session/server.h"
#include "perf_verb.h"

namespace railbed {
namespace {

using namespace perf;

constexpr int kMeshSessions = 2 * mesh::kMaxRails;

struct ServeArguments {
  ServerOptions server;
  std::string bind;
  std::string gid_rule = "auto";
  std::string token_file;
  std::vector<std::string> offered;
  std::string register_at;
  std::string rails;
  std::string name;
};

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

// All that clients can open.
std::vector<Protocol> protocols_of(mesh::Membership& membership) {
  return {point_to_point_protocol(), ping_protocol(), mesh::mesh_protocol(membership),
          mesh::membership_protocol(membership), collective::collective_protocol(membership)};
}

// Absent where nothing is to be registered.
Result<std::optional<mesh::RegistrantOptions>> registrant_of(const ServeArguments& arguments, os::Kernel& kernel,
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

Result<int> run_server(const ServeArguments& arguments, const PerfCall& /*call*/) {
  ServerOptions options = arguments.server;
  mesh::Membership membership;
  options.protocols = protocols_of(membership);
  if (!arguments.bind.empty()) options.bind = TRY(IpAddress::parse(arguments.bind).context("--bind"));
  options.session.token = TRY(read_token(arguments.token_file));
  // In a mesh every rail of another endpoint is a client, and so is the coordinator.
  if (!options.session.token.empty()) options.session.limits.max_sessions = kMeshSessions;
  for (const std::string& kind : arguments.offered)
    options.session.offered_memory.push_back(kind == "gpu" ? MemoryKind::kGpu : MemoryKind::kHugePages);
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
  const std::string& device = arguments.server.session.place.device;
  print("serving on {} port {}{}; Ctrl-C ends\n", arguments.bind.empty() ? "all addresses" : arguments.bind,
        server->port(), device.empty() ? "" : ", RDMA device " + device);
  flush_output();
  std::jthread registering;
  if (registrant) {
    registrant->message.port = server->port();
    registering = std::jthread([&](const std::stop_token& stop) { mesh::keep_registered(*registrant, stop); });
  }
  TRY(server->run());
  return kExitOk;
}

void add_serve_options(CommandLine& line, ServeArguments& a) {
  line.option("--port", &a.server.port, "control port").show_default();
  line.option("--bind", &a.bind, "listen on this address only");
  line.option("--device", &a.server.session.place.device,
              "RDMA device (default: the one of the address a client connects to)");
  line.option("--gid-rule", &a.gid_rule, "as for the clients").show_default();
  line.option("--data-port", &a.server.session.data_port, "port for the streams of --tcp (default: any free one)");
  line.option("--token-file", &a.token_file, "serve only clients with the token in the first line of this file").file();
  line.option("--once", &a.server.once, "exit after one client");
  line.option("--register", &a.register_at, "HOST[:PORT] of `perf mesh --listen` where this server registers");
  line.option("--rail", &a.rails, "--register: interface or address of each rail, comma-separated");
  line.option("--name", &a.name, "--register: this host's name in the mesh (default: the machine's)");
  line.option("--offer", &a.offered, "memory that clients may use in addition to ordinary pages: huge, gpu")
      .one_of({"huge", "gpu"})
      .with_commas();
}

}  // namespace

PerfVerb perf_serve() {
  return perf_row("serve", "the server: answers clients until stopped", add_serve_options, run_server);
}

}  // namespace railbed
