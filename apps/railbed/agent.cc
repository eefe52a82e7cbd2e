// SPDX-License-Identifier: Apache-2.0
// railbed agent: serves CNI requests until it is stopped.
//
//   railbed-cni ─► Server ─► its crews ─► metered ─► (ADD: journaled DELs first) ─► Service ─► kernel, state
//                                                                    ▲
//   pending-del/*.del ─► repeater: at the start, then every 5 s ─────┘        Prometheus ─► metrics' endpoint
//
// Threads: the reader (main), those of requests, the repeater, dhcp's, the endpoint's. SIGTERM ends executed programs
// and waits for turns at once; then server (drained), repeater, dhcp. Whatever is still not done two seconds later is
// cut off: all that it began is recorded, and the next agent ends or undoes it.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include <malloc.h>
#include <pthread.h>

#include "agent/addresses/dhcp.h"
#include "agent/addresses/host_local.h"
#include "agent/door/metrics.h"
#include "agent/door/server.h"
#include "agent/door/service.h"
#include "agent/door/standing.h"
#include "agent/engine.h"
#include "agent/leftovers/adopt.h"
#include "agent/leftovers/replay.h"
#include "agent/pod/kubelet_checkpoint.h"
#include "agent/pod/manifest_source.h"
#include "agent/pod/meta.h"
#include "agent_client.h"
#include "attach/attach.h"
#include "base/log.h"
#include "ipam/stored_blocks.h"
#include "os/ports/disk.h"
#include "os/ports/packets.h"
#include "run_options.h"
#include "state_options.h"
#include "stop_signal.h"
#include "verb.h"

namespace railbed {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kRepeat{5};
constexpr seconds kTurnAtStart{30};
constexpr seconds kRecovery{5};  // requests wait meanwhile; a device that is held longer is left to its DEL
constexpr size_t kThreadStack = 512 << 10;

struct Options {
  std::string socket = kAgentSocket;
  std::string metrics = "127.0.0.1:9470";
  std::string pending = "/var/lib/railbed/pending-del";
  std::string manifests = "/etc/railbed/manifests";
  std::string adopt;  // a directory of IPPool objects; empty: none
  StateOptions state;
  bool alone = false;  // no other node gives addresses of whereabouts' ranges
  node::Settings settings;
  agent::ServerOptions server;
};

// The threads of this long-lived process mostly wait: two heaps and small stacks are enough.
void limit_memory() {
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_TRIM_THRESHOLD, 256 << 10);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kThreadStack);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

// Everything that handles requests; members are constructed in this order.
struct Parts {
  os::Kernel& kernel;
  state::Store& store;
  std::unique_ptr<os::Disk> disk = os::real_disk();
  std::unique_ptr<os::PacketPort> packets = os::real_packets();
  ipam::StoredBlocks blocks{store, ipam::WithoutBlocks::kWholeRange};
  agent::Engine engine;
  agent::HostLocal host_local{*disk};
  agent::Dhcp dhcp{engine, *packets};
  agent::ManifestSource manifests;
  agent::KubeletDevices kubelet{kernel.files()};
  agent::Meta meta{*disk, manifests, {&kubelet, &manifests}};
  agent::Metrics metrics;
  agent::Service service{{engine, meta, dhcp, host_local, metrics}};

  Parts(os::Kernel& machine, state::Store& state, const Options& options)
      : kernel(machine),
        store(state),
        engine(machine, state, blocks, options.alone ? agent::OtherNodes::kNone : agent::OtherNodes::kAsFound),
        manifests(machine, state, options.manifests, options.settings) {}
};

// Takes over addresses that whereabouts gave before this machine was switched over.
Result<void> adopt_pools(Parts& parts, agent::Engine::Turn& turn, const std::string& directory) {
  auto pools = agent::pools_in_directory(parts.kernel.files(), directory);
  const agent::Adopted adopted = TRY(parts.meta.adopt_from(turn, std::move(pools)).context("--adopt {}", directory));
  log::info(fmt::format("{} allocations of whereabouts picked up from {}, {} that ended are free again", adopted.taken,
                        directory, adopted.freed));
  for (const std::string& conflict : adopted.conflicts) log::warn("not picked up: " + conflict);
  return {};
}

// Finishes or undoes what a killed agent left, before the first request. Interfaces come first, then their addresses;
// allocations of whereabouts come last, so that in a conflict railbed's own address wins.
Result<void> recover(Parts& parts, const Options& options) {
  {
    agent::Engine::Turn turn = TRY(parts.engine.turn(kTurnAtStart).context("waiting for the state"));
    const auto report = TRY(attach::recover(turn.kernel(), turn.store(), parts.kernel.clock().now() + kRecovery)
                                .context("finishing what an earlier agent began"));
    for (const std::string& line : report.undone) log::info("undone, an earlier agent began it: " + line);
    for (const std::string& line : report.finished) log::info("finished: " + line);
    for (const std::string& line : report.notes) log::info(line);
    for (const auto& failure : report.failures)
      log::warn(fmt::format("{} {}: {}", failure.pod, failure.interface, failure.error.to_string()));
    TRY(turn.read_addresses());
    TRY(parts.host_local.recover(turn).context("reading host-local's files"));
    if (!options.adopt.empty()) TRY(adopt_pools(parts, turn, options.adopt));
  }
  return parts.dhcp.start();
}

// Repeats journaled DELs every few seconds, in its own thread.
class Repeater {
 public:
  Repeater(agent::Replay& replay, Parts& parts)
      : replay_(replay), parts_(parts), thread_([this](std::stop_token stop) { run(stop); }) {}

 private:
  void run(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    // Plugins run by this recovery may ask this agent for addresses, so it must already answer requests.
    if (auto lines = parts_.meta.recover(parts_.engine))
      for (const std::string& line : *lines) log::info(line);
    else
      log::warn(lines.error().to_string());
    do {
      const auto tally = replay_.all(stop);
      if (tally.done > 0) log::info(fmt::format("{} DELs of the time without an agent are done", tally.done));
    } while (!stopped.wait_for(lock, stop, kRepeat, [&] { return stop.stop_requested(); }));
  }
  agent::Replay& replay_;
  Parts& parts_;
  std::jthread thread_;  // last member, because the thread uses the others
};

agent::Reply handle(Parts& parts, agent::Replay& replay, const cni::Request& request) {
  return parts.metrics.metered(request, [&](const cni::Request& one) -> agent::Reply {
    if (one.command == cni::Command::kAdd && !replay.settle(one.container_id))
      return {1, cni::to_json(cni::Failure{cni::kTryAgainLater, "an earlier DEL of this container is not done yet",
                                           "the agent's log tells why; it is repeated every few seconds"},
                              "")};
    return parts.service.handle(one);
  });
}

Result<int> run(Options& options) {
  limit_memory();
  StopSignal stop;
  const std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  if (const auto missing = missing_capabilities(*kernel); !missing.empty())
    return fail(Error{.code = Code::kDenied,
                      .message = fmt::format("the agent needs {}", fmt::join(missing, ", ")),
                      .hint = "run it as root, in the host's namespaces"});
  os::UnixListener listener = TRY(os::UnixListener::open(options.socket));
  const std::unique_ptr<state::Store> store = TRY(options.state.share(*kernel, "railbed agent"));
  Parts parts(*kernel, *store, options);
  TRY(recover(parts, options));

  agent::Replay replay(
      *parts.disk, options.pending,
      [&](const cni::Request& request) {
        return parts.metrics.metered(request, [&](const cni::Request& one) { return parts.service.handle(one); });
      },
      [](const std::string& line) { log::warn(line); });
  parts.metrics.standing([&] {
    agent::Standing now = agent::standing(parts.engine);
    now.pending_dels = replay.pending();
    return now;
  });
  // A wrong address is the caller's mistake. A port in use is only a warning: any user of this machine could take it,
  // and the node's pods are more important.
  if (options.metrics != "off")
    if (auto served = parts.metrics.expose(options.metrics); !served.has_value()) {
      if (served.error().code == Code::kInvalid) return fail(std::move(served).error());
      log::warn(served.error().story() + "; the agent works without its metrics endpoint");
    }
  {
    agent::Server server(
        std::move(listener), [&](const cni::Request& request) { return handle(parts, replay, request); },
        options.server);
    const Repeater repeater(replay, parts);
    const std::stop_callback hurry(stop.token(), [&] {
      kernel->processes().end_all();
      parts.engine.stop();
    });
    log::info(fmt::format("railbed {} answers on {}", RAILBED_VERSION, options.socket));
    if (TRY(server.run(stop.token())) == agent::Server::End::kCutOff) {
      log::warn(
          "stopped; requests that were being worked on are cut off, the next agent ends or undoes what they began");
      std::fflush(nullptr);
      std::quick_exit(kExitOk);
    }
  }
  parts.dhcp.stop();
  log::info("stopped");
  // Everything is written, and railbed-cni waits for the next agent. The library of the metrics endpoint would need up
  // to 2 s to end its threads.
  std::fflush(nullptr);
  std::quick_exit(kExitOk);
}

}  // namespace

int agent_verb(CommandLine& line) {
  Options options;
  line.about("Serves the CNI requests of railbed-cni until it gets SIGTERM.");
  line.option("--socket", &options.socket, "where railbed-cni asks").show_default().file();
  line.option("--metrics", &options.metrics, "ADDRESS:PORT of the Prometheus endpoint, or off").show_default();
  line.option("--state-dir,--state", &options.state.directory, "where the state is").show_default().directory();
  line.option("--pending", &options.pending, "where railbed-cni keeps DELs while no agent runs")
      .show_default()
      .directory();
  line.option("--manifests", &options.manifests, "a directory of manifests: networks, policies, pods")
      .show_default()
      .directory();
  line.option("--adopt", &options.adopt, "a directory with whereabouts' IPPool objects: their addresses are taken")
      .directory();
  line.option("--alone", &options.alone, "no other node gives addresses of the whereabouts ranges of this one");
  line.option("--node", &options.settings.node, "this machine's node name (its host name)");
  line.option("--soft-rdma", &options.settings.soft_rdma, "soft-RoCE devices on RDMA-marked VFs without RDMA");
  line.option("--workers", &options.server.workers, "how many requests are worked on at once")
      .show_default()
      .between(1, 256);
  if (auto status = line.parse()) return *status;
  return status_of(run(options));
}

}  // namespace railbed
