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
#include "agent.h"

#include <algorithm>
#include <bit>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <unistd.h>

#include "agent/addresses/adopt.h"
#include "agent/addresses/dhcp.h"
#include "agent/addresses/host_local.h"
#include "agent/context/metrics.h"
#include "agent/door/events.h"
#include "agent/door/kept_pages.h"
#include "agent/door/last_moment.h"
#include "agent/door/node_config.h"
#include "agent/door/node_counts.h"
#include "agent/door/readiness.h"
#include "agent/door/request_log.h"
#include "agent/door/server.h"
#include "agent/door/service.h"
#include "agent/engine.h"
#include "agent/leftovers/begun_records.h"
#include "agent/leftovers/ended_pods.h"
#include "agent/leftovers/in_use.h"
#include "agent/leftovers/replay.h"
#include "agent/leftovers/restore_records.h"
#include "agent/pod/kubelet_devices.h"
#include "agent/pod/manifest_source.h"
#include "agent/pod/meta.h"
#include "agent/records/records.h"
#include "agent_log.h"
#include "attach/attach.h"
#include "base/log.h"
#include "command/agent_client.h"
#include "command/agent_options.h"
#include "command/privileges.h"
#include "command/programs.h"
#include "command/stop_signal.h"
#include "doc/json.h"
#include "doc/members.h"
#include "doc/text.h"
#include "ipam/stored_blocks.h"
#include "kube/config.h"
#include "memory.h"
#include "os/ports/disk.h"
#include "os/ports/packets.h"
#include "os/real/host_mounts.h"
#include "os/real/peer.h"
#include "os/real/run_program.h"
#include "os/real/service_manager.h"

namespace railbed {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kRepeat{5};
constexpr seconds kAliveWithin{1};
constexpr seconds kTurnAtStart{30};
constexpr seconds kRecovery{5};  // requests wait meanwhile; a device that is held longer is left to its DEL
constexpr milliseconds kStandbyStep{20};
// From SIGTERM to the end, whatever is waited for; requests are given up before (ServerOptions::time_to_end).
constexpr milliseconds kLastMoment{1'800};
constexpr uint64_t kOpenFiles = 65536;

void notify_service_manager(std::string_view state) {
  const char* socket = std::getenv("NOTIFY_SOCKET");
  if (socket != nullptr) (void)os::notify_manager(socket, state);
}

agent::OtherNodes other_nodes(const AgentOptions& options) {
  if (options.alone) return agent::OtherNodes::kNone;
  return options.cluster.given() ? agent::OtherNodes::kOfCluster : agent::OtherNodes::kAsFound;
}

std::string node_name(const AgentOptions& options, os::Kernel& kernel) {
  return options.settings.node.empty() ? kernel.host_name() : options.settings.node;
}

// Beside the records: it outlives the boot, too.
std::string seen_pods_file(const AgentOptions& options) {
  return (std::filesystem::path(options.records).parent_path() / "manifest-pods.json").string();
}

// Everything that handles requests; members are constructed in this order.
struct AgentServices {
  os::Kernel& kernel;
  state::Store& store;
  os::Disk& disk;
  agent::Events& events;
  std::unique_ptr<os::PacketPort> packets = os::real_packets();
  ipam::StoredBlocks whole{store, ipam::WithoutBlocks::kWholeRange};
  agent::DurableRecords records;
  agent::Engine engine;
  agent::HostLocal host_local{disk};
  agent::Dhcp dhcp{engine, *packets};
  agent::ManifestSource manifests;
  agent::KubeletDevices kubelet{kernel.files()};
  agent::Metrics metrics;
  std::unique_ptr<NodeCluster> cluster;  // null: a machine of its own
  agent::InUse in_use{engine, disk, pods()};
  agent::Meta meta{disk, pods(), devices()};
  agent::Readiness readiness;
  agent::NodeConfig config;
  agent::Backends backends{{engine, metrics}, dhcp, host_local, meta.statuses(), supply()};
  agent::Service service{backends, meta, &readiness};
  agent::EndedPods ended{backends, meta, disk};

  AgentServices(const NodeCluster::Dependencies& deps, const AgentOptions& options, std::unique_ptr<NodeCluster> joined)
      : kernel(deps.kernel),
        store(deps.store),
        disk(deps.disk),
        events(deps.events),
        records(disk, options.records, kernel.boot_id()),
        engine(kernel, store, blocks_of(joined.get()), records, other_nodes(options), options.plugins,
               options.plugin_policy()),
        manifests(kernel, store, options.manifests, options.settings),
        cluster(std::move(joined)),
        readiness(engine, disk, options.state.directory),
        config(disk, options.cni_config) {
    readiness.also([this] { return config.not_ready(); });
    if (cluster == nullptr) {
      manifests.remember_in(disk, seen_pods_file(options));
      readiness.also([this] { return manifests.not_ready(); });
      return;
    }
    readiness.also([this] { return cluster->not_ready(); });
    metrics.samples([this] { return cluster->samples(); });
  }

  ipam::BlockSource& blocks_of(NodeCluster* of) {
    if (of != nullptr && of->blocks() != nullptr) return *of->blocks();
    return whole;
  }
  agent::AddressSupply* supply() { return cluster != nullptr ? cluster->supply() : nullptr; }
  agent::PodSource& pods() {
    if (cluster != nullptr) return cluster->pods();
    return manifests;
  }
  std::vector<agent::DeviceSource*> devices() {
    if (cluster != nullptr) return {&cluster->devices()};
    return {&kubelet, &manifests};
  }
};

// Takes over addresses that whereabouts gave before this machine was switched over.
Result<void> adopt_pools(AgentServices& services, agent::Engine::Turn& turn, const std::string& directory) {
  auto pools = agent::pools_in_directory(services.kernel.files(), directory);
  const agent::Adopted adopted = TRY(services.meta.adopt_from(turn, std::move(pools)).context("--adopt {}", directory));
  log::info(fmt::format("{} allocations of whereabouts picked up from {}, {} ended ones released", adopted.taken,
                        directory, adopted.freed));
  for (const std::string& conflict : adopted.conflicts) log::warn("not picked up: " + conflict);
  return {};
}

// What executed plugins did before a reboot, or before the state was lost.
Result<void> restore_programs(agent::Engine::Turn& turn, agent::DurableRecords& records) {
  if (const Result<void> gone = records.remove_unfinished(); !gone.has_value()) log::warn(gone.error().story());
  const agent::RestoredRecords restored =
      TRY(agent::restore_records(turn.store(), records).context("reading what executed plugins must undo"));
  if (restored.of_earlier_boots > 0)
    log::info(
        fmt::format("{} executed plugins from before the reboot are waiting for their DEL", restored.of_earlier_boots));
  if (restored.of_this_boot > 0)
    log::info(fmt::format("{} executed plugins were missing from the state", restored.of_this_boot));
  for (const std::string& line : restored.warnings) log::warn(line);
  return {};
}

// For `railbed status` and for the log, there at the first, second, fourth, eighth time: a flood of requests must not
// become one of lines.
void trouble(AgentServices& services, std::string_view kind, const std::string& about, const std::string& story) {
  const uint64_t count = services.events.happened(kind, about, story);
  if (std::has_single_bit(count))
    log::warn(fmt::format("{}: {}{}", doc::printable(about), doc::printable(story),
                          count > 1 ? fmt::format(" ({} times)", count) : ""));
}

// Finishes or undoes what a killed agent left, before the first request. Interfaces come first, then their addresses;
// allocations of whereabouts come last, so that in a conflict railbed's own address wins.
Result<void> recover(AgentServices& services, const AgentOptions& options) {
  {
    agent::Engine::Turn turn = TRY(services.engine.turn(kTurnAtStart).context("waiting for the state"));
    if (const int begun = TRY(agent::forget_begun(turn)); begun > 0)
      log::warn(fmt::format("the state lost its end: {} attachments that look incomplete are left unchanged", begun));
    const auto report = TRY(attach::recover(turn.kernel(), turn.store(), services.kernel.clock().now() + kRecovery,
                                            attach::LookForNamespaces::kNo)
                                .context("finishing requests of an earlier agent"));
    for (const std::string& line : report.undone) log::info("rolled back, started by an earlier agent: " + line);
    for (const std::string& line : report.finished) log::info("finished: " + line);
    for (const std::string& line : report.notes) log::info(line);
    for (const auto& failure : report.failures)
      trouble(services, "recovery", failure.pod + " " + failure.interface, failure.error.story());
    if (!report.unreachable.empty())
      log::warn(
          fmt::format("{} interfaces have a network namespace that is no longer at its path but still exists; they "
                      "stay attached until their DEL or the end of the namespace",
                      report.unreachable.size()));
    TRY(restore_programs(turn, services.records));
    if (const int pods = TRY(agent::forget_empty_pods(turn.store())); pods > 0)
      log::info(fmt::format("records of {} pods without interfaces removed", pods));
    TRY(turn.read_addresses());
    const auto disk_problems = TRY(services.host_local.recover(turn).context("reading host-local's files"));
    for (const std::string& problem : disk_problems) trouble(services, "disk", agent::kHostLocalDirectory, problem);
    if (!options.adopt.empty()) TRY(adopt_pools(services, turn, options.adopt));
  }
  if (!TRY(services.in_use.start()))
    log::info("the state is new or lost its end: searching all network namespaces for addresses in use");
  return services.dhcp.start();
}

// After a lost state: looks into all namespaces, in a thread of its own, because one that does not answer must delay
// only the requests that need an address of a pool. They are refused meanwhile.
class Looker {
 public:
  explicit Looker(AgentServices& services) {
    if (!services.in_use.is_known()) thread_ = std::jthread([&services](std::stop_token stop) { run(services, stop); });
  }

 private:
  static void run(AgentServices& services, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    do look(services);
    while (!services.in_use.is_known() &&
           !stopped.wait_for(lock, stop, kRepeat, [&] { return stop.stop_requested(); }));
  }
  static void look(AgentServices& services) {
    const auto begun = std::chrono::steady_clock::now();
    const auto found = services.in_use.look();
    const auto took = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begun);
    if (!found.has_value())
      return trouble(services, "addresses", "in use",
                     "no addresses are allocated until all network namespaces can be read: " + found.error().story());
    services.events.over("addresses", "in use");
    log::info(fmt::format("all network namespaces read in {} ms: {} addresses without a railbed record are reserved",
                          took.count(), *found));
  }
  std::jthread thread_;
};

// Repeats journaled DELs and whatever else could not be done yet every few seconds, in its own thread.
class Repeater {
 public:
  // `pages` may be null.
  Repeater(agent::Replay& replay, AgentServices& services, agent::KeptPages* pages, const std::string& config_folder)
      : replay_(replay),
        services_(services),
        pages_(pages),
        keeps_config_(!config_folder.empty()),
        thread_([this](std::stop_token stop) { run(stop); }) {}

 private:
  void run(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    // Plugins run by this recovery may ask this agent for addresses, so it must already answer requests.
    if (auto lines = services_.meta.recover(services_.engine))
      for (const std::string& line : *lines) log::info(line);
    else
      trouble(services_, "recovery", "executed plugins", lines.error().story());
    do {
      if (keeps_config_)
        if (auto kept = services_.config.keep(); !kept.has_value()) log_once("config", kept.error().story());
      if (auto fresh = services_.in_use.refresh(); !fresh.has_value()) log_once("in use", fresh.error().story());
      for (const std::string& path : services_.in_use.take_odd())
        trouble(services_, "odd", path,
                "more addresses than the limit per namespace; the rest can be allocated to other pods");
      for (const auto& [owner, which] : services_.dhcp.take_dropped())
        trouble(services_, "dhcp-routes", owner.pod + " " + owner.interface, which);
      settle_ended();
      if (services_.store.take_written_again())
        trouble(services_, "removed", "state",
                "the state's files were removed while the agent was running; writing them again");
      if (services_.cluster == nullptr) look_at_manifests();
      if (pages_ != nullptr)
        if (auto kept = pages_->keep(); kept.has_value() && *kept == agent::KeptPages::Kept::kNow)
          log::info("the port of the metrics and health pages is free now; serving them");
      const auto tally = replay_.all(stop);
      if (tally.done > 0) log::info(fmt::format("{} DELs that were queued while no agent ran are done", tally.done));
    } while (!stopped.wait_for(lock, stop, kRepeat, [&] { return stop.stop_requested(); }));
  }
  void settle_ended() {
    auto settled = services_.ended.settle();
    if (!settled.has_value()) return log_once("ended", settled.error().story());
    for (const agent::EndedPod& pod : *settled) {
      if (!pod.failure.empty())
        trouble(services_, "ended", pod.key,
                "network namespace ended; releasing its devices and addresses failed: " + pod.failure);
      else if (pod.del_came)
        log::info(fmt::format("{}: orphaned devices and addresses are no longer in use; released", pod.key));
      else
        trouble(services_, "no-del", pod.key, "network namespace ended without a DEL; devices and addresses released");
    }
  }
  // What got worse stays among the events until it is whole again.
  void look_at_manifests() {
    auto worse = services_.manifests.look();
    if (!worse.has_value()) return log_once("manifests", worse.error().story());
    for (const auto& [about, why] : *worse) trouble(services_, "manifests", about, why);
    for (const auto& [about, why] : worse_)
      if (!worse->contains(about)) services_.events.over("manifests", about);
    worse_ = *std::move(worse);
  }
  // Once, not every few seconds.
  void log_once(const std::string& of, const std::string& problem) {
    if (std::string& logged = logged_[of]; problem != std::exchange(logged, problem)) log::warn(problem);
  }

  agent::Replay& replay_;
  AgentServices& services_;
  agent::KeptPages* pages_;
  bool keeps_config_;
  std::map<std::string, std::string> logged_;
  std::map<std::string, std::string> worse_;
  std::jthread thread_;  // last member, because the thread uses the others
};

// Counts and logs the request, and adds its failure to the events.
agent::Reply answer_and_log(AgentServices& services, const cni::Request& request,
                            const std::function<agent::Reply(const cni::Request&, agent::RequestStory&)>& handle) {
  agent::RequestStory story;
  agent::Reply reply =
      services.metrics.metered(request, story, [&](const cni::Request& one) { return handle(one, story); });
  log_request(agent::request_line(request, reply, story));
  if (!reply.result.has_value() && request.command != cni::Command::kStatus) {
    services.events.failed(request, reply.result.error());
    if (services.cluster != nullptr) services.cluster->failed(request, reply.result.error());
  }
  if (request.command == cni::Command::kAdd && services.cluster != nullptr) services.cluster->pod_came();
  if (request.command == cni::Command::kDel && services.cluster != nullptr) services.cluster->pod_gone();
  return reply;
}

agent::Reply handle(AgentServices& services, agent::Replay& replay, const cni::Request& request) {
  return answer_and_log(services, request, [&](const cni::Request& one, agent::RequestStory& story) -> agent::Reply {
    if (one.command == cni::Command::kAdd && !replay.settle(one.container_id))
      return {.result = cni::fail_with(cni::kTryAgainLater, "an earlier DEL of this container is not finished yet",
                                       "the reason is in the agent's log; the agent retries every few seconds")};
    return services.service.handle(one, story);
  });
}

// A DEL from the disk fails again and again: Replay logs each reason once, and how often it was.
agent::Reply repeat(AgentServices& services, const cni::Request& request) {
  agent::RequestStory story;
  agent::Reply reply = services.metrics.metered(
      request, story, [&](const cni::Request& one) { return services.service.handle(one, story); });
  if (reply.result.has_value()) log_request(agent::request_line(request, reply, story));
  return reply;
}

std::vector<std::string> not_ready_because(AgentServices& services) {
  std::vector<std::string> reasons = services.readiness.reasons();
  std::ranges::move(services.meta.statuses().failures(services.kernel.clock()), std::back_inserter(reasons));
  return reasons;
}

agent::HttpReply health_page(const std::vector<std::string>& reasons) {
  if (reasons.empty()) return {.body = "ok\n"};
  std::string body;
  for (const std::string& reason : reasons) body += doc::printable(reason) + "\n";
  return {.status = 503, .body = std::move(body)};
}

// What `railbed status` asks. Nothing here waits: the thread that serves the socket answers.
std::string report(AgentServices& services) {
  doc::Value value = doc::Value::object();
  value.set("version", RAILBED_VERSION);
  value.set("pid", static_cast<int64_t>(getpid()));
  doc::Value& reasons = value.set("notReady", doc::Value::array());
  for (const std::string& reason : not_ready_because(services)) reasons.push(reason);
  // What is not as everywhere else: nothing where all plugins are fenced.
  if (const auto& unfenced = services.engine.running_plugins().policy().unfenced; !unfenced.empty())
    value.set("unfenced", doc::texts(std::vector<std::string>(unfenced.begin(), unfenced.end())));
  if (services.cluster != nullptr) services.cluster->report(value);
  doc::Value& events = value.set("events", doc::Value::array());
  for (const agent::Event& event : services.events.all()) events.push(agent::to_value(event));
  return doc::to_json(value);
}

// A wrong address is the caller's mistake. A port in use is only a warning: any user of this machine could take it,
// and the node's pods are more important. The Repeater tries again.
Result<std::unique_ptr<agent::KeptPages>> serve_pages(AgentServices& services, agent::Replay& replay,
                                                      const AgentOptions& options) {
  if (options.metrics == "off") return nullptr;
  services.metrics.node_counts([&] {
    agent::NodeCounts now = agent::count_node(services.engine);
    now.pending_dels = replay.pending();
    return now;
  });
  agent::HttpPages pages;
  // Alive is an agent that answers on its socket; what else is wrong a restart would not fix.
  pages["/healthz"] = [&] {
    const auto answer = ask_for_report(options.socket, services.kernel.clock(), kAliveWithin);
    return health_page(answer.has_value() ? std::vector<std::string>() : std::vector{answer.error().story()});
  };
  pages["/readyz"] = [&] { return health_page(not_ready_because(services)); };
  auto kept = std::make_unique<agent::KeptPages>(services.metrics, services.events, options.metrics, std::move(pages));
  if (auto served = kept->keep(); !served.has_value()) {
    if (served.error().code == Code::kInvalid) return fail(std::move(served).error());
    log::warn(fmt::format("{}; the agent runs without metrics and health pages and retries every {} s",
                          served.error().story(), kRepeat.count()));
  }
  return kept;
}

// Before anything is opened and before there are threads. The pod's credentials stay where the kubelet renews them.
Result<void> enter_host(AgentOptions& options) {
  if (!options.in_host) return {};
  if (options.cluster.in_cluster) options.cluster.service_account = TRY(os::keep_folder(kube::PodEnvironment{}.folder));
  TRY(os::continue_in_child());
  return os::enter_host_mounts();
}

// The next agent of an upgrade is started while the one before still answers, and takes its place within kStandbyStep.
Result<os::UnixListener> listen(const AgentOptions& options, const std::stop_token& stop) {
  for (bool is_reported = false;; is_reported = true) {
    Result<os::UnixListener> listener = os::UnixListener::open(options.socket);
    const bool busy = !listener.has_value() && listener.error().code == Code::kBusy;
    if (!busy || !options.standby || stop.stop_requested()) return listener;
    if (!is_reported) log::info(fmt::format("on standby: {}", listener.error().message));
    std::this_thread::sleep_for(kStandbyStep);
  }
}

Result<void> check_program(const AgentOptions& options, JoinCluster join) {
  TRY(options.cluster.check());
  if (!options.cluster.given() || join != nullptr) return {};
  return fail(Error{.code = Code::kUnsupported,
                    .message = fmt::format("{} does not support clusters; {} does", kAloneProgram, kClusterProgram),
                    .hint = "run `railbed agent`, which starts the right program"});
}

[[noreturn]] void cut_off() {
  log::warn("stopped; requests in progress are interrupted, the next agent completes them or rolls them back");
  std::fflush(nullptr);
  std::quick_exit(kExitOk);
}

std::string_view kind_of(agent::Trouble what) {
  switch (what) {
    case agent::Trouble::kSocket:
      return "removed";
    case agent::Trouble::kThreads:
    case agent::Trouble::kAccept:
      return "starved";
    default:
      return "limit";
  }
}

// Null where the request has no namespace. A name that was unmounted is a plain file: nothing is held then, and the
// handlers say what that means for a verb.
Result<std::shared_ptr<void>> hold_namespace(os::Kernel& kernel, const cni::Request& request, os::Descriptor passed) {
  if (!passed || request.netns.empty()) return std::shared_ptr<void>();
  Result<std::unique_ptr<os::Netns>> netns = kernel.netns().take(passed.release(), request.netns);
  if (!netns.has_value()) return std::shared_ptr<void>();
  return TRY(kernel.netns().hold(*std::move(netns)));
}

Result<int> run(AgentOptions& options, JoinCluster join) {
  TRY(options.settle());
  TRY(check_program(options, join));
  os::TrustedPlaces places =
      TRY(os::trusted_places().context("reading the trusted namespaces"));  // `kubectl exec` enters these
  TRY(enter_host(options).context("--in-host"));
  os::add_places(places, TRY(os::trusted_places().context("reading the trusted namespaces")));
  log_without_waiting(options.least_logged());
  limit_memory();
  StopSignal stop;
  const agent::LastMoment last(stop.token(), kLastMoment, cut_off);
  const std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  os::allow_open_files(kOpenFiles);  // behind the kernel, which remembers what executed programs get
  if (const auto missing = missing_capabilities(*kernel); !missing.empty())
    return fail(Error{.code = Code::kDenied,
                      .message = fmt::format("the agent needs {}", fmt::join(missing, ", ")),
                      .hint = "run it as root, in the host's namespaces"});
  os::UnixListener listener = TRY(listen(options, stop.token()));
  const std::unique_ptr<state::Store> store = TRY(options.state.share(*kernel, "railbed agent"));
  const std::unique_ptr<os::Disk> disk = os::real_disk();
  agent::Events events;
  const NodeCluster::Dependencies deps{*kernel, *disk, *store, events, node_name(options, *kernel)};
  AgentServices services(deps, options, options.cluster.given() ? TRY(join(options, deps)) : nullptr);
  if (services.cluster != nullptr) services.cluster->restore();
  TRY(recover(services, options));
  if (services.cluster != nullptr) TRY(services.cluster->start(services.engine));

  agent::Replay replay(
      *disk, options.pending, [&](const cni::Request& request) { return repeat(services, request); },
      [](const std::string& line) { log::warn(line); }, services.events);
  const std::unique_ptr<agent::KeptPages> pages = TRY(serve_pages(services, replay, options));
  (void)services.readiness.reasons();  // read now, so that no request waits for the first reading
  options.server.trouble = [&](agent::Trouble what, const std::string& story) {
    trouble(services, kind_of(what), std::string(agent::trouble_name(what)), story);
  };
  options.server.hold = [&](const cni::Request& request, os::Descriptor passed) {
    return hold_namespace(*kernel, request, std::move(passed));
  };
  options.server.admit = [&](const os::Connection& peer) { return os::check_peer(peer, options.server.uid, places); };
  options.server.workers = 2 * options.plugins;  // more than those that run a plugin or wait to
  options.server.report = [&] { return report(services); };
  {
    agent::Server server(
        std::move(listener), [&](const cni::Request& request) { return handle(services, replay, request); },
        options.server);
    const Looker looker(services);
    const Repeater repeater(replay, services, pages.get(), options.cni_config);
    const std::stop_callback hurry(stop.token(), [&] {
      notify_service_manager("STOPPING=1");
      kernel->processes().end_all();
      services.engine.stop();
      if (services.cluster != nullptr) services.cluster->hurry();
    });
    log::info(fmt::format("railbed {} answers on {}", RAILBED_VERSION, options.socket));
    notify_service_manager("READY=1");
    if (TRY(server.run(stop.token())) == agent::Server::End::kCutOff) cut_off();
  }
  services.dhcp.stop();
  if (services.cluster != nullptr) services.cluster->stop();
  log::info("stopped");
  // Everything is written, and railbed-cni waits for the next agent: a thread that still looks something up in the
  // background (a program's STATUS) is not waited for.
  std::fflush(nullptr);
  std::quick_exit(kExitOk);
}

}  // namespace

int serve_agent(CommandLine& line, JoinCluster join) {
  AgentOptions options;
  options.declare(line);
  if (auto status = line.parse()) return *status;
  return status_of(run(options, join));
}

}  // namespace railbed
